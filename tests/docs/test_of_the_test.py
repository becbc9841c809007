#!/usr/bin/env python3
"""That run.py notices what it is there to notice: pages that are wrong in one way each."""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import unittest

import run
import site_check

PAGE = "# Page\n\n{}\n"
CONSOLE = "```console\n$ printf 'one\\ntwo\\n'\n{}\n```"


class PagesThatAreWrong(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "page.md"

    def failures(self, text: str, accept: bool = False, python: str | None = None) -> list[str]:
        self.path.write_text(PAGE.format(text))
        self.run_of_page = run.Run(
            self.path, argparse.Namespace(command="/bin/sh", accept=accept, python=python, pages=[])
        )
        self.run_of_page.go()
        return self.run_of_page.failures

    def test_output_that_is_shown_passes(self) -> None:
        assert self.failures(CONSOLE.format("one\ntwo")) == []

    def test_other_output_fails(self) -> None:
        assert len(self.failures(CONSOLE.format("one\nthree"))) == 1

    def test_missing_output_fails(self) -> None:
        assert len(self.failures(CONSOLE.format("one"))) == 1

    def test_dots_stand_for_any_lines(self) -> None:
        assert self.failures(CONSOLE.format("...\ntwo")) == []
        assert len(self.failures(CONSOLE.format("...\nthree"))) == 1

    def test_times_may_differ_and_other_numbers_not(self) -> None:
        page = "```console\n$ echo {}\n{}\n```"
        assert self.failures(page.format("0.31 s, 72k rows/s", "1.07 s, 9.1k rows/s")) == []
        assert len(self.failures(page.format("31 rows", "32 rows"))) == 1

    def test_a_command_that_fails_is_noticed(self) -> None:
        assert len(self.failures("```console\n$ false\n```")) == 1
        assert self.failures("<!-- fails -->\n```console\n$ false\n```") == []
        assert len(self.failures("<!-- fails -->\n```console\n$ true\n```")) == 1
        assert len(self.failures("```sh\nfalse\ntrue\n```")) == 1

    def test_a_shell_that_ends_early_is_noticed(self) -> None:
        assert len(self.failures("```console\n$ exit 0\n$ echo never\nnever\n```")) == 1

    def test_files_of_earlier_blocks_are_there(self) -> None:
        file_block = "```awk\n# list.awk\nBEGIN { print 7 }\n```"
        assert self.failures(file_block + "\n\n```console\n$ awk -f list.awk\n7\n```") == []

    def test_what_is_not_run_needs_a_reason(self) -> None:
        assert self.failures("<!-- not run: a cluster -->\n```sh\nfalse\n```") == []
        assert len(self.failures("<!-- not run: -->\n```sh\nfalse\n```")) == 1
        assert len(self.failures("<!-- not run: above -->\nText.\n\n```sh\nfalse\n```")) == 1

    def test_what_installs_is_never_run(self) -> None:
        assert len(self.failures("```sh\nsudo true\n```")) == 1
        assert self.run_of_page.count == 0

    def test_commands_do_not_hide_in_plain_blocks(self) -> None:
        assert len(self.failures("```\n$ rm -rf everything\n```")) == 1
        assert len(self.failures("```ruby\nputs 1\n```")) == 1

    def test_bad_json_and_c_fail(self) -> None:
        assert len(self.failures('```json\n{"a":}\n```')) == 1
        assert len(self.failures("```c\nint f(void) { return g; }\n```")) == 1
        assert self.failures("<!-- c\nint g;\n-->\n```c\nint f(void) { return g; }\n```") == []
        assert self.failures("<!-- c\nint f(int g)\n{\n...\n}\n-->\n```c\nreturn g;\n```") == []

    def test_python_goes_on_and_its_output_is_compared(self) -> None:
        page = (
            "```python\nx = 1\nprint('first')\n```\n\n```python\nprint(x + 1)\n```\n\n<!-- output -->\n```text\n{}\n```"
        )
        assert self.failures(page.format("2"), python=sys.executable) == []
        assert len(self.failures(page.format("3"), python=sys.executable)) == 1

    def test_python_without_a_module_is_left_out(self) -> None:
        page = "<!-- needs: no_such_module -->\n```python\nimport no_such_module\n```"
        assert self.failures(page, python=sys.executable) == []
        assert len(self.run_of_page.left_out) == 1

    def test_accept_writes_what_was_printed_and_keeps_times(self) -> None:
        assert self.failures("```console\n$ printf '1 s\\n7\\n'\n2 s\n8\n```", accept=True) == []
        assert "1 s\n7\n" in self.path.read_text()
        assert self.failures("```console\n$ printf '1 s\\n7\\n'\n2 s\n7\n```", accept=True) == []
        assert "2 s\n7\n" in self.path.read_text()

    def test_a_program_that_is_not_here_is_told(self) -> None:
        assert self.failures("<!-- needs: no-such-program -->\n```sh\nfalse\n```") == []
        assert len(self.run_of_page.left_out) == 1


class SitesThatAreWrong(unittest.TestCase):
    def wrong(self, **pages: str) -> list[str]:
        with tempfile.TemporaryDirectory() as name:
            for page, text in pages.items():
                (pathlib.Path(name) / f"{page}.html").write_text(text)
            return site_check.check(pathlib.Path(name))[0]

    def test_links_to_pages_and_places_pass(self) -> None:
        assert self.wrong(a='<a href="b.html#here">b</a>', b='<p id="here">') == []

    def test_a_page_that_is_not_there_is_noticed(self) -> None:
        assert len(self.wrong(a='<a href="b.html">b</a>')) == 1
        assert len(self.wrong(a='<img src="b.png">')) == 1

    def test_a_place_that_is_not_there_is_noticed(self) -> None:
        assert len(self.wrong(a='<a href="b.html#there">b</a>', b='<p id="here">')) == 1
        assert len(self.wrong(a='<a href="#there">a</a>')) == 1

    def test_what_comes_from_elsewhere_is_noticed(self) -> None:
        assert self.wrong(a='<a href="https://example.org/">a link is not loaded</a>') == []
        for text in (
            '<script src="https://example.org/x.js"></script>',
            '<link rel="stylesheet" href="//example.org/x.css">',
            "<style>@import 'https://example.org/x.css'</style>",
        ):
            assert len(self.wrong(a=text)) == 1, text


if __name__ == "__main__":
    unittest.main()
