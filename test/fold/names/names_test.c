/* Every naming rule of docs/INPUTS.md, one row each. */
/* covers: fold/names/names.c fold/names/namescxx.c fold/names/namesdotnet.c fold/names/namesjava.c */
/* covers: fold/names/namesjs.c fold/names/namesrust.c common/javaclass.c */
#include "fold/names/names.h"
#include "test/lib/tap.h"

struct row {
	const char *what, *symbol, *dso, *want;
};

#define MAP "/tmp/perf-12.map"

static const struct row rows[] = {
	/* unresolved */
	{ "no symbol: the module", "[unknown]", "/usr/lib/libfoo.so", "[libfoo.so]" },
	{ "no symbol at all, dso only", "", "/x.so", "[x.so]" },
	{ "nothing known", "[unknown]", "[unknown]", "[unknown]" },
	{ "nothing printed", "", "", "[unknown]" },
	{ "bracketed module is not bracketed twice", "[unknown]", "[kernel.kallsyms]", "[kernel.kallsyms]_[k]" },
	{ "vdso is user code", "[unknown]", "[vdso]", "[vdso]" },
	{ "heap is user code", "[unknown]", "[heap]", "[heap]" },
	{ "deleted file", "[unknown]", "/memfd:x (deleted)", "[memfd:x]" },
	{ "dso offset of -F+dsoff", "[unknown]", "/b+0x1234", "[b]" },
	{ "deleted and offset", "[unknown]", "/b (deleted)+0x12", "[b]" },
	{ "anonymous memory", "[unknown]", "//anon", "[anon]" },
	/* kinds */
	{ "kernel", "do_idle", "[kernel.kallsyms]", "do_idle_[k]" },
	{ "kernel _text map", "do_idle", "[kernel.kallsyms]_text", "do_idle_[k]" },
	{ "guest kernel", "f", "[guest.kernel.kallsyms.12]", "f_[k]" },
	{ "module", "ext4_read", "[ext4]", "ext4_read_[k]" },
	{ "module file", "f", "/lib/modules/6.1/kernel/x.ko", "f_[k]" },
	{ "compressed module file", "f", "/lib/modules/6.1/kernel/x.ko.xz", "f_[k]" },
	{ "vmlinux with version", "f", "/boot/vmlinux-5.4.14", "f_[k]" },
	{ "BPF program", "bpf_prog_1a2b_main", "bpf_prog_1a2b_main", "bpf_prog_1a2b_main_[k]" },
	{ "vsyscall", "f", "[vsyscall]", "f" },
	{ "vdso symbol", "__vdso_gettimeofday", "[vdso]", "__vdso_gettimeofday" },
	{ "JIT cache of Android is user code", "q", "[JIT app cache]", "q" },
	{ "a dso named like .ko inside", "f", "/opt/x.kotlin", "f" },
	{ "jitdump", "f", "/tmp/jitted-1-2.so", "f_[j]" },
	{ "SourcePawn is no Java", "fib.smx::fib", "/tmp/jitted-1-2.so", "fib.smx::fib_[j]" },
	{ "perf map elsewhere", "f", "/proc/1/root/tmp/perf-1.map", "f_[j]" },
	{ "not a perf map", "f", "/tmp/perf-x.map", "f" },
	{ "suffix that is there already", "f_[j]", "/x", "f_[j]" },
	{ "suffix is not doubled", "f_[i]", MAP, "f_[i]" },
	/* C++ */
	{ "parameters", "ns::f(int, char const*)", "/x", "ns::f" },
	{ "const method", "A::f(int) const", "/x", "A::f" },
	{ "ref-qualified method", "A::f(int) const &", "/x", "A::f" },
	{ "clone of a C function", "f.isra.0", "/x", "f.isra.0" },
	{ "clone note", "f(int) [clone .cold]", "/x", "f" },
	{ "clone note without parameters", "f [clone .part.0]", "/x", "f" },
	{ "anonymous namespace first", "(anonymous namespace)::f(int)", "/x", "(anonymous namespace)::f" },
	{ "anonymous namespace inside", "ns::(anonymous namespace)::g(int)", "/x", "ns::(anonymous namespace)::g" },
	{ "call operator", "std::function<void (int)>::operator()(int)", "/x",
	  "std::function<void (int)>::operator()" },
	{ "call operator without parameters", "A::operator()", "/x", "A::operator()" },
	{ "const call operator", "A::operator()() const", "/x", "A::operator()" },
	{ "template argument with parentheses", "foo<(some_enum)0>::bar", "/x", "foo<(some_enum)0>::bar" },
	{ "lambda", "main::{lambda(int)#1}::operator()", "/x", "main::{lambda(int)#1}::operator()" },
	{ "lambda in a function", "f(int)::{lambda(int)#1}::operator()(int) const", "/x",
	  "f::{lambda(int)#1}::operator()" },
	{ "clang's lambda", "f(int)::$_0::operator()(int) const", "/x", "f::$_0::operator()" },
	{ "shift operator", "operator<<(std::ostream&, int)", "/x", "operator<<" },
	{ "template shift operator", "std::ostream& operator<< <char>(std::ostream&, char)", "/x",
	  "operator<< <char>" },
	{ "arrow operator", "X::operator->() const", "/x", "X::operator->" },
	{ "less operator", "operator<(A const&, A const&)", "/x", "operator<" },
	{ "spaceship", "A::operator<=>(A const&) const", "/x", "A::operator<=>" },
	{ "index operator", "A::operator[](unsigned long)", "/x", "A::operator[]" },
	{ "operator new", "operator new(unsigned long)", "/x", "operator new" },
	{ "conversion operator", "A::operator unsigned int() const", "/x", "A::operator unsigned int" },
	{ "return type of a template", "void ns::foo<int>(int, char)", "/x", "ns::foo<int>" },
	{ "return type with blanks", "unsigned long f<int>(int)", "/x", "f<int>" },
	{ "bool operator", "bool operator==<A>(A const&, A const&)", "/x", "operator==<A>" },
	{ "lambda of a const method", "A::f(int) const::{lambda()#1}::operator()() const", "/x",
	  "A::f::{lambda()#1}::operator()" },
	{ "class of a const method", "A::f(int) const::Local::m()", "/x", "A::f::Local::m" },
	{ "lambda of a && method", "A::f() &&::{lambda(int)#1}::operator()(int) const", "/x",
	  "A::f::{lambda(int)#1}::operator()" },
	{ "function that returns a function", "void (*t<double>(double))(int)", "/x",
	  "void (*t<double>(double))(int)" },
	{ "conversion to a function", "A::operator void (*)(int)()", "/x", "A::operator void (*)(int)()" },
	{ "clone note of LLVM", "f(int) (.cold)", "/x", "f" },
	{ "constraint", "f(int) requires A<int>", "/x", "f" },
	{ "Swift", "main.foo(_:) -> ()", "/x", "main.foo" },
	{ "thunks keep their words", "virtual thunk to A::f(int)", "/x", "virtual thunk to A::f" },
	{ "decltype", "decltype(auto) f<int>(int)", "/x", "f<int>" },
	{ "function pointer argument", "f(void (*)(int))", "/x", "f" },
	{ "unbalanced stays", "foo<", "/x", "foo<" },
	{ "unbalanced parenthesis stays", "foo(int", "/x", "foo(int" },
	{ "file behind a blank is no parameter list", "fn (file.py:12)", "/x", "fn (file.py:12)" },
	{ "kernel names are kept", "__x64_sys_read", "[kernel.kallsyms]", "__x64_sys_read_[k]" },
	/* Rust */
	{ "legacy hash", "core::fmt::write::h0123456789abcdef", "/x", "core::fmt::write" },
	{ "legacy escapes", "_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$::drop::h0123456789abcdef",
	  "/x", "<alloc::vec::Vec<T> as core::ops::Drop>::drop" },
	{ "escape in the middle", "core::ptr::drop_in_place$LT$$u5b$u8$u5d$$GT$::h0123456789abcdef", "/x",
	  "core::ptr::drop_in_place<[u8]>" },
	{ "crate hash of v0", "core[846817f741e54dfd]::slice::len", "/x", "core::slice::len" },
	{ "legacy hash with a note", "core::f::h0123456789abcdef.llvm.123", "/x", "core::f" },
	{ "short crate hash of v0", "core[46817f741e54dfd]::slice::len", "/x", "core::slice::len" },
	{ "function type", "<fn(A) -> B as T>::m", "/x", "<fn(A) -> B as T>::m" },
	{ "array: ';' is no separator", "<[T; 4] as X>::f", "/x", "<[T: 4] as X>::f" },
	{ "closure", "a::b::{{closure}}", "/x", "a::b::{{closure}}" },
	{ "a C name that looks like a hash", "f::habc", "/x", "f::habc" },
	/* Go */
	{ "method", "net/http.(*conn).serve", "/x", "net/http.(*conn).serve" },
	{ "function", "runtime.goexit", "/x", "runtime.goexit" },
	{ "mark of the calling convention", "runtime.goexit.abi0", "/x", "runtime.goexit" },
	{ "mark in a shared library", "runtime.goexit.abiinternal", "/x", "runtime.goexit" },
	{ "the mark alone", ".abi0", "/x", ".abi0" },
	{ "closure of a method", "main.(*T).Run.func1", "/x", "main.(*T).Run.func1" },
	{ "generic", "main.Map[go.shape.int]", "/x", "main.Map[go.shape.int]" },
	/* Java */
	{ "perf-map-agent", "Ljava/util/HashMap;::get", MAP, "java/util/HashMap.get_[j]" },
	{ "perf-map-agent, older", "Ljava/util/HashMap;.get", MAP, "java/util/HashMap.get_[j]" },
	{ "libperf-jvmti", "Ljava/util/HashMap;get(Ljava/lang/Object;)Ljava/lang/Object;", MAP,
	  "java/util/HashMap.get_[j]" },
	{ "JDK 17 map", "java.lang.Object java.util.HashMap.put(java.lang.Object, int)", MAP,
	  "java/util/HashMap.put_[j]" },
	{ "JDK array return type", "byte[] java.util.Arrays.copyOf(byte[], int)", MAP, "java/util/Arrays.copyOf_[j]" },
	{ "constructor", "void java.lang.Object.<init>()", MAP, "java/lang/Object.<init>_[j]" },
	{ "class without package", "long Burn.fib(int)", MAP, "Burn.fib_[j]" },
	{ "hidden class, dotted", "void B$$Lambda$13/0x00007f04bc002aa0.run()", MAP, "B$$Lambda$13.run_[j]" },
	{ "hidden class, JDK 21", "void B$$Lambda/0x00007f04bc002aa0.run()", MAP, "B$$Lambda.run_[j]" },
	{ "hidden class, internal", "LB$$Lambda$1+0x00007f04bc002aa0;::run", MAP, "B$$Lambda$1.run_[j]" },
	{ "slashes and colons", "java/util/HashMap::get", MAP, "java/util/HashMap.get_[j]" },
	{ "interpreter", "Interpreter", MAP, "Interpreter_[0]" },
	{ "part of the interpreter", "Interpreter: method entry point (kind = native)", MAP,
	  "Interpreter: method entry point (kind = native)_[0]" },
	{ "stub", "call_stub", MAP, "call_stub_[j]" },
	{ "adapters", "I2C/C2I adapters(0xbbbb)", MAP, "I2C/C2I adapters_[j]" },
	{ "stub with a number", "StubRoutines (1)", MAP, "StubRoutines (1)_[j]" },
	{ "inlining packed into one symbol", "La/B;::f->Lc/D;::g->Lc/E;::h", MAP, "a/B.f_[j]\nc/D.g_[i]\nc/E.h_[i]" },
	{ "an L that is no class", "Lib/x", "/x", "Lib/x" },
	/* node, Python */
	{ "V8 optimised", "LazyCompile:*foo /a/b.js:1:2", MAP, "foo /a/b.js:1:2_[j]" },
	{ "V8 interpreted", "LazyCompile:~foo /a/b.js:1:2", MAP, "foo /a/b.js:1:2_[0]" },
	{ "V8 anonymous", "LazyCompile:* /a/b.js:1:2", MAP, "(anonymous) /a/b.js:1:2_[j]" },
	{ "V8 newer", "JS:^foo file:///a.mjs:1:2", MAP, "foo file:///a.mjs:1:2_[j]" },
	{ "V8 builtin", "Builtin:ArrayMap", MAP, "Builtin:ArrayMap_[j]" },
	{ "regular expression", "RegExp:(\\d+) (\\d+)$", MAP, "RegExp:(\\d+) (\\d+)$_[j]" },
	{ ".NET", "void [System.Private.CoreLib] System.Threading.Thread::Start()[OptimizedTier1]", MAP,
	  "System.Threading.Thread::Start_[j]" },
	{ ".NET without parameters", "int32 [app] Program::Main[PreJIT]", MAP, "Program::Main_[j]" },
	{ "Python", "py::f:/x/y.py", MAP, "py::f:/x/y.py_[0]" },
	/* folded text must stay readable */
	{ "separator", "a;b", "/x", "a:b" },
	{ "control bytes", "a\tb\x01", "/x", "a\\x09b\\x01" },
	{ "digits at the end would be a weight", "f 12", "/x", "f_12" },
	{ "a comment it is not", "# x", "/x", "_ x" },
	{ "only blanks", "   ", "/x", "[unknown]" },
	{ "quotes stay", "f\"x'", "/x", "f\"x'" },
	{ "other scripts", "größe", "/x", "größe" },
};

static void interpreted(struct names *names)
{
	static const struct row of_jvms[] = {
		{ "an interpreted method", "java.lang.Object a.B.f(int, java.lang.String[])", "[interpreted]",
		  "a/B.f_[0]" },
		{ "of a hidden class", "void B$$Lambda/0x00007f04bc002aa0.run()", "[interpreted]",
		  "B$$Lambda.run_[0]" },
		{ "whose name is not known", "", "[interpreted]", "[interpreted]_[0]" },
		{ "whose name is none", "???", "[interpreted]", "???_[0]" },
	};

	for (size_t i = 0; i < countof(of_jvms); i++) {
		const struct row *r = &of_jvms[i];

		is_str(names_make(names, (struct names_frame){ .symbol = str_of(r->symbol),
							       .dso = str_of(r->dso),
							       .interpreted = true }),
		       str_of(r->want), r->what);
	}
	names->hotspot = true;
	is_str(names_make(names, (struct names_frame){ .symbol = STR("void a.B.f(int)"), .interpreted = true }),
	       STR("void a.B.f(int)_[0]"), "as the JDK says");
	names->hotspot = false;
	is_str(names_make(names,
			  (struct names_frame){
				  .symbol = STR("m.f"), .line = STR("m.py:3"), .interpreted = true, .as_is = true }),
	       STR("m.f:m.py:3_[0]"), "a Python function and its line");
	is_str(names_make(names, (struct names_frame){ .symbol = STR("m.f"),
						       .line = STR("a;b\n\x7f 12:3"),
						       .interpreted = true,
						       .as_is = true }),
	       STR("m.f:a:b\\x0a\\x7f 12:3_[0]"), "  of a file of hostile bytes");
	is_str(names_make(names, (struct names_frame){ .symbol = STR("f"), .compiled = true, .as_is = true }),
	       STR("f_[j]"), "a JavaScript function that was compiled");
	is_str(names_make(names, (struct names_frame){ .symbol = STR("f"), .inlined = true, .as_is = true }),
	       STR("f_[i]"), "  or inlined");
}

int main(void)
{
	struct names n = { .kinds = NAMES_ALL_KINDS };
	struct names_frame f;

	for (size_t i = 0; i < countof(rows); i++) {
		f = (struct names_frame){ .symbol = str_of(rows[i].symbol), .dso = str_of(rows[i].dso) };
		is_str(names_make(&n, f), str_of(rows[i].want), rows[i].what);
	}

	f = (struct names_frame){ .symbol = STR("foo(int)"), .inlined = true };
	is_str(names_make(&n, f), STR("foo_[i]"), "DWARF inlining");

	interpreted(&n);

	n.kinds = 1u << KIND_KERNEL;
	f = (struct names_frame){ .symbol = STR("f"), .dso = STR(MAP) };
	is_str(names_make(&n, f), STR("f"), "a kind that is not asked for has no suffix");
	f.dso = STR("[ext4]");
	is_str(names_make(&n, f), STR("f_[k]"), "one that is asked for has");

	n.kinds = 0;
	n.hotspot = true;
	f = (struct names_frame){ .symbol = STR("long Burn.fib(int)"), .dso = STR(MAP) };
	is_str(names_make(&n, f), STR("long Burn.fib(int)"), "--names=hotspot");
	n.hotspot = false;

	n.addresses = true;
	f = (struct names_frame){ .symbol = STR("[unknown]"), .dso = STR("/x.so"), .address = STR("7f00") };
	is_str(names_make(&n, f), STR("[x.so <7f00>]"), "--addrs");
	f.dso = STR("[unknown]");
	is_str(names_make(&n, f), STR("[unknown <7f00>]"), "--addrs of nothing known");

	is_str(names_comm(&n, STR("C2 CompilerThre"), false), STR("C2_CompilerThre"), "blanks of a comm");
	is_str(names_comm(&n, STR("a;b\n"), false), STR("a:b\\x0a"), "hostile comm");
	is_str(names_comm(&n, STR("#"), false), STR("_"), "comm that would be a comment");
	is_str(names_comm(&n, STR("http-nio-8080-exec-12"), true), STR("http-nio-8080-exec"), "canonical comm");
	is_str(names_comm(&n, STR("kworker/0:1"), true), STR("kworker"), "canonical kworker");
	is_str(names_comm(&n, STR("123"), true), STR("123"), "canonical comm of digits stays");
	is_str(names_comm(&n, STR(""), false), STR("[unknown]"), "comm that is not known");
	names_free(&n);
	return done();
}
