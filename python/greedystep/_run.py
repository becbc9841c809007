"""Long calls of the library: memory, threads, Ctrl-C, and exceptions in our own callbacks.

A long call runs in a thread of its own while the caller's thread waits, because Python handles
signals in the main thread only, and only while it runs Python code. The library checks often, and from several
threads, whether to stop, so the function that it calls must not need the GIL: it is
libc's atoi, whose text is "0" until a "1" is written.

Messages to the user are issued in the caller's thread, which waits anyway: loggers keep the context of a run
in variables of the thread that began it.

Threads wait for each other by SimpleQueue, whose put and get are atomic: an Event that Ctrl-C interrupts may release
a lock that the other thread holds.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, Callable

from . import _library as c
from ._errors import call

_LOOK_SECONDS = 0.1  # how long Ctrl-C may wait at worst


# What all objects of the process take together: it outlives them, whose finalizers run before modules are torn down.
_budget = c.Budget()


def counted_memory() -> c.Memory:
    """Return the memory that all objects are made with, limited to half of what the process may use."""
    if not _budget.limit:
        _budget.limit = c.library().gsa_machine_memory() // 2
    return c.Memory(budget=ctypes.pointer(_budget))


class _Task:
    """A function of the user's that another thread runs."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.done: SimpleQueue[None] = SimpleQueue()  # has something when the task is done
        self.is_done = False
        self.raised: BaseException | None = None


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL("msvcrt" if os.name == "nt" else None)  # Windows has no name for the process itself


class Run:
    """The context of one long call, which must outlive the readers that are opened for it.

    Parameters
    ----------
    n_threads : int
        0: as many as there are processors.
    """

    def __init__(self, n_threads: int = 0) -> None:
        self._flag = ctypes.create_string_buffer(b"0")
        self._failure: BaseException | None = None
        self._wake: SimpleQueue[None] | None = None  # of the thread that waits, if one does
        self._task: _Task | None = None
        self.struct = c.Call(n_threads=n_threads)
        self.struct.should_stop = ctypes.cast(_libc().atoi, ctypes.c_void_p)
        self.struct.ctx = ctypes.addressof(self._flag)

    def stop(self) -> None:
        """Ask the call to end."""
        self._flag[0] = b"1"

    def fail(self, failure: BaseException) -> None:
        """Keep an exception of a callback, for the caller, and ask the call to end."""
        if self._failure is None:
            self._failure = failure
        self.stop()

    def in_caller(self, work: Callable[[], Any]) -> None:
        """Run a function in the caller's thread; one thread of the library at a time calls this."""
        if self._wake is None:
            work()
            return
        task = self._task = _Task(work)
        self._wake.put(None)
        task.done.get()
        if task.raised is not None:
            raise task.raised

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the library that may take long."""
        try:
            if threading.current_thread() is threading.main_thread():
                self._wait_for(lambda: call(name, *arguments))
            else:
                call(name, *arguments)
        except BaseException:
            self._raise_failure()
            raise
        self._raise_failure()

    def _wait_for(self, work: Callable[[], object]) -> None:
        """Run the work in another thread and serve its requests until it ends.

        A signal may be raised between any two lines, and nothing that the work uses may be freed before it has ended:
        so it is started and served inside the try, and if it was not started by then, it sees the interrupt and ends.
        """
        wake: SimpleQueue[None] = SimpleQueue()
        self._wake = wake
        raised: list[BaseException] = []
        interrupt: BaseException | None = None
        is_begun = is_done = False

        def run() -> None:
            nonlocal is_begun, is_done
            is_begun = True
            try:
                if interrupt is None:
                    work()
            except BaseException as failure:  # it is the waiting thread's to raise
                raised.append(failure)
            finally:
                is_done = True
                wake.put(None)

        def attend() -> None:
            while not is_done:
                task = self._task
                if task is not None and not task.is_done:
                    _do(task, interrupt)
                else:
                    _wait(wake)  # then the task is looked at again, so that none is missed

        thread: threading.Thread | None = None
        while not is_done:
            try:
                if thread is None:
                    thread = threading.Thread(target=run, name="greedystep")
                    thread.start()
                attend()
            except BaseException as signal:  # Ctrl-C, or what a handler of the user's raises
                interrupt = interrupt or signal
                self._flag[0] = b"1"
                if not is_begun:
                    break
        self._wake = None
        if interrupt is not None:
            raise interrupt
        if raised:
            raise raised[0]


def _wait(wake: SimpleQueue[None]) -> None:
    """Wait for a limited time: a signal that comes just before the thread sleeps does not wake it."""
    with contextlib.suppress(Empty):
        wake.get(timeout=_LOOK_SECONDS)


def _do(task: _Task, interrupt: BaseException | None) -> None:
    """Run a task, or drop it after an interrupt; the thread that waits for it continues in both cases."""
    try:
        if interrupt is None:
            task.work()
    except BaseException as failure:
        task.raised = failure
    task.done.put(None)
    task.is_done = True
