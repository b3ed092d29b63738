/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/capabilities.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITIES 64 /* number of bits in the masks: the kernel's interface has two words of 32 bits */

bool capabilities_get(struct capabilities *capabilities)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { 0 };

	*capabilities = (struct capabilities){ 0 };
	if (syscall(SYS_capget, &h, d) < 0)
		return false;
	capabilities->effective = d[0].effective | (uint64_t)d[1].effective << 32;
	capabilities->permitted = d[0].permitted | (uint64_t)d[1].permitted << 32;
	capabilities->inheritable = d[0].inheritable | (uint64_t)d[1].inheritable << 32;
	return true;
}

bool capabilities_set(const struct capabilities *capabilities)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	for (int i = 0; i < 2; i++)
		d[i] = (struct __user_cap_data_struct){ .effective = (uint32_t)(capabilities->effective >> 32 * i),
							.permitted = (uint32_t)(capabilities->permitted >> 32 * i),
							.inheritable =
								(uint32_t)(capabilities->inheritable >> 32 * i) };
	return syscall(SYS_capset, &h, d) == 0;
}

void capabilities_bound(uint64_t keep)
{
	for (unsigned cap = 0; cap < CAPABILITIES; cap++) {
		/* fails if the kernel has no capabilities from this number on */
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			break;
	}
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
}

bool capabilities_limit(uint64_t keep)
{
	struct capabilities capabilities;

	if (!capabilities_get(&capabilities))
		return false;
	keep &= capabilities.permitted;
	if (capabilities.effective & CAPABILITY_BIT(CAP_SETPCAP))
		capabilities_bound(keep);
	/* fails before Linux 4.3, which has no ambient capabilities */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (!capabilities_set(&(struct capabilities){ .effective = keep, .permitted = keep }) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return false;
	return capabilities_get(&capabilities) && capabilities.effective == keep && capabilities.permitted == keep &&
	       capabilities.inheritable == 0;
}
