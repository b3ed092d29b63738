/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foreign/threaddump.h"

void threaddump_begin(struct threaddump *dump, struct foreignstack *stack)
{
	*dump = (struct threaddump){ .stack = stack };
	foreignstack_clear(stack);
}

/* Returns true if `method`, in the form "CLASS.NAME", is a native method of the JDK that waits; false for all other
 * methods. */
static bool threaddump_is_wait(struct str method)
{
	static const struct str names[] = {
		STR("java.io.FileInputStream.readBytes"),
		STR("java.lang.ProcessHandleImpl.waitForProcessExit0"),
		STR("java.lang.ProcessImpl.waitForProcessExit"),
		STR("java.lang.UNIXProcess.waitForProcessExit"),
		STR("java.lang.VirtualThread.takeVirtualThreadListToUnblock"),
		STR("java.lang.ref.Reference.waitForReferencePendingList"),
		STR("java.net.PlainDatagramSocketImpl.receive0"),
		STR("java.net.PlainSocketImpl.socketAccept"),
		STR("java.net.PlainSocketImpl.socketConnect"),
		STR("java.net.SocketInputStream.socketRead0"),
		STR("sun.nio.ch.EPoll.wait"),
		STR("sun.nio.ch.EPollArrayWrapper.epollWait"),
		STR("sun.nio.ch.FileDispatcherImpl.read0"),
		STR("sun.nio.ch.Net.accept"),
		STR("sun.nio.ch.Net.connect0"),
		STR("sun.nio.ch.Net.poll"),
		STR("sun.nio.ch.ServerSocketChannelImpl.accept0"),
		STR("sun.nio.ch.SocketDispatcher.read0"),
		STR("sun.nio.ch.UnixDomainSockets.accept0"),
		STR("sun.nio.fs.LinuxWatchService.poll"),
	};

	for (size_t i = 0; i < countof(names); i++)
		if (str_eq(method, names[i]))
			return true;
	return false;
}

/* Ends the open thread, and adds it as a sample if it has frames and a state. */
static void threaddump_close(struct threaddump *dump)
{
	bool runs = strcmp(dump->state, "RUNNABLE") == 0;
	struct sample_key key = {
		.comm = str_head(text_view(&dump->thread), dump->name),
		.before = text_view(&dump->thread),
		.event = runs && dump->waits ? STR("native-wait") : str_of(dump->state),
		.pid = -1,
		.tid = dump->tid,
		.cpu = -1,
	};

	/* the frames of a mounted virtual thread are printed after those of its carrier, and are nearer to the leaf */
	if (dump->leaf && dump->leaf < dump->stack->n)
		foreignstack_move_to_leaf(dump->stack, dump->leaf);
	if (dump->open && dump->stack->n && key.event.n)
		foreignstack_add(dump->stack, &key);
	foreignstack_clear(dump->stack);
	dump->open = false;
}

/* Returns the TID in a line, the number after nid= (hexadecimal before JDK 21); -1 if there is none. */
static int64_t threaddump_nid(struct str line)
{
	ptrdiff_t at = str_find_str(line, STR(" nid="));
	struct str word;
	uint64_t id;

	if (at < 0)
		return -1;
	line = str_from(line, (size_t)at + 5);
	word = str_cut(&line, ' ');
	if (str_starts(word, STR("0x")) ? !str_hex(str_from(word, 2), &id) : !str_u64(word, &id))
		return -1;
	return id <= INT32_MAX ? (int64_t)id : -1;
}

/* Begins a thread from a line like: "main" #1 prio=5 ... nid=0x1012 runnable [0x00007f33ecd1d000] */
static void threaddump_open(struct threaddump *dump, struct str line)
{
	ptrdiff_t quote = str_rfind(line, '"');

	threaddump_close(dump);
	if (quote < 1 || str_ends(line, STR("\":")))
		return; /* a line in the list of deadlocked threads begins no thread */
	dump->open = true;
	dump->waits = false;
	dump->leaf = 0;
	dump->state[0] = 0;
	dump->tid = threaddump_nid(line);
	dump->thread.n = 0;
	text_str(&dump->thread, str_head(str_from(line, 1), (size_t)quote - 1));
	dump->name = dump->thread.n;
	text_printf(&dump->thread, "\" %lld", (long long)dump->tid);
}

/* Reads the state of the open thread. rest: text after "java.lang.Thread.State: ", as in "TIMED_WAITING (sleeping)";
 * its first word is the state. */
static void threaddump_state(struct threaddump *dump, struct str rest)
{
	struct str word = str_cut(&rest, ' ');
	size_t n = word.n < sizeof(dump->state) - 1 ? word.n : sizeof(dump->state) - 1;

	memcpy(dump->state, word.p, n);
	dump->state[n] = 0;
}

/* Adds a frame like "java.lang.Object.wait(java.base@17.0.15/Native Method)". */
static void threaddump_frame(struct threaddump *dump, struct str frame)
{
	struct str rest = frame, method = str_cut(&rest, '(');

	if (dump->stack->n == dump->leaf)
		dump->waits = str_ends(rest, STR("Native Method)")) && threaddump_is_wait(method);
	foreignstack_frame(dump->stack, (struct foreignframe){ .symbol = frame, .code = FOREIGN_METHOD });
}

void threaddump_line(struct threaddump *dump, struct str line)
{
	static const struct str state = STR("java.lang.Thread.State: "), carries = STR("Carrying virtual thread #"),
				mounted = STR("Mounted virtual thread #");
	struct str text = str_trim(line);

	if (line.n && line.p[0] == '"')
		threaddump_open(dump, text);
	else if (dump->open && str_starts(text, state))
		threaddump_state(dump, str_from(text, state.n));
	else if (dump->open && str_starts(text, carries))
		threaddump_state(dump, STR("RUNNABLE")); /* a carrier has no line of a state */
	else if (dump->open && str_starts(text, mounted))
		dump->leaf = dump->stack->n;
	else if (dump->open && str_starts(text, STR("at ")))
		threaddump_frame(dump, str_trim_left(str_from(text, 3)));
	else if (text.n == 0)
		threaddump_close(dump);
}

void threaddump_end(struct threaddump *dump)
{
	threaddump_close(dump);
}

void threaddump_free(struct threaddump *dump)
{
	text_free(&dump->thread);
}
