/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/callchain.h"

#include "fold/process/branches.h"
#include "common/formats/perfrecord.h"

static bool is_context(uint64_t ip)
{
	return ip >= CONTEXT_MAX;
}

/* Sets *mode to the mode of the addresses after context marker ip. Returns false if ip is an unknown marker; with
 * as_perf, markers of guests are unknown. */
static bool context_mode(uint64_t ip, bool as_perf, enum perfdata_mode *mode)
{
	switch (ip) {
	case CONTEXT_HYPERVISOR: *mode = MODE_HYPERVISOR; return true;
	case CONTEXT_KERNEL: *mode = MODE_KERNEL; return true;
	case CONTEXT_USER:
	case CONTEXT_USER_DEFERRED: *mode = MODE_USER; return true;
	case CONTEXT_GUEST:
	case CONTEXT_GUEST_KERNEL:
	case CONTEXT_GUEST_USER: *mode = MODE_UNKNOWN; return !as_perf;
	default: return false;
	}
}

/* Returns true if the callchain of this sample has an unknown marker, so that perf script drops the callchain;
 * otherwise false. */
static bool has_garbage(const struct perfdata_record *record)
{
	enum perfdata_mode mode;

	for (uint64_t i = 0; i < record->sample.nips; i++)
		if (is_context(record->sample.ips[i]) && !context_mode(record->sample.ips[i], true, &mode))
			return true;
	return false;
}

uint64_t callchain_addresses(const uint64_t *ips, uint64_t n)
{
	uint64_t addresses = 0;

	for (uint64_t i = 0; i < n; i++)
		addresses += !is_context(ips[i]);
	return addresses;
}

void callchain_push_interrupted(struct callchain *callchain, const struct addrspace_thread *thread,
				enum perfdata_mode mode, uint64_t ip, uint64_t time)
{
	bool high = (int64_t)ip < 0;

	if (unlikely(mode == (high ? MODE_USER : MODE_KERNEL)) && !callchain->as_perf &&
	    (str_eq(callchain->info->arch, STR("x86_64")) || str_eq(callchain->info->arch, STR("aarch64"))))
		mode = high ? MODE_KERNEL : MODE_USER;
	callchain_push_ip(callchain, thread, mode, ip, time);
}

/* Pushes the frames of ips[0..n), with its context markers. leaf: true if the first address belongs to the leaf frame:
 * callchain_push_interrupted then determines its mode. false: the context marker before the first address determines
 * the mode. time: of the sample, in ns. */
static void callchain_push_ips(struct callchain *callchain, const struct addrspace_thread *thread, const uint64_t *ips,
			       uint64_t n, bool leaf, uint64_t time)
{
	enum perfdata_mode mode = MODE_USER;
	bool caller = false; /* true: the next address is a return address */

	for (uint64_t i = 0; i < n; i++) {
		uint64_t ip = ips[i];

		if (likely(!is_context(ip)) && unlikely(leaf)) {
			callchain_push_interrupted(callchain, thread, mode, ip, time);
			caller = !callchain->as_perf;
			leaf = false;
		} else if (likely(!is_context(ip))) {
			callchain_push_ip(callchain, thread, mode, ip - (caller && ip), time);
			caller = !callchain->as_perf;
		} else if (context_mode(ip, callchain->as_perf, &mode)) {
			caller = false;
		} else {
			callchain->garbage++;
			return;
		}
	}
}

void callchain_push_part(struct callchain *callchain, const struct addrspace_thread *thread, const uint64_t *ips,
			 uint64_t n, uint64_t time)
{
	callchain_push_ips(callchain, thread, ips, n, false, time);
}

void callchain_push(struct callchain *callchain, const struct addrspace_thread *thread,
		    const struct perfdata_record *record)
{
	if (callchain->as_perf && has_garbage(record))
		callchain->garbage++;
	else if (branches_are_calls(record))
		branches_push(callchain, thread, record);
	else
		callchain_push_ips(callchain, thread, record->sample.ips, record->sample.nips, true, record->time);
}
