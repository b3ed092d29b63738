/* The vectors of FIPS 180-4 and its borders. */
/* covers: svg/format/sha256.c */
#include "test/lib/tap.h"

#include "svg/format/sha256.h"

#include <stdlib.h>

static void hash_is(struct str string, const char *want, const char *what)
{
	unsigned char digest[32];
	char hex[65];

	sha256(string, digest);
	for (int i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	is_str(str_of(hex), str_of(want), what);
}

int main(void)
{
	static char a[1000000];
	struct text t = { 0 };

	memset(a, 'a', sizeof(a));
	hash_is(STR(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "nothing");
	hash_is(STR("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc");
	hash_is(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "two blocks");
	hash_is((struct str){ a, sizeof(a) }, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
		"a million a");
	hash_is((struct str){ a, 55 }, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318", "55 bytes");
	hash_is((struct str){ a, 56 }, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a", "56 bytes");
	hash_is((struct str){ a, 64 }, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb", "64 bytes");
	sha256_csp(&t, STR("abc"));
	is_str(text_view(&t), STR("sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="), "as a policy has it");
	text_free(&t);
	return done();
}
