# waits.py SECONDS - threads that wait at known places, so their stacks off the CPU are known, and most of their times, too.
import queue
import socket
import sys
import threading
import time

end = time.monotonic() + float(sys.argv[1])


def pause(seconds):
    time.sleep(seconds)


def left():
    pause(0.03)


def right():
    pause(0.01)


def down(n):
    if n:
        down(n - 1)
    else:
        pause(0.02)


# each thread waits in one of these alone; left sleeps three times as long as right, and both at one depth
def alternates():
    while time.monotonic() < end:
        left()
        right()


def deep():
    while time.monotonic() < end:
        down(100)


def receives():
    while receiver.recv(1):
        pass


def takes():
    while items.get():
        pass


def locks():
    while time.monotonic() < end:
        with lock:
            pass
        time.sleep(0)


def calls_back():
    while time.monotonic() < end:
        sorted([1], key=slow_key)


def slow_key(value):
    pause(0.02)
    return value


def holds():
    while time.monotonic() < end:
        with lock:
            time.sleep(0.02)
        receiver_of.send(b"x")
        items.put(1)
    receiver_of.close()
    items.put(None)


def spins():
    while time.monotonic() < end:
        sum(range(1000))


receiver, receiver_of = socket.socketpair()
items = queue.Queue()
lock = threading.Lock()
workers = [alternates, deep, receives, takes, locks, calls_back, holds]
if len(sys.argv) > 2:
    workers += [spins, spins]
threads = [threading.Thread(target=worker) for worker in workers]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
