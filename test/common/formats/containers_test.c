/* Cgroups: numbers become paths, paths become containers and pods; names of pods from a folder that may hold anything.
 */
/* covers: common/formats/containers.c fold/perfdata/cgroupnames.c */
#include "common/formats/containers.h"
#include "fold/perfdata/cgroupnames.h"

#include "test/lib/tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define U "11111111-2222-3333-4444-555555555555"
#define V "11111111_2222_3333_4444_555555555555"

static const struct {
	const char *path, *container, *pod;
} rows[] = {
	{ "", "[unknown]", "[unknown]" },
	{ "/", "[host]", "[host]" },
	{ "/system.slice/nginx.service", "nginx.service", "[host]" },
	{ "/user.slice/user-1000.slice/session-2.scope", "session-2.scope", "[host]" },
	{ "/user.slice/", "user.slice", "[host]" },
	{ "/docker/" A, "0123456789ab", "[host]" },
	{ "/system.slice/docker-" A ".scope", "0123456789ab", "[host]" },
	{ "/docker/" A "/docker/" B "/init.scope", "fedcba987654", "[host]" },
	{ "/system.slice/containerd.service/kubepods-pod" V ".slice:cri-containerd:" A, "0123456789ab", U },
	{ "/kubepods/burstable/pod" U "/" A, "0123456789ab", U },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" V ".slice/cri-containerd-" A ".scope",
	  "0123456789ab", U },
	{ "/kubepods.slice/kubepods-pod" V ".slice/crio-" A ".scope", "0123456789ab", U },
	{ "/kubepods.slice/kubepods-pod" V ".slice/crio-conmon-" A ".scope", "0123456789ab", U },
	{ "/kubepods/pod0123456789abcdef0123456789abcdef/" B, "fedcba987654", "0123456789abcdef0123456789abcdef" },
	{ "/machine.slice/libpod-" A ".scope/container", "0123456789ab", "[host]" },
	{ "/machine.slice/machine-libpod_pod_" B ".slice/libpod-" A ".scope", "0123456789ab", "fedcba987654" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" A ".scope", "0123456789ab@user-1000",
	  "[host]" },
	{ "/user.slice/user-1000.slice/user@1000.service/nginx.service", "nginx.service@user-1000", "[host]" },
	{ "/user.slice/user-1000.slice/user@1001.service/nginx.service", "nginx.service", "[host]" },
	{ "/lxc.payload.web/system.slice/ssh.service", "web", "[host]" },
	{ "/lxc/db/user.slice", "db", "[host]" },
	{ "/lxc", "lxc", "[host]" },
	{ "/machine.slice/machine-build.scope/payload", "build", "[host]" },
	/* near misses */
	{ "/x/" A "0", A "0", "[host]" },
	{ "/x/0123456789abcdef", "0123456789abcdef", "[host]" },
	{ "/kubepods/pod1111111-2222-3333-4444-555555555555/x", "x", "[host]" },
	{ "/kubepods/pod" U "5/x", "x", "[host]" },
	{ "/pod", "pod", "[host]" },
	{ "///", "[host]", "[host]" },
};

static void is_name(const struct containers *containers, enum containers_by by, const char *path, const char *want,
		    const char *what)
{
	struct text t = { 0 };

	containers_name(containers, by, str_of(path), &t);
	is_str(text_view(&t), str_of(want), what);
	text_free(&t);
}

static void link_to(const char *folder, const char *name, const char *target)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (symlink(target, path) != 0)
		exit(1);
}

static void test_names(void)
{
	char folder[] = "/tmp/pj-containers.XXXXXX", command[80];
	struct containers c = { 0 };

	if (!mkdtemp(folder))
		exit(1);
	link_to(folder, "web-7f_shop_nginx-" A ".log", "/var/log/pods/shop_web-7f_" U "/nginx/0.log");
	link_to(folder, "lonely_default_app-" B ".log", "nowhere");
	link_to(folder, "_default_x-" A ".log", "x");
	link_to(folder, "name_-" A ".log", "x");
	link_to(folder, "a_b_c-0123.log", "x");
	link_to(folder, "-" A ".log", "x");
	link_to(folder, A ".log", "x");
	link_to(folder, "a_b_c-" A ".txt", "x");
	containers_read(&c, folder);
	containers_read(&c, "/nonexistent/folder");
	is_name(&c, BY_POD, "/docker/" A, "shop/web-7f", "a pod by a container of it");
	is_name(&c, BY_POD, "/kubepods/pod" V "/eeee", "shop/web-7f",
		"by its UID, as of the container that holds it open");
	is_name(&c, BY_POD, "/kubepods/pod66666666-2222-3333-4444-555555555555/" B, "default/lonely",
		"by its container, where no UID is told");
	is_name(&c, BY_POD, "/kubepods/pod66666666-2222-3333-4444-555555555555/x",
		"66666666-2222-3333-4444-555555555555", "no name");
	is_name(&c, BY_CONTAINER, "/docker/" A, "0123456789ab", "containers keep their id");
	containers_free(&c);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command) != 0)
		exit(1);
}

static void test_groups(void)
{
	struct cgroupnames g = { 0 };

	is_str(cgroupnames_path(&g, 1), STR(""), "a number that no record told");
	cgroupnames_add(&g, 1, STR("/"));
	cgroupnames_add(&g, 1ull << 40 | 1, STR("/a"));
	is_str(cgroupnames_path(&g, 1), STR("/"), "a number");
	is_str(cgroupnames_path(&g, 1ull << 40 | 1), STR("/a"), "one that differs above 32 bits");
	cgroupnames_add(&g, 1, STR("/b"));
	is_str(cgroupnames_path(&g, 1), STR("/b"), "told again: that from then on");
	for (uint64_t i = 100; i < 2000; i++)
		cgroupnames_add(&g, i, STR("/many"));
	is_str(cgroupnames_path(&g, 1999), STR("/many"), "many of them");
	is_str(cgroupnames_path(&g, 0), STR(""), "0");
	cgroupnames_free(&g);
}

int main(void)
{
	struct containers none = { 0 };

	for (size_t i = 0; i < countof(rows); i++) {
		is_name(&none, BY_CONTAINER, rows[i].path, rows[i].container, rows[i].path);
		is_name(&none, BY_POD, rows[i].path, rows[i].pod, rows[i].path);
		is_name(&none, BY_CGROUP, rows[i].path, rows[i].path[0] ? rows[i].path : "[unknown]", rows[i].path);
	}
	test_names();
	test_groups();
	return done();
}
