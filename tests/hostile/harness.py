"""Runs the command on hostile input, within bounds, and judges what it did."""
import os
import re
import shutil
import subprocess
import threading

MiB = 1 << 20


class Result:
    def __init__(self, how, code, rss, cpu, wall, threads, out, err):
        self.how, self.code, self.rss, self.cpu, self.wall, self.threads = how, code, rss, cpu, wall, threads
        self.out, self.err = out, err


class Harness:
    def __init__(self, command, helpers, directory, sanitized=False):
        self.command, self.helpers, self.directory, self.sanitized = command, helpers, directory, sanitized
        self.failures, self.n_runs, self.worst = [], 0, (0, "")

    def run(self, arguments, producer=None, seconds=60, address_space=0, reads_only=False, cwd=None, keep_output=True,
            stdin=None):
        """producer(write): called in a thread with a function that writes to the command's standard input. stdin: a file
        descriptor in place of that."""
        report = os.path.join(self.directory, "report")
        bounds = ["--seconds", str(seconds * (4 if self.sanitized else 1))]
        if address_space and not self.sanitized:  # sanitizers reserve terabytes
            bounds += ["--address-space", str(address_space)]
        if reads_only:
            bounds += ["--reads-only"]
        argv = [os.path.join(self.helpers, "confined"), report] + bounds + [self.command] + arguments
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=%d:allocator_may_return_null=1" % (not reads_only),
                           LC_ALL="C")
        child = subprocess.Popen(argv, cwd=cwd or self.directory, env=environment,
                                 stdin=subprocess.PIPE if producer else subprocess.DEVNULL if stdin is None else stdin,
                                 stdout=subprocess.PIPE if keep_output else subprocess.DEVNULL, stderr=subprocess.PIPE)
        if producer:
            threading.Thread(target=feed, args=(child.stdin, producer), daemon=True).start()
        errors = []
        listener = threading.Thread(target=lambda: errors.append(child.stderr.read()))
        listener.start()
        out = child.stdout.read() if keep_output else b""
        listener.join()
        if child.wait() != 0:
            raise SystemExit("confined itself failed (%d): %s" % (child.returncode, errors[0].decode(errors="replace")))
        with open(report) as f:
            how, *numbers = f.read().split()
        self.n_runs += 1
        return Result(how, *(int(n) for n in numbers), out, errors[0].decode("utf-8", "backslashreplace"))

    def fail(self, name, why, result=None):
        tail = "" if result is None else "\n    %s %d, %d MiB, %.1f s: %s" % (
            result.how, result.code, result.rss // 1024, result.wall / 1000, result.err.strip()[-600:])
        self.failures.append(name)
        print("FAILED %s: %s%s" % (name, why, tail), flush=True)

    def expect(self, name, result, says, most_rss, codes=(1,)):
        """An exit with a reason, never a signal, never too late, never too large."""
        if result.how != "exit":
            return self.fail(name, "it ended by a signal" if result.how == "signal" else "it does not end", result)
        if result.code not in codes:
            return self.fail(name, "exit code %d, expected %s" % (result.code, codes), result)
        if "Sanitizer" in result.err or "runtime error" in result.err:
            return self.fail(name, "a sanitizer complains", result)
        message = result.err if result.code else result.err + result.out.decode("utf-8", "replace")
        if says and not re.search(says, message):
            return self.fail(name, "the message does not say /%s/" % says, result)
        if result.code and len(result.err) > 4000:
            return self.fail(name, "a message of %d bytes" % len(result.err), result)
        if re.search("[\x00-\x08\x0b-\x1f\x7f]", result.err):
            return self.fail(name, "control characters of the file come through in the message", result)
        if not self.sanitized and result.rss * 1024 > most_rss:
            return self.fail(name, "more than %d MiB" % (most_rss // MiB), result)
        self.worst = max(self.worst, (result.rss, name))
        return True


def feed(pipe, producer):
    """The reader may go away at any time."""
    try:
        producer(pipe.write)
    except (BrokenPipeError, ConnectionResetError):
        pass
    try:
        pipe.close()
    except (BrokenPipeError, ConnectionResetError):
        pass


def tree(directory):
    """What is in a folder: names with sizes and times, for finding out that nothing was written."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            info = os.lstat(os.path.join(folder, name))
            found[os.path.join(folder, name)] = (info.st_size, info.st_mtime_ns, info.st_mode)
    return found


def fresh(directory):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    return directory
