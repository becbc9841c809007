"""Many processes on one model, and bad producers on standard input.

    processes.py COMMAND HELPERS [--sanitized] [--processes N]

Crowd: that many `predict` processes at once, while the model is replaced beneath them; each prints what one of the two
models says, never a mixture. Producers: slow (a byte at a time), stalling (the command waits without spinning) and dying in the
middle of a row, through a pipe and a named pipe, for train, predict and convert."""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hostile"))
from harness import Harness  # noqa: E402


def crowd(harness, n_processes):
    here = harness.directory
    do = lambda *a: subprocess.run([harness.command, *a], cwd=here, check=True, stdout=subprocess.PIPE).stdout
    do("generate", "--rows", "3000", "--features", "50", "-o", "rows.svm", "--quiet")
    do("generate", "--rows", "3000", "--features", "50", "--seed", "9", "-o", "other.svm", "--quiet")
    for name, rows in (("a", "rows.svm"), ("b", "other.svm")):
        do("train", rows, "-o", name, "--quiet")
    said = {do("predict", name, "rows.svm") for name in ("a", "b")}
    if len(said) != 2:
        return harness.fail("crowd", "the two models say the same")
    over = threading.Event()

    def replace():
        """As greedystep itself does: another file takes the name."""
        for turn in range(1 << 30):
            if over.is_set():
                return
            with open(os.path.join(here, "ab"[turn % 2]), "rb") as f:
                content = f.read()
            with open(os.path.join(here, "new"), "wb") as f:
                f.write(content)
            os.rename(os.path.join(here, "new"), os.path.join(here, "model"))

    os.link(os.path.join(here, "a"), os.path.join(here, "model"))
    replacing = threading.Thread(target=replace)
    replacing.start()
    crowd_of = []
    for i in range(n_processes):
        # To files: a pipe that nobody reads would hold the process up.
        out = open(os.path.join(here, "out%d" % i), "wb")
        crowd_of.append((out, subprocess.Popen([harness.command, "predict", "model", "rows.svm", "--threads", "2"],
                                               cwd=here, stdout=out, stderr=subprocess.STDOUT)))
    codes = [child.wait() for _, child in crowd_of]
    over.set()
    replacing.join()
    seen = set()
    for i, (out, _) in enumerate(crowd_of):
        out.close()
        with open(out.name, "rb") as f:
            text = f.read()
        seen.add(text)
        if codes[i] != 0 or text not in said:
            harness.fail("crowd", "process %d: exit code %d: %r" % (i, codes[i], text[-200:]))
    print("crowd: %d processes, %d of the 2 models were seen" % (n_processes, len(seen)))


ROWS = b"".join(b"%d %d:1 %d:0.5\n" % (i % 2, 1 + i % 2, 3 + i % 7) for i in range(400))


def slowly(write_rows):
    """A byte at a time."""
    def produce(write):
        for i in range(len(write_rows)):
            write(write_rows[i:i + 1])
    return produce


def stalling(write_rows, seconds):
    def produce(write):
        half = len(write_rows) // 2 + 3  # in the middle of a row
        write(write_rows[:half])
        time.sleep(seconds)
        write(write_rows[half:])
    return produce


VERBS = {"train": ["train", "-", "-o", "out", "--quiet"], "predict": ["predict", "a", "-"],
         "convert": ["convert", "-", "-o", "out.svm", "--quiet"]}


def outputs(harness, verb, result):
    """The bytes that a run made."""
    made = [result.out] if verb == "predict" else []
    for name in ("out", "out.state", "out.svm"):
        path = os.path.join(harness.directory, name)
        if os.path.exists(path):
            if verb != "predict":
                with open(path, "rb") as f:
                    made.append(f.read())
            os.unlink(path)
    return made


def unbuffered(harness, arguments, produce):
    """Harness.run writes through a buffer; a slow producer must not."""
    read_end, write_end = os.pipe()

    def work():
        try:
            produce(lambda data: os.write(write_end, data))
        except BrokenPipeError:
            pass
        os.close(write_end)
    thread = threading.Thread(target=work)
    thread.start()
    result = harness.run(arguments, stdin=read_end)
    os.close(read_end)
    thread.join()
    return result


def producers(harness):
    stall = 3
    for verb, arguments in VERBS.items():
        whole = unbuffered(harness, arguments, lambda write: write(ROWS))
        expected = outputs(harness, verb, whole)
        for name, produce in (("slow", slowly(ROWS)), ("stalling", stalling(ROWS, stall))):
            result = unbuffered(harness, arguments, produce)
            made = outputs(harness, verb, result)
            if result.code != 0 or result.how != "exit":
                harness.fail("%s producer: %s" % (name, verb), "it failed", result)
            elif verb != "train" and made != expected or verb == "train" and made[:1] != expected[:1]:
                harness.fail("%s producer: %s" % (name, verb), "other results than from a fast one", result)
            if name == "stalling" and (result.wall < stall * 1000 - 200 or result.cpu - whole.cpu > 500):
                harness.fail("%s producer: %s" % (name, verb), "%d ms of CPU while waiting" % result.cpu, result)
        dying(harness, verb, arguments)


def dying(harness, verb, arguments):
    """Killed in the middle of a row: what comes through a pipe then is a line without its end, which reads as a shorter row.
    No reader of a pipe can tell that from a last line without a newline, so what can be asked is: rows before it are kept,
    a line that is no row is named, and nothing hangs."""
    cut = ROWS[:len(ROWS) // 2]
    for tail, code in ((b"1 1:1 3:", 1), (b"1 1:1 3:0.5", 0)):
        fifo = os.path.join(harness.directory, "fifo")
        os.mkfifo(fifo)
        script = "import sys,time; f=open(%r,'wb',0); f.write(%r); time.sleep(600)" % (fifo, cut[:cut.rindex(b"\n") + 1] + tail)
        producer = subprocess.Popen([sys.executable, "-c", script])
        threading.Timer(1.0, lambda: os.kill(producer.pid, signal.SIGKILL)).start()
        result = harness.run([fifo if a == "-" else a for a in arguments], seconds=60)
        producer.wait()
        os.unlink(fifo)
        made = outputs(harness, verb, result)
        name = "dying producer: %s" % verb
        if result.how != "exit" or result.code != code:
            harness.fail(name, "expected exit code %d" % code, result)
        elif code and ("fifo:%d" % (cut.count(b"\n") + 1) not in result.err):
            harness.fail(name, "the row that is cut is not named", result)
        elif code and verb == "predict" and made[0].count(b"\n") != cut.count(b"\n"):
            harness.fail(name, "the rows before it were not answered", result)
        elif code and verb != "predict" and made:
            harness.fail(name, "it left a result of a part", result)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("helpers")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--processes", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gsa-load-") as root:
        harness = Harness(os.path.abspath(options.command), os.path.abspath(options.helpers), root, options.sanitized)
        crowd(harness, options.processes)
        producers(harness)
        print("%d runs, %d failures" % (harness.n_runs, len(harness.failures)))
    return 1 if harness.failures else 0


if __name__ == "__main__":
    sys.exit(main())
