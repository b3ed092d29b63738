/* Maps that somebody else wrote: how names of each kind come out, and what is left out. */
/* covers: jmap/attach/untrustedmap.c */
#include "jmap/attach/untrustedmap.h"

#include "test/lib/tap.h"

static void check(const char *line, enum untrustedmap_names names, enum method_style style, const char *want,
		  const char *what)
{
	struct codemap c;
	struct text t = { 0 };

	untrustedmap_read(&c, str_of(line), names, style);
	codemap_print(&c, style == METHOD_HOTSPOT, &t);
	is_str(text_view(&t), str_of(want), what);
	text_free(&t);
	codemap_free(&c);
}

int main(void)
{
	struct codemap c;

	check("0x10 0x8 int a.B$C.d(long, java.lang.String[])\n", UNTRUSTEDMAP_PERFMAP, METHOD_JAVA, "10 8 a/B$C.d\n",
	      "a method of Compiler.perfmap");
	check("0x10 0x8 void a.B$$Lambda/0x00007f04bc002aa0.run()\n", UNTRUSTEDMAP_PERFMAP, METHOD_JAVA,
	      "10 8 a/B$$Lambda.run\n", "  of a hidden class");
	check("0x10 0x8 StubRoutines (1)\n", UNTRUSTEDMAP_PERFMAP, METHOD_JAVA, "10 8 StubRoutines (1)\n", "  a stub");
	check("0x10 0x8 I2C/C2I adapters\n", UNTRUSTEDMAP_PERFMAP, METHOD_FLAMEGRAPH, "10 8 I2C/C2I adapters\n",
	      "  another one");
	check("10 8 La/B;::get(Ljava/lang/Object;[I)V\n", UNTRUSTEDMAP_AGENT, METHOD_JAVA, "10 8 a/B.get\n",
	      "a method of the agent");
	check("10 8 La/B;::get(Ljava/lang/Object;[I)V\n", UNTRUSTEDMAP_AGENT, METHOD_FLAMEGRAPH, "10 8 La/B;::get\n",
	      "  as perf-map-agent");
	check("10 8 La/B;::get(Ljava/lang/Object;[I)V\n", UNTRUSTEDMAP_AGENT, METHOD_HOTSPOT,
	      "0x0000000000000010 0x0000000000000008 void a.B.get(java.lang.Object, int[])\n", "  as HotSpot");
	check("10 8 La/B$$Lambda.0x00007f04bc002aa0;::run()V\n", UNTRUSTEDMAP_AGENT, METHOD_JAVA,
	      "10 8 a/B$$Lambda.run\n", "  of a hidden class");
	check("10 8 La/B$$Lambda$7/1234;::run()V\n", UNTRUSTEDMAP_AGENT, METHOD_JAVA, "10 8 a/B$$Lambda$7.run\n",
	      "  of one of JDK 8");
	check("10 8 Interpreter\n", UNTRUSTEDMAP_AGENT, METHOD_JAVA, "10 8 Interpreter\n", "  what is no method");
	check("10 8 any thing;::(\n", UNTRUSTEDMAP_AS_IS, METHOD_JAVA, "10 8 any thing;::(\n", "a name of OpenJ9");
	check("20 8 b\n10 8 a\n10 8 c\n", UNTRUSTEDMAP_AS_IS, METHOD_JAVA, "10 8 c\n20 8 b\n",
	      "in order; of one address the later line");
	check("10 8 old\n14 8 new\n30 8 other\n", UNTRUSTEDMAP_AS_IS, METHOD_JAVA, "14 8 new\n30 8 other\n",
	      "of overlapping lines the later one, if it starts later");
	check("14 8 old\n10 8 new\n", UNTRUSTEDMAP_AS_IS, METHOD_JAVA, "10 8 new\n", "  and if it starts earlier");
	check("10 40 old\n20 8 a\n30 8 b\n", UNTRUSTEDMAP_AS_IS, METHOD_JAVA, "20 8 a\n30 8 b\n",
	      "  and several later ones in a large old one");
	check("10 8 \xc3\xa9\xff\xed\xa0\x80\x1b[2J\xc2\x9b\n", UNTRUSTEDMAP_AS_IS, METHOD_JAVA,
	      "10 8 \xc3\xa9????"
	      "?[2J??\n",
	      "no control bytes, and UTF-8");
	untrustedmap_read(
		&c,
		STR("x\n10 0 a\n10 8\n10 ffffffffffffffff a\nffffffffffffffff 8 a\n17 8 overlaps\n10 8 good\n18 8 not\n"),
		UNTRUSTEDMAP_AS_IS, METHOD_JAVA);
	is_u64(c.n, 2, "what makes sense");
	is_u64(c.left_out, 6, "  and what does not");
	codemap_free(&c);
	return done();
}
