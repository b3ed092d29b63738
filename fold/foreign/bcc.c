/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foreign/bcc.h"

void bcc_begin(struct bcc *bcc, struct foreignstack *stack)
{
	*bcc = (struct bcc){ .stack = stack };
	foreignstack_clear(stack);
}

/* Sets comm and pid in *key from a line like "-                cp (9036)". Without a pid in the line, comm is the
 * complete text. */
static void bcc_thread(struct str line, struct sample_key *key)
{
	struct str text = str_trim(str_from(line, line.n > 0));
	ptrdiff_t open = str_rfind(text, '(');
	uint64_t pid;

	key->before = line;
	key->comm = text;
	if (open < 0 || text.p[text.n - 1] != ')')
		return;
	if (str_u64(str_head(str_from(text, (size_t)open + 1), text.n - (size_t)open - 2), &pid) && pid <= INT32_MAX) {
		key->pid = (int64_t)pid;
		key->comm = str_trim_right(str_head(text, (size_t)open));
	}
}

static void bcc_add(struct bcc *bcc, uint64_t weight)
{
	struct sample_key key = { .pid = -1, .tid = -1, .cpu = -1 };

	bcc_thread(text_view(&bcc->comm), &key);
	if (bcc->off_cpu) {
		key.event = STR("offcpu-time");
		key.period = weight <= INT64_MAX / 1000 ? weight * 1000 : INT64_MAX;
	} else {
		key.count = weight;
	}
	foreignstack_find_kernel(bcc->stack, 0);
	if (weight)
		foreignstack_add(bcc->stack, &key);
	foreignstack_clear(bcc->stack);
	bcc->named = false;
}

/* Returns the function name in `text`. Some versions of bcc with Python 3 print it as b'name'. */
static struct str bcc_symbol(struct str text)
{
	if (text.n > 3 && text.p[0] == 'b' && text.p[1] == '\'' && text.p[text.n - 1] == '\'')
		return str_head(str_from(text, 2), text.n - 3);
	return text;
}

/* Reads a line that begins in column 0: a heading, which determines the unit of the weights, or a notice such as ^C.
 * Returns false for any other line. */
static bool bcc_heading(struct bcc *bcc, struct str line)
{
	if (str_starts(line, STR("Tracing off-CPU time"))) {
		bcc->off_cpu = str_find_str(line, STR("(us)")) >= 0;
		return true;
	}
	if (str_starts(line, STR("Sampling at "))) {
		bcc->off_cpu = false;
		return true;
	}
	return str_eq(line, STR("^C")) || str_starts(line, STR("# ")) || str_starts(line, STR("Detaching"));
}

bool bcc_line(struct bcc *bcc, struct str line)
{
	struct str text = str_trim(line);
	uint64_t weight;

	if (text.n == 0)
		return true;
	if (line.p[0] != ' ')
		return bcc_heading(bcc, text);
	if (bcc->named) {
		bool counts = str_u64(text, &weight) && weight <= INT64_MAX;

		bcc_add(bcc, counts ? weight : 0);
		return counts;
	}
	if (str_eq(text, STR("--"))) {
		for (size_t i = 0; i < bcc->stack->n; i++)
			bcc->stack->frame[i].code = FOREIGN_KERNEL;
		return true;
	}
	if (text.p[0] == '-' && text.n > 2 && text.p[1] == ' ') {
		bcc->comm.n = 0;
		text_str(&bcc->comm, text);
		bcc->named = true;
		return true;
	}
	foreignstack_frame(bcc->stack, (struct foreignframe){ .symbol = bcc_symbol(text) });
	return true;
}

void bcc_free(struct bcc *bcc)
{
	text_free(&bcc->comm);
}
