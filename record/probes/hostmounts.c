/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probes/hostmounts.h"

#include "common/files/fullio.h"
#include "common/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

/* maximum size in bytes of the text of mountinfo; in a larger one, no mount is found */
#define MOUNTINFO_MAX ((size_t)8 << 20)

bool hostmounts_find(struct str mountinfo, const struct str *id, struct hostmount *mount)
{
	while (mountinfo.n) {
		struct str line = str_cut(&mountinfo, '\n'), own = str_cut(&line, ' '), device, type;

		str_cut(&line, ' '); /* the id of its parent */
		device = str_cut(&line, ' ');
		/* a field "-" precedes the type; a path cannot contain such a field, because the kernel writes its
		 * spaces as \040 */
		while (line.n && !str_eq(str_cut(&line, ' '), STR("-")))
			continue;
		type = str_cut(&line, ' ');
		if (!type.n || !(id ? str_eq(own, *id) : str_eq(device, mount->device)))
			continue;
		*mount = (struct hostmount){ device, type };
		return true;
	}
	return false;
}

bool hostmounts_is_local_type(struct str type)
{
	static const struct str types[] = {
		STR("ext2"),  STR("ext3"),     STR("ext4"),      STR("xfs"),      STR("btrfs"),
		STR("tmpfs"), STR("devtmpfs"), STR("ramfs"),     STR("squashfs"), STR("erofs"),
		STR("f2fs"),  STR("zfs"),      STR("bcachefs"),  STR("vfat"),     STR("iso9660"),
		STR("exfat"), STR("proc"),     STR("hugetlbfs"), STR("sysfs"),
	};

	for (size_t i = 0; i < countof(types); i++)
		if (str_eq(type, types[i]))
			return true;
	return false;
}

/* Reads the id of the mount of a descriptor into text. Returns false on failure. */
static bool mount_of(int fd, struct text *text)
{
	struct text info = { 0 };
	struct str rest, line;
	char path[48];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (!fullio_read_at(AT_FDCWD, path, &info, 4096))
		info.n = 0;
	rest = text_view(&info);
	while (!text->n && rest.n) {
		line = str_cut(&rest, '\n');
		if (str_eq(str_cut(&line, ':'), STR("mnt_id")))
			text_str(text, str_trim_left(line));
	}
	text_free(&info);
	return text->n;
}

/* Device and type of a mount. */
struct mount_text {
	struct text device, type;
};

/* Finds a mount of a process ("self" or a PID) by its id, or, if id is NULL, by mount->device. Sets mount->device if id
 * is given, and mount->type if it is empty. Returns false if there is no such mount. */
static bool find_in(const char *process, const struct str *id, struct mount_text *mount)
{
	struct hostmount found = { text_view(&mount->device), { 0 } };
	struct text mountinfo = { 0 };
	char path[48];
	bool any;

	snprintf(path, sizeof(path), "/proc/%s/mountinfo", process);
	any = fullio_read_at(AT_FDCWD, path, &mountinfo, MOUNTINFO_MAX) &&
	      hostmounts_find(text_view(&mountinfo), id, &found);
	if (any && id)
		text_str(&mount->device, found.device);
	if (any && !mount->type.n)
		text_str(&mount->type, found.type);
	text_free(&mountinfo);
	return any;
}

static bool find_device(struct mount_text *mount)
{
	return find_in("self", NULL, mount) || find_in("1", NULL, mount);
}

/* Sets mount->device to the device number in the status of the file of a descriptor. The kernel chooses this number,
 * also for FUSE. It equals the number of the mount, except on btrfs and on overlays of several file systems: the
 * numbers of their files are in no mountinfo. Returns false on failure. */
static bool hostmounts_device(int fd, struct mount_text *mount)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) < 0)
		return false;
	text_printf(&mount->device, "%" PRIu32 ":%" PRIu32, status.stx_dev_major, status.stx_dev_minor);
	return true;
}

/* Returns true if a mount is local. id: id of the mount, which has the file fd. pid: a process that may have the mount
 * in its namespace. If chroot() changed its root directory, its mountinfo lacks mounts above that directory; these are
 * found by the device of the file. mount: empty, gets device and type. */
static bool is_local_mount(int fd, struct str id, uint32_t pid, struct mount_text *mount)
{
	char process[16];
	bool host = find_in("self", &id, mount) || find_in("1", &id, mount);

	snprintf(process, sizeof(process), "%" PRIu32, pid);
	if (!host && !find_in(process, &id, mount))
		host = hostmounts_device(fd, mount) && find_device(mount);
	if (str_eq(text_view(&mount->type), STR("overlay")))
		return host || find_device(mount);
	return hostmounts_is_local_type(text_view(&mount->type));
}

bool hostmounts_is_local(int fd, uint32_t pid)
{
	struct mount_text mount = { 0 };
	struct text id = { 0 };
	bool local = mount_of(fd, &id) && is_local_mount(fd, text_view(&id), pid, &mount);

	text_free(&id);
	text_free(&mount.device);
	text_free(&mount.type);
	return local;
}
