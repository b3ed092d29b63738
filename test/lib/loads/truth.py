"""Python programs whose possible stacks are known, for test/record/record-python.t: truth.py MODE SECONDS.

Leaves burn 50, 30 and 20 % of the time, in loops of a few us. paths.awk of the test has the possible callers.
"""
import sys
import threading
import time


def fifty():
    x = 0
    for i in range(50):
        x = (x + 7) & 127
    return x


def thirty():
    x = 0
    for i in range(30):
        x = (x + 7) & 127
    return x


def twenty():
    x = 0
    for i in range(20):
        x = (x + 7) & 127
    return x


def left():
    return fifty()


def right():
    return thirty()


def middle():
    return twenty()


def parents():
    """Alternating parents at equal depth."""
    left()
    right()
    middle()


def down(depth):
    """Deep recursion, with another leaf each time."""
    if depth:
        down(depth - 1)
        return
    for _ in range(20):
        left()
        right()
        middle()


def key_outer(x):
    sorted([3, 1, 2], key=key_inner)
    return -x


def key_inner(x):
    fifty()
    return -x


def callbacks():
    """Native code between Python frames: sorted() calls back, twice nested."""
    sorted([1, 2], key=key_outer)


def numbers():
    for i in range(4):
        yield fifty()


def doubled(source):
    for i in source:
        yield thirty()


def generators():
    for i in doubled(numbers()):
        twenty()


def raises():
    twenty()
    raise ValueError("raised")


def exceptions():
    try:
        raises()
    except ValueError:
        thirty()


def renewed():
    """New code all the time: the name of each function is in its file's name, too."""
    for n in range(20):
        names = {"fifty": fifty}
        exec(compile("def made%d():\n    fifty()\n" % (n % 7), "made%d.py" % (n % 7), "exec"), names)
        names["made%d" % (n % 7)]()


def work_left(end):
    while time.time() < end:
        for _ in range(100):
            left()


def work_right(end):
    while time.time() < end:
        for _ in range(100):
            right()


def threads(end):
    both = [threading.Thread(target=work_left, args=(end,)), threading.Thread(target=work_right, args=(end,))]
    for t in both:
        t.start()
    for t in both:
        t.join()


def main():
    mode, end = sys.argv[1], time.time() + float(sys.argv[2])
    sys.setrecursionlimit(5000)
    if mode == "threads":
        threads(end)
    while time.time() < end:
        if mode == "deep":
            down(120)
        else:
            for _ in range(20):
                globals()[mode]()


main()
