/* ask - one request for a test: ask METHOD http://HOST:PORT /PATH?QUERY [FILE]. The answer is printed; status 0 if it
 * is a 2xx. */
#include "send/http/http.h"

#include "common/diag.h"
#include "common/files/fullio.h"

#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct text why = { 0 }, body = { 0 };
	struct http_request q = { .type = "application/octet-stream" };
	struct http_reply r;
	struct http *h;

	diag_tool("ask");
	if (argc < 4)
		die_usage("ask METHOD URL PATH [FILE]");
	h = http_open(argv[2], &(struct http_options){ .timeout = 10 }, &why);
	if (!h || (argc > 4 && !fullio_read_at(AT_FDCWD, argv[4], &body, (size_t)1 << 30)))
		die("%s: %.*s", argv[2], (int)why.n, why.p ? why.p : "");
	q.method = argv[1];
	q.path = str_of(argv[3]);
	q.body = text_view(&body);
	r = http_send(h, &q, &why);
	if (r.class != HTTP_DONE)
		die("%.*s", (int)why.n, why.p);
	fwrite(r.body.p, 1, r.body.n, stdout);
	http_close(h);
	return PJ_OK;
}
