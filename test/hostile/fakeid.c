/*
 * fakeid - makes and runs programs that claim the build-id of another file.
 *
 * usage: fakeid OUT HEX [section] writes a copy of this program to OUT whose build-id is HEX; with "section" only a
 * section note has it, not the segments that the kernel reads. fakeid spin runs innocent_looking_name() for ever, a
 * fifth of the time: many of them must not take the CPUs from the recorder, whose end has a time limit in the test.
 * PJ_SEED varies how much is appended.
 */
#include "common/base.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void innocent_looking_name(void);

__attribute__((noinline)) void innocent_looking_name(void)
{
	for (volatile uint64_t i = 0;; i++)
		if (i % 4000000 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

/* The note with the build-id of this program, by its segments; NULL: none. */
static unsigned char *find_note(unsigned char *image, size_t size, bool hide)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)image;
	Elf64_Phdr *p = (Elf64_Phdr *)(void *)(image + h->e_phoff);
	unsigned char *found = NULL;

	for (unsigned i = 0; i < h->e_phnum; i++) {
		for (size_t at = p[i].p_offset;
		     p[i].p_type == PT_NOTE && at + 36 <= p[i].p_offset + p[i].p_filesz && at + 36 <= size; at += 4)
			if (memcmp(image + at, "\4\0\0\0\x14\0\0\0\3\0\0\0GNU", 16) == 0)
				found = image + at + 16;
		if (hide && p[i].p_type == PT_NOTE)
			p[i].p_type = PT_NULL;
	}
	return found;
}

int main(int argc, char **argv)
{
	unsigned seed = (unsigned)strtoul(getenv("PJ_SEED") ? getenv("PJ_SEED") : "1", NULL, 10);
	static unsigned char image[16 << 20], *id;
	ssize_t n;
	int fd;

	if (argc == 2 && strcmp(argv[1], "spin") == 0)
		innocent_looking_name();
	if (argc < 3 || strlen(argv[2]) != 40)
		return 2;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, image, sizeof(image) / 2) : -1;
	close(fd);
	if (n <= 0 || !(id = find_note(image, (size_t)n, argc > 3)))
		return 3;
	for (unsigned i = 0; i < 20; i++) {
		char hex[3] = { argv[2][2 * i], argv[2][2 * i + 1], 0 };

		id[i] = (unsigned char)strtoul(hex, NULL, 16);
	}
	n += seed % 5000;
	fd = open(argv[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	return fd >= 0 && write(fd, image, (size_t)n) == n && close(fd) == 0 ? 0 : 1;
}
