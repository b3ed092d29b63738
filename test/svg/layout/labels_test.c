/* Labels: the most telling part that fits. */
/* covers: svg/layout/labels.c */
#include "test/lib/tap.h"

#include "svg/layout/labels.h"

#define DOTS "\xe2\x80\xa6"

static void label_is(const char *name, size_t max, const char *want)
{
	struct text t = { 0 };

	label_fit(&t, str_of(name), max, LABEL_SMART);
	is_str(text_view(&t), str_of(want), name);
	ok(label_columns(text_view(&t)) <= max, "it fits");
	text_free(&t);
}

static void cut_is(enum label_cut cut, const char *name, size_t max, const char *want)
{
	struct text t = { 0 };

	label_fit(&t, str_of(name), max, cut);
	is_str(text_view(&t), str_of(want), name);
	text_free(&t);
}

static void test_java(void)
{
	label_is("java/util/HashMap.get", 40, "java/util/HashMap.get");
	label_is("java/util/HashMap.get", 15, "j.u.HashMap.get");
	label_is("java/util/HashMap.get", 12, "HashMap.get");
	label_is("java/util/HashMap.get", 9, DOTS "hMap.get");
	label_is("java/util/HashMap.get", 8, "get");
	label_is("java/util/ComparableTimSort.binarySort", 14, "binarySort");
	label_is("java/util/ComparableTimSort.binarySort", 20, "binarySort");
	label_is("java/util/ComparableTimSort.binarySort", 21, DOTS "leTimSort.binarySort");
	label_is("java/util/ComparableTimSort.sort", 14, "sort");
	label_is("Lorg/vertx/Foo;::handle", 12, "Foo;::handle");
	label_is("Lorg/vertx/Foo;::handle", 11, "handle");
	label_is("java/util/HashMap.get", 6, "get");
	label_is("java/util/HashMap.putAll", 5, "putA" DOTS);
	label_is("org/netty/ChannelHandler:.flush", 26, "o.n.ChannelHandler:.flush");
	label_is("Lorg/vertx/Foo;::handle", 18, "o.v.Foo;::handle");
	label_is("java.lang.Thread.run", 12, "Thread.run");
	label_is("com/a/B.lambda$run$0(Object)", 14, "B.lambda$run$0");
}

#define SORT                                                                             \
	"__final_insertion_sort<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, " \
	"__gnu_cxx::__ops::_Iter_comp_iter<main()::<lambda(int, int)> > >"

static void test_cpp(void)
{
	label_is("std::vector<int, std::allocator<int> >::push_back(int&&)", 24, "std::vector::push_back");
	label_is("std::vector<int, std::allocator<int> >::push_back(int&&)", 20, "vector::push_back");
	label_is("std::vector<int, std::allocator<int> >::push_back(int&&)", 9, "push_back");
	label_is("std::vector<int, std::allocator<int> >::push_back(int&&)", 5, "push" DOTS);
	label_is("a::b::operator<<(std::ostream&, int)", 16, "a::b::operator<<");
	label_is(SORT, 60, "__final_insertion_sort");
	label_is(SORT, 12, "__final_ins" DOTS);
	label_is("std::sort<__gnu_cxx::__normal_iterator<int*, std::vector<int> > >", 20, "std::sort");
	label_is("std::sort<__gnu_cxx::__normal_iterator<int*, std::vector<int> > >", 8, "sort");
	label_is("v8::(anonymous namespace)::Invoke(int)", 34, "v8::(anonymous namespace)::Invoke");
	label_is("v8::(anonymous namespace)::Invoke(int)", 12, "Invoke");
	label_is("foo::operator()(int, long) const", 17, "foo::operator()");
	label_is("parse(char const*, int)", 10, "parse");
}

static void test_others(void)
{
	label_is("github.com/x/y.(*T).Run", 10, "y.(*T).Run");
	label_is("LazyCompile:*parse /srv/app/index.js:12", 20, "parse");
	label_is("json.decoder.JSONDecoder.decode:decoder.py:338", 46,
		 "json.decoder.JSONDecoder.decode:decoder.py:338");
	label_is("json.decoder.JSONDecoder.decode:decoder.py:338", 45, "json.decoder.JSONDecoder.decode");
	label_is("json.decoder.JSONDecoder.decode:decoder.py:338", 18, "JSONDecoder.decode");
	label_is("__main__.main:tool:12", 20, "__main__.main");
	label_is("Builtins_RunMicrotasks", 16, "RunMicrotasks");
	label_is("[libpthread-2.19.so]", 10, "[libpthre" DOTS);
	label_is("account_kernel_stack.isra.0", 10, "account_k" DOTS);
	label_is("entry_SYSCALL_64", 16, "entry_SYSCALL_64");
	label_is("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5", 6, "\xe6\x97\xa5\xe6\x9c\xac" DOTS);
	label_is("<T as Iterator>::next", 8, "next");
	label_is("a", 2, "");
	label_is("", 10, "");
	label_is("::::::::::::::::::::", 5, "::::");
	label_is("////////////////////", 5, "////" DOTS);
	label_is("<<<<<<<<<<<<<<<<<<<<", 5, "<");
	label_is("a::<<<<<<<<<<<<<<<<<", 5, "a::");
}

int main(void)
{
	test_java();
	test_cpp();
	test_others();
	cut_is(LABEL_RIGHT, "java/util/HashMap.get", 6, "java/" DOTS);
	cut_is(LABEL_LEFT, "java/util/HashMap.get", 6, DOTS "p.get");
	cut_is(LABEL_PYTHON, "asyncio.base_events.run.<locals>.step", 36, "base_events.run.<locals>.step");
	cut_is(LABEL_PYTHON, "asyncio.base_events.run.<locals>.step", 16, "step");
	cut_is(LABEL_PYTHON, "asyncio.base_events.run_forever", 11, "run_forever");
	cut_is(LABEL_PYTHON, "asyncio.base_events.run_forever", 10, "run_forev" DOTS);
	cut_is(LABEL_PYTHON, "tool.lines:tool.py:3", 10, "tool.lines");
	cut_is(LABEL_PYTHON, "tool.", 4, "too" DOTS);
	cut_is(LABEL_PYTHON, "....", 3, "...");
	cut_is(LABEL_LEFT, "abc", 3, "abc");
	return done();
}
