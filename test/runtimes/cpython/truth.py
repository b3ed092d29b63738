# truth.py MODE [DEPTH] - makes a stack that is known, prints it, and stops itself on the same line. For CPython 3.8 and newer, run by -c.
# Functions named c_* are called from C, p_* from Python code; those named g_* are generators, coroutines or special methods, which both may do.
import os, sys, signal, threading, time

tids = {threading.get_ident(): threading.get_native_id()}


def show(tid, frame):
    print("thread", tid)
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name) if sys.version_info >= (3, 11) else code.co_name
        module = frame.f_globals.get("__name__") or os.path.splitext(os.path.basename(code.co_filename))[0]
        print("%s.%s\t%s\t%d" % (module, name, code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back


def emit(frame):
    sys.stdout.reconfigure(encoding="utf-8")
    me = threading.get_ident()
    show(tids[me], frame)
    for ident, other in sys._current_frames().items():
        if ident != me and ident in tids:
            show(tids[ident], other)
    print("end")
    sys.stdout.flush()
    return os.getpid()


def p_stop():
    os.kill(emit(sys._getframe()), signal.SIGSTOP)


def p_deep(n):
    if n > 0:
        p_deep(n - 1)
    else:
        p_stop()


def c_key(x):
    p_stop()
    return x


def p_sorted():
    sorted([1], key=c_key)


def c_outer(n):
    if n:
        sorted([n - 1], key=c_outer)
    else:
        p_stop()
    return n


def g_inner(n):
    if n:
        yield from g_inner(n - 1)
    else:
        p_stop()
        yield 1


def p_generators():
    for _ in (x for x in g_inner(5)):
        pass
    list(g_inner(2))


def p_raise(n):
    try:
        try:
            raise ValueError(n)
        except ValueError:
            if n:
                p_raise(n - 1)
            else:
                p_stop()
    finally:
        n = None


class Shop:
    class Till:
        def __init__(self, n):
            self.n = n
            if n:
                Shop.Till(n - 1)
            else:
                p_stop()

        @property
        def g_price(self):
            return (lambda: p_stop())()

    def __getattr__(self, name):
        return p_stop()


async def g_coroutine(n):
    if n:
        return await g_coroutine(n - 1)
    p_stop()


def p_coroutine():
    try:
        g_coroutine(4).send(None)
    except StopIteration:
        pass


def p_names():
    spaces = {"p_stop": p_stop, "__name__": "caf\u00e9"}
    exec(compile("def na\u00efve(n): \u03bb(n)\ndef \u03bb(n): \U00020000(n)\ndef \U00020000(n): p_stop()\n", "/x/\u00fcber.py", "exec"), spaces)
    spaces["na\u00efve"](1)


def p_odd():
    space = {"p_stop": p_stop}
    exec(compile("\n" * 1000 + "def g_odd():\n" + " x = (1,\n" + "\n" * 400 + "  p_stop())\n" + "g_odd()\n", "/x/odd.name.py", "exec"), space)


def p_large():
    space = {"p_stop": p_stop, "__name__": "large"}
    lines = ["def p_big(n):"] + [" n = n + 1 if n else (n,)[0]"] * 3000 + [" p_stop()", ""]
    exec(compile("\n".join(lines), "/x/large.py", "exec"), space)
    space["p_big"](1)


def g_worker(started, done):
    tids[threading.get_ident()] = threading.get_native_id()
    started.set()
    done.wait()


def p_threads():
    done = threading.Event()
    for _ in range(8):
        started = threading.Event()
        threading.Thread(target=g_worker, args=(started, done), daemon=True).start()
        started.wait()
    time.sleep(0.2)
    p_stop()


def p_import():
    import importlib.abc, importlib.util

    class Loader(importlib.abc.Loader):
        def create_module(self, spec):
            return None

        def exec_module(self, module):
            p_stop()

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            if name == "made_up":
                return importlib.util.spec_from_loader(name, Loader())

    sys.meta_path.insert(0, Finder())
    import made_up


def p_interpreters(run):
    try:
        import _interpreters as interpreters
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _testcapi

            _testcapi.run_in_subinterp("x = 1")
            return p_stop()
    other = interpreters.create()
    text = "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGSTOP)\nf()\n"
    if run:
        print("end", flush=True)
        interpreters.run_string(other, text) if hasattr(interpreters, "run_string") else interpreters.exec(other, text)
    else:
        p_stop()


def p_main(mode, depth):
    if mode == "deep":
        sys.setrecursionlimit(depth + 1000)
        p_deep(depth)
    elif mode == "sorted":
        p_sorted()
    elif mode == "cross":
        sorted([depth], key=c_outer)
    elif mode == "generators":
        p_generators()
    elif mode == "exceptions":
        p_raise(6)
    elif mode == "init":
        [Shop.Till(3) for _ in range(40)] if depth else Shop.Till(3)
    elif mode == "special":
        Shop().missing
        Shop.Till.g_price.fget(None)
    elif mode == "coroutine":
        p_coroutine()
    elif mode == "names":
        p_names()
    elif mode == "odd":
        p_odd()
    elif mode == "large":
        p_large()
    elif mode == "threads":
        p_threads()
    elif mode == "interpreters":
        p_interpreters(depth)
    elif mode == "import":
        p_import()


p_main(sys.argv[1], int(sys.argv[2]))
