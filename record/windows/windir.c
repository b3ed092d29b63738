/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/windir.h"

#include "common/files/listing.h"
#include "common/diag.h"
#include "common/files/outpath.h"
#include "common/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_WRITE 022

/* Folders of DIR. symbols and jit belong to record/symsaver/symsaver.h. All are created here, because after privileges
 * are dropped the process cannot create folders in a DIR of another user. */
static const char *const windir_name[] = { "recording", "out", "bad", "symbols", "jit" };

int windir_file(int space, const char *name, int flags)
{
	/* O_NONBLOCK, because open would block if the name is that of a FIFO */
	int fd = openat(space, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

bool windir_epoch(const char *name, uint64_t *epoch)
{
	struct str string = str_of(name);
	char back[32];

	if (!str_ends(string, STR(".data")) || !str_u64(str_head(string, string.n - 5), epoch))
		return false;
	snprintf(back, sizeof(back), "%" PRIu64 ".data", *epoch);
	return str_eq(string, str_of(back)); /* refuses names such as 007.data */
}

bool windir_each(int space, bool (*f)(void *arg, int space, const char *name, uint64_t epoch), void *arg)
{
	DIR *dir = listing_open(space);
	const struct dirent *entry;
	uint64_t epoch;

	if (!dir)
		return false;
	while ((entry = readdir(dir)))
		if (windir_epoch(entry->d_name, &epoch) && !f(arg, space, entry->d_name, epoch))
			break;
	closedir(dir);
	return true;
}

/* Ends the process with a message that DIR (space "") or the folder `space` in it cannot be created. errno: the
 * reason. */
static NORETURN void die_making(const char *dir, const char *space)
{
	int error = errno;
	struct stat status;

	if ((error == EACCES || error == EPERM) && stat(dir, &status) == 0)
		die("cannot create the directory '%s/%s': '%s' belongs to user %lu: become that user, or "
		    "choose another --dir",
		    dir, space, dir, (unsigned long)status.st_uid);
	errno = error;
	if (error == EACCES || error == EPERM)
		die("cannot create the directory '%s': %s: choose another --dir, or: sudo install -d -o %lu %s", dir,
		    strerror(error), (unsigned long)geteuid(), dir);
	die_errno("cannot create the directory '%s%s%s'", dir, *space ? "/" : "", space);
}

static int open_dir(const char *dir)
{
	struct outpath place;
	int fd = outpath_directory(&place, dir, 0);

	if (place.refused[0])
		die("cannot use the directory '%s': %s: choose another --dir", dir, place.refused);
	if (fd < 0)
		die_errno("cannot use the directory '%s'", dir);
	outpath_close(&place);
	return fd;
}

static int open_subfolder(int dir, const char *dir_name, const char *name, uid_t owner)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		die("'%s/%s' is a link or not a directory: refused", dir_name, name);
	if (fd < 0 || fstat(fd, &status) < 0)
		die_errno("cannot use the directory '%s/%s'", dir_name, name);
	if (status.st_mode & SHARED_WRITE)
		die("other users can write to '%s/%s': chmod go-w, or remove it", dir_name, name);
	if (status.st_uid != owner)
		die("'%s/%s' belongs to user %lu, not to %lu: remove it, or chown -R", dir_name, name,
		    (unsigned long)status.st_uid, (unsigned long)owner);
	return fd;
}

/* ---- creation of folders by root for another user --------------------------------------------------------------- */

struct heir {
	uid_t uid;
	gid_t gid;
};

static void act_as(const struct heir *heir)
{
	if (setegid(heir->gid) < 0 || seteuid(heir->uid) < 0)
		die_errno("cannot act as user %lu, group %lu", (unsigned long)heir->uid, (unsigned long)heir->gid);
}

static void act_as_root(gid_t gid)
{
	if (seteuid(0) < 0 || setegid(gid) < 0)
		die_errno("cannot act as root again");
}

static bool is_empty(int dir)
{
	DIR *folder = listing_open(dir);
	unsigned n = 0;

	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return folder && n == 2;
}

/* Creates a folder for the user who will own DIR. First tries it with that user's rights, because root must not change
 * a folder in which another user can replace names. If these rights do not suffice, root creates the folder and changes
 * its owner. at: descriptor of the parent folder, or AT_FDCWD. Returns false with errno on failure. */
static bool make_for(int at, const char *name, const struct heir *heir)
{
	gid_t gid = getegid();
	struct stat status;
	int fd, error;
	bool made;

	if (geteuid() != 0 || heir->uid == 0)
		return mkdirat(at, name, 0750) == 0;
	act_as(heir);
	made = mkdirat(at, name, 0750) == 0;
	error = errno;
	act_as_root(gid);
	errno = error;
	if (made || (errno != EACCES && errno != EPERM))
		return made;
	if (mkdirat(at, name, 0750) < 0)
		return false;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	errno = EPERM;
	made = fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == 0 && is_empty(fd) &&
	       fchown(fd, heir->uid, heir->gid) == 0;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return made;
}

/* Returns the uid of the user who called sudo (SUDO_UID); -1 if the process was not started by sudo. */
static uid_t sudo_user(void)
{
	const char *text = getenv("SUDO_UID");
	uint64_t uid;

	return text && str_u64(str_of(text), &uid) && uid < (uid_t)-1 ? (uid_t)uid : (uid_t)-1;
}

/* Returns the owner of DIR, who gets the windows, kallsyms and command lines of the host. Ends the process if the owner
 * is neither root nor the user who called sudo; any other user must be named by --user. The reason: DIR is the current
 * directory by default, and that may be a directory of any user. */
static struct heir windir_owner_of(const char *dir, const struct stat *status, gid_t gid)
{
	if (status->st_uid != 0 && status->st_uid != sudo_user())
		die("the directory '%s' belongs to user %lu, who could read root's recordings: choose another "
		    "--dir, or --user=%lu",
		    dir, (unsigned long)status->st_uid, (unsigned long)status->st_uid);
	return (struct heir){ status->st_uid, gid == (gid_t)-1 ? status->st_gid : gid };
}

/* Syncs the parent directory of a new DIR, so that DIR survives a power failure. */
static void sync_parent(int dir)
{
	int parent = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (parent >= 0) {
		fsync(parent);
		close(parent);
	}
}

void windir_prepare(const char *dir, uid_t *uid, gid_t *gid)
{
	struct heir heir = { *uid == (uid_t)-1 ? geteuid() : *uid, *gid == (gid_t)-1 ? getegid() : *gid };
	struct stat status;
	bool made;
	int fd;

	made = make_for(AT_FDCWD, dir, &heir);
	if (!made && errno != EEXIST)
		die_making(dir, "");
	fd = open_dir(dir);
	if (made)
		sync_parent(fd);
	if (fstat(fd, &status) < 0)
		die_errno("cannot use the directory '%s'", dir);
	if (*uid == (uid_t)-1 && geteuid() == 0)
		heir = windir_owner_of(dir, &status, *gid);
	for (size_t i = 0; i < countof(windir_name); i++) {
		if (!make_for(fd, windir_name[i], &heir) && errno != EEXIST)
			die_making(dir, windir_name[i]);
		close(open_subfolder(fd, dir, windir_name[i], heir.uid));
	}
	fsync(fd);
	close(fd);
	*uid = heir.uid;
	*gid = heir.gid;
}

/* ---- opening of folders by the user who records ----------------------------------------------------------------- */

static int own_dir(int dir, const char *dir_name, const char *name)
{
	if (mkdirat(dir, name, 0750) == 0)
		/* syncs DIR, so that the new folder survives a power failure before a window in it is reported */
		fsync(dir);
	else if (errno != EEXIST)
		die_making(dir_name, name);
	return open_subfolder(dir, dir_name, name, geteuid());
}

void windir_open(struct windir *windir, const char *dir)
{
	if (mkdir(dir, 0750) < 0 && errno != EEXIST)
		die_making(dir, "");
	windir->dir = open_dir(dir);
	windir->recording = own_dir(windir->dir, dir, "recording");
	windir->out = own_dir(windir->dir, dir, "out");
	windir->bad = own_dir(windir->dir, dir, "bad");
}

void windir_close(struct windir *windir)
{
	close(windir->dir);
	close(windir->recording);
	close(windir->out);
	close(windir->bad);
	*windir = (struct windir){ -1, -1, -1, -1 };
}
