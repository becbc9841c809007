"""Hostile files: whatever they say, the command ends with a reason, within its memory limit, and writes nothing.

    run.py COMMAND HELPERS [--sanitized] [--slow] [--only REGEX] [--list]

Every file is tried with every verb that reads its kind, with --memory-limit 64M and, where the limit may matter or with
--slow, with the default limit. Models are also loaded by a process that the kernel kills as soon as it opens a file for writing,
opens a socket or starts another program."""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import data
import models
from files import Container, Hash
from harness import Harness, MiB, fresh, tree

LIMIT = 64 * MiB
# What the process has besides what the limit bounds: program, libraries, buffers of readers, stacks of threads.
BESIDES = 32 * MiB


def prepare(harness, directory):
    """Good files that the hostile ones are made of, and beside which they must fail."""
    def do(*arguments):
        subprocess.run([harness.command, *arguments], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    do("generate", "--rows", "300", "--features", "20", "--nnz", "5", "-o", "good.svm", "--quiet")
    do("generate", "--rows", "300", "--features", "20", "--nnz", "5", "--seed", "1", "-o", "other.svm", "--quiet")
    do("train", "good.svm", "-o", "good.model", "--quiet")
    do("train", "other.svm", "-o", "other.model", "--quiet")


def judge(harness, name, arguments, says, limit, most, directory, **options):
    """One run; it may leave only what it is asked for, and that only if it succeeds."""
    before = tree(directory)
    result = harness.run(arguments + limit, cwd=directory, **options)
    if not harness.expect(name, result, says, most, (1, 2) if says else (0, 1)):
        return
    left = {path for path, what in tree(directory).items() if before.get(path) != what}
    output = arguments[arguments.index("-o") + 1] if "-o" in arguments and result.code == 0 else None
    asked = {os.path.join(directory, f) for f in (output, output + ".state")} if output else set()
    if left - asked:
        harness.fail(name, "it wrote %s" % sorted(left - asked), result)


# What inspect says of a file that it takes for data, since it does not begin like a model.
AS_DATA = "|NUL byte|UTF-8|no rows|the line is longer|INDEX:VALUE"
MODEL_VERBS = [["predict", "bad", "good.svm"], ["inspect", "bad"], ["evaluate", "bad", "good.svm"]]
EXPORTS = [["inspect", "bad", "--json", "--top", "100"], ["export", "bad", "-o", "out"]]
STATE_VERBS = [["train", "good.svm", "-o", "bad", "--resume", "--quiet"],
               ["train", "good.svm", "-o", "out", "--start-from", "bad", "--quiet"],
               ["merge", "bad", "other.model", "-o", "out"]]


def bounds(verb):
    """(the options, the most memory): with a small limit, and with the default, half of the machine's."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    default = ("default", [], machine // 2 + BESIDES)
    return [default] if verb == "merge" else [("64M", ["--memory-limit", "64M"], LIMIT + BESIDES), default]


def try_containers(harness, directory, cases, verbs, target, wanted, quick):
    for name, says, write in cases:
        if not wanted(name):
            continue
        fresh(directory)
        prepare_copy(harness, directory)
        if target == "bad.state":
            os.link(os.path.join(directory, "good.model"), os.path.join(directory, "bad"))
        path = os.path.join(directory, target)
        write(path)
        for verb in verbs:
            if verb[0] == "inspect" and name == "a_pipe_without_a_writer":
                continue  # data may come through a pipe: it waits
            says_so = says + AS_DATA if says and verb[0] == "inspect" else says
            matters = says is None or "limit" in says
            for label, limit, most in bounds(verb[0])[:1 if quick and not matters else 2]:
                judge(harness, "%s: %s %s" % (name, " ".join(verb[:3]), label), verb, says_so, limit, most, directory)
        if os.path.lexists(path):
            os.unlink(path)


def try_models(harness, work, model, state, seal, wanted, slow):
    in_models = models.headers(model, seal) + models.label_lies(model, seal) + models.models(model, seal)
    try_containers(harness, work, in_models, MODEL_VERBS if slow else MODEL_VERBS[:2], "bad", wanted, not slow)
    in_states = models.label_lies(state, seal) + models.states(state, seal)
    try_containers(harness, work, in_states, STATE_VERBS, "bad.state", wanted, not slow)
    try_containers(harness, work, models.headers(state, seal), STATE_VERBS[1:2], "bad.state", wanted, not slow)
    if slow:
        try_containers(harness, work, models.a_billion_labels(model, seal), MODEL_VERBS[:2], "bad", wanted, not slow)


def try_high_features(harness, directory, model, state, seal, wanted):
    """A small file takes little memory and ends within seconds, however high the features are that it names; without a
    limit of our own. A table that such a state needs is either refused or never touched, but for a bit and an index
    per page of its slots, where it is copied."""
    most = {"bad": LIMIT + BESIDES, "bad.state": 4 * LIMIT + BESIDES}
    read_state = [["inspect", "bad.state"]] + STATE_VERBS[:2] + [STATE_VERBS[1] + ["--method", "gsa"]]
    for count in (10**8, 25 * 10**8):
        name = "a_feature_%d" % count
        files = [("bad", models.high_feature(model, seal, count), MODEL_VERBS + EXPORTS)]
        for held_out in (False, True):
            files.append(("bad.state", models.high_slot(state, seal, count, held_out), read_state))
        for target, write, verbs in files if wanted(name) else []:
            for verb in verbs:
                prepare_copy(harness, fresh(directory))
                if target == "bad.state":
                    os.link(os.path.join(directory, "good.model"), os.path.join(directory, "bad"))
                write(os.path.join(directory, target))
                judge(harness, "%s: %s" % (name, " ".join(verb[:6])), verb, None, [], most[target], directory,
                      seconds=10)


def try_confined(harness, directory, model, seal, wanted, quick):
    """Models are data: a filter of the kernel kills whoever writes, connects or starts anything while one is loaded."""
    good = lambda path: model.write(path, seal)
    cases = [("a_good_model", None, good)] + models.headers(model, seal) + models.models(model, seal)
    for name, _, write in cases:
        if not wanted(name):
            continue
        prepare_copy(harness, fresh(directory))
        write(os.path.join(directory, "bad"))
        for verb in MODEL_VERBS[:1 if quick else 3]:
            if verb[0] == "inspect" and name == "a_pipe_without_a_writer":
                continue
            result = harness.run(verb, cwd=directory, reads_only=True)
            if result.how == "exit" and result.code == 77:
                print("SKIPPED: the loading of models under a filter of system calls: %s" % result.err.strip())
                return
            if result.how != "exit" or result.code not in ((0,) if name == "a_good_model" else (0, 1)):
                harness.fail("%s: %s, reads only" % (name, verb[0]), "it did more than read", result)
    result = harness.run(["train", "good.svm", "-o", "out", "--quiet"], cwd=directory, reads_only=True)
    if wanted("a_good_model") and result.how != "signal":
        harness.fail("the filter itself", "a run that writes was not killed", result)


DATA_VERBS = [["train", "{}", "-o", "out", "--quiet"], ["predict", "good.model", "{}"], ["inspect", "{}"],
              ["convert", "{}", "-o", "out.gsac", "--quiet"]]


def try_data(harness, directory, cases, wanted, quick):
    for name, says, source in cases:
        if not wanted(name):
            continue
        fresh(directory)
        prepare_copy(harness, directory)
        path = os.path.join(directory, "bad")
        if callable(source):
            source(path)
        elif isinstance(source, bytes):
            models.plain(path, source)
        producer = source.produce if isinstance(source, data.Stream) else None
        for verb in DATA_VERBS:
            arguments = [a.format("-" if producer else "bad") for a in verb]
            expected = says.get(verb[0], says.get(""))
            if expected is data.SKIP:
                continue
            for label, limit, most in bounds(verb[0])[:1 if quick and (verb[0] != "train" or expected) else 2]:
                judge(harness, "%s: %s %s" % (name, verb[0], label), arguments, expected, limit, most, directory,
                      producer=producer, keep_output=verb[0] == "inspect")
                for out in ("out", "out.state", "out.gsac"):
                    if os.path.exists(os.path.join(directory, out)):
                        os.unlink(os.path.join(directory, out))


# Little text that becomes much, with --memory-limit 16M.
SMALL_LIMIT, SMALL_MOST = ["--memory-limit", "16M"], 48 * MiB


def try_lines(harness, directory, wanted):
    for name, says, (file, *options), text in data.line_cases():
        if not wanted(name):
            continue
        prepare_copy(harness, fresh(directory))
        models.plain(os.path.join(directory, file), text)
        for verb in DATA_VERBS:
            if verb[0] == "predict":  # has no --cross, and another schema
                continue
            arguments = [a.format(file) for a in verb] + options
            judge(harness, "%s: %s 16M" % (name, verb[0]), arguments, says, SMALL_LIMIT, SMALL_MOST, directory)


def try_interrupt(harness, directory, wanted):
    """Lines whose crosses take long are refused, or left at once when SIGTERM comes, also in the middle of a line."""
    for name, n_lines, n, may_end in [("interrupted_crosses", 200, 2800, False), ("interrupted_long_line", 2, 8000, True)]:
        if not wanted(name):
            continue
        models.plain(os.path.join(fresh(directory), "bad"), data.features(n_lines, n))
        child = subprocess.Popen([harness.command, "convert", "bad", "-o", "out.svm", "--cross", "a:a", "--quiet",
                                  "--memory-limit", "none"], cwd=directory, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        harness.n_runs += 1
        time.sleep(1.5)
        if child.poll() is not None and not may_end:
            harness.fail(name, "it ended by itself, with exit code %d" % child.returncode)
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
        began = time.monotonic()
        child.wait()
        taken, most = time.monotonic() - began, 10 if harness.sanitized else 1
        if taken > most or os.path.exists(os.path.join(directory, "out.svm")):
            harness.fail(name, "it went on for %.1f s, or left a file" % taken)


def prepare_copy(harness, directory):
    for name in ("good.svm", "good.model", "good.model.state", "other.model", "other.model.state"):
        os.link(os.path.join(harness.directory, "good", name), os.path.join(directory, name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("helpers")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--only", default="", help="cases whose name this is found in")
    parser.add_argument("--kind", choices=["models", "data"], help="only these files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gsa-hostile-") as root:
        harness = Harness(os.path.abspath(options.command), os.path.abspath(options.helpers), root, options.sanitized)
        seal = Hash(os.path.join(harness.helpers, "xxh3"))
        good, work = fresh(os.path.join(root, "good")), os.path.join(root, "work")
        prepare(harness, good)
        model = Container.read(os.path.join(good, "good.model"))
        state = Container.read(os.path.join(good, "good.model.state"))
        wanted = lambda name: re.search(options.only, name)
        if options.kind != "data":
            try_models(harness, work, model, state, seal, wanted, options.slow)
            try_high_features(harness, work, model, state, seal, wanted)
            try_confined(harness, work, model, seal, wanted, not options.slow)
        if options.kind != "models":
            cases = data.text_cases(options.slow) + data.cache_cases(seal) + data.npy_cases()
            try_data(harness, work, cases + data.compressed_cases(options.slow), wanted, not options.slow)
            try_lines(harness, work, wanted)
            try_interrupt(harness, work, wanted)
        print("%d runs, %d failures; the most memory: %d MiB (%s)" % (
            harness.n_runs, len(harness.failures), harness.worst[0] // 1024, harness.worst[1]))
    return 1 if harness.failures else 0


if __name__ == "__main__":
    sys.exit(main())
