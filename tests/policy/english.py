#!/usr/bin/env python3
"""english.py SOURCE_DIR [--accept | --commit FILE]: the mechanical part of the project's English, as a test.

Looks for the words that english.txt retires, and for sentences that begin with Of, What or Who, in pages, in comments
of public headers, in help texts and messages of C, and in docstrings. Code, headings and the change log are left out.
Comments inside the library and the command are held to two rules: they begin with a subject or a verb, and avoid "is
none", "is no X" and "so many".
english_known.txt has how many findings a file had when this test was written: a file may not have more. --accept
writes the list again, which should only become shorter; --commit checks the message of a commit.
"""

import functools
import io
import re
import sys
import tokenize
from pathlib import Path

HERE = Path(__file__).resolve().parent
KNOWN = HERE / "english_known.txt"
PAGES = ("*.md", "docs/*.md", ".github/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*.md")
LEFT_OUT = ("CHANGELOG.md",)
SENTENCE = re.compile(r"(?:^|(?<=[.!:] )|(?<=\| ))(?:Of|What|Whatever|Who|Whoever|Whose) (?![^.|]*\?)[^.|]{0,40}")

INSIDE = re.compile(
    r"/\*+\s*(?:Of|What|Whatever|Who|Whose|Where|Whether)\b|\b(?:(?:is|are|was) none|(?:is|are) no [a-z]+|so many)\b"
)


@functools.cache
def rules() -> list[tuple[re.Pattern, str]]:
    """Return the patterns of english.txt with the words to use."""
    lines = [line for line in (HERE / "english.txt").read_text().splitlines() if line and line[0] != "#"]
    pairs = [re.split(r"  +", line, maxsplit=1) for line in lines]
    return [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), better) for pattern, better in pairs]


def blanked(found: re.Match) -> str:
    """Return the line breaks of a match, so that lines keep their numbers."""
    return "\n" * found.group().count("\n") or " "


def page_text(text: str) -> str:
    """Return a Markdown page without comments, code and addresses."""
    for pattern in (r"(?m)^#[^\n]*", r"<!--.*?-->", r"(?ms)^ *```.*?^ *```$", r"`[^`\n]*`", r"\]\([^)\n]*\)"):
        text = re.sub(pattern, blanked, text, flags=re.DOTALL)
    return text


def kept(text: str, pattern: str) -> str:
    """Return what matches, where it stands; the rest is blank."""
    result, end = [], 0
    for found in re.finditer(pattern, text, flags=re.DOTALL):
        result += ["\n" * text.count("\n", end, found.start()), found.group()]
        end = found.end()
    return "".join(result)


def python_text(text: str) -> str:
    """Return strings of more than one word."""
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and " " in token.string:
            for number, line in enumerate(token.string.splitlines(), token.start[0] - 1):
                lines[number] += re.sub(r"`[^`]*`", " ", line)
    return "\n".join(lines)


def readable(path: Path) -> str:
    """Return what people read of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return python_text(text)
    if path.suffix == ".md":
        return page_text(text)
    comment, literal = r"/\*.*?\*/", r'"(?:[^"\\\n]|\\.)*"'
    return kept(text, comment if path.suffix == ".h" else literal)


def findings(text: str) -> list[tuple[int, str, str]]:
    """Return line, words and what is better."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        found += [(number, match.group(), better) for rule, better in rules() for match in rule.finditer(line)]
        for match in SENTENCE.finditer(line.strip(' */#-|"')):
            found.append((number, match.group(), "begin with the subject"))
    return found


def findings_inside(text: str) -> list[tuple[int, str, str]]:
    """Return the same of the comments inside a C file, each of which may go over several lines."""
    found = []
    for comment in re.finditer(r"/\*.*?\*/", text, flags=re.DOTALL):
        line = " ".join(comment.group().replace("\n *", " ").split())
        number = text.count("\n", 0, comment.start()) + 1
        found += [(number, match.group(), "say it plainly") for match in INSIDE.finditer(line)]
    return found


def files(source: Path) -> list[Path]:
    """Return the files that people read, as far as git knows them."""
    code = ("src/**/*.c", "src/**/*.def", "cli/*.c", "compare/**/*.c", "python/greedystep/**/*.py")
    names = [*PAGES, "include/*/*.h", *code]
    found = sorted({path for name in names for path in source.glob(name)})
    return [path for path in found if not str(path.relative_to(source)).startswith(LEFT_OUT)]


def commit(text: str) -> list[str]:
    """Return what is wrong with the message of a commit."""
    subject = text.partition("\n")[0]
    wrong = [f"{words!r}: {better}" for _, words, better in findings(text) if not text.startswith("Merge")]
    if len(subject) > 60:
        wrong.append(f"the subject has {len(subject)} characters, and may have 60")
    if not re.match(r"[a-z][\w, ./+-]*: [^A-Z ]|Merge |Revert ", subject):
        wrong.append("the subject is not 'area: imperative'")
    return wrong


def known() -> dict[str, int]:
    """Return how many findings each file may have."""
    lines = (line.split() for line in KNOWN.read_text().splitlines())
    return {name: int(count) for count, name in lines}


def main() -> int:
    """Print the findings of files that have more than they may have; return 1 if there are any."""
    source = Path(sys.argv[1])
    if sys.argv[2:3] == ["--commit"]:
        wrong = commit(Path(sys.argv[3]).read_text())
        print("\n".join(wrong))
        return bool(wrong)
    found = {str(path.relative_to(source)): findings(readable(path)) for path in files(source)}
    for path in (path for folder in ("src", "cli", "compare") for path in sorted((source / folder).rglob("*.[ch]"))):
        found.setdefault(str(path.relative_to(source)), []).extend(findings_inside(path.read_text(encoding="utf-8")))
    if sys.argv[2:3] == ["--accept"]:
        KNOWN.write_text("".join(f"{len(each)} {name}\n" for name, each in found.items() if each))
    allowed = known()
    more = {name: each for name, each in found.items() if len(each) > allowed.get(name, 0)}
    for name, each in more.items():
        print(f"{name} may have {allowed.get(name, 0)} findings and has {len(each)}:")
        for number, words, better in each:
            print(f"  {name}:{number}: {words.strip()!r}; better: {better}")
    print(f"{sum(len(each) for each in found.values())} findings in {len(found)} files, {sum(allowed.values())} known")
    return bool(more)


if __name__ == "__main__":
    sys.exit(main())
