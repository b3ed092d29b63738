/*
 * keepsecret.c - the victim: a set-uid program that holds the contents of a file of root in its memory, at an address
 * that the attacker knows.
 *
 * keepsecret FILE MS [LIBJVM]: for so many ms. LIBJVM: maps that file of the attacker's, too, as a program does that
 * reads what it is given.
 */
#include "test/lib/synth.h"
#include "test/hostile/secret.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* As a Symbol of HotSpot, as synth.h lays it out: the length, and the text behind it. */
static bool hold(const char *path)
{
	char text[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	unsigned char *page;
	uint16_t length;

	if (n <= 0)
		return false;
	close(fd);
	length = (uint16_t)n;
	page = mmap((void *)(uintptr_t)SECRET_AT, SYNTH_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (page != (void *)(uintptr_t)SECRET_AT)
		return false;
	memcpy(page, &length, sizeof(length));
	memcpy(page + 4, text, (size_t)n);
	return true;
}

static bool map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *want = (void *)(uintptr_t)SYNTH_BASE;

	return n > 0 && mmap(want, (size_t)n, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) == want;
}

int main(int argc, char **argv)
{
	if (argc < 3 || geteuid() != 0 || getuid() == 0 || !hold(argv[1]) || (argc > 3 && !map_file(argv[3]))) {
		puts("keepsecret: not as it should be");
		return 1;
	}
	puts("keepsecret: holds it");
	fflush(stdout);
	usleep((unsigned)atoi(argv[2]) % 10000 * 1000);
	return 0;
}
