"""What the site has beyond the Markdown of docs/, and where links out of docs/ go.

Pages of the repository's root and of examples/ are pages of the site. Other files that a page links to (a program, a
header) become pages with their text, below source/. The references of the command and of the C library come from a
build, which the environment variable GREEDYSTEP_BUILD names: BUILD/manual/commands and BUILD/api.
"""

from __future__ import annotations

import os
import pathlib
import posixpath
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIED = [
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "examples/README.md",
    "examples/python/README.md",
]
LOADED = [f"examples/browser/{name}" for name in ("flights.wasm", "form.css", "form.js", "greedystep.js")]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
COMMENT = re.compile(r"^<!--.*?-->\n", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"<code>([^<]+)</code>")
LONGEST_WORD = 30
LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".cpp": "cpp",
    ".py": "python",
    ".sh": "sh",
    ".sbatch": "sh",
    ".js": "js",
    ".yaml": "yaml",
}


def repository_path(uri: str) -> str:
    """Where a page of the site stands in the repository."""
    return uri if uri in COPIED else f"docs/{uri}"


def site_uri(path: str) -> str:
    """Where a file of the repository stands in the site."""
    if path == "README.md":
        return "index.md"
    if path in COPIED:
        return path
    return path[len("docs/") :] if path.startswith("docs/") else f"source/{path}.md"


def target_of(uri: str, link: str) -> str | None:
    """The file of the repository that a link of a page means; None if it means none."""
    if "://" in link or link.startswith(("#", "mailto:")):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(repository_path(uri)), link.partition("#")[0]))


def outside_fences(markdown: str) -> list[tuple[bool, str]]:
    """The parts of a page, and whether each is text (not code between fences), in which links may go over lines."""
    parts: list[tuple[bool, str]] = []
    fence = False
    for line in markdown.splitlines(keepends=True):
        marks = line.lstrip().startswith("```")
        text = not fence and not marks
        if text and parts and parts[-1][0]:
            parts[-1] = (True, parts[-1][1] + line)
        else:
            parts.append((text, line))
        fence ^= marks
    return parts


def linked_files(uri: str, markdown: str) -> set[str]:
    """Files outside of docs/ that a page links to."""
    targets = {
        target_of(uri, match[3]) for text, part in outside_fences(markdown) if text for match in LINK.finditer(part)
    }
    return {path for path in targets if path and site_uri(path).startswith("source/") and (ROOT / path).is_file()}


def source_page(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    language = LANGUAGES.get(pathlib.Path(path).suffix, "make" if path.endswith("Makefile") else "text")
    return f"# {path}\n\n````{language}\n{text}````\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The references are in the navigation if the build has them."""
    reference = next(section["Reference"] for section in config.nav or [] if "Reference" in section)
    if (build_folder() / "api" / "index.html").is_file():
        reference.insert(1, {"The C library": "api/index.html"})
    verbs = [{path.stem: f"commands/{path.name}"} for path in command_pages() if path.stem != "index"]
    if verbs:
        reference[0] = {"Commands": [{"All verbs": "commands/index.md"}, *verbs]}
    return config


def build_folder() -> pathlib.Path:
    return pathlib.Path(os.environ.get("GREEDYSTEP_BUILD", "/nonexistent"))


def command_pages() -> list[pathlib.Path]:
    return sorted((build_folder() / "manual" / "commands").glob("*.md"))


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    for path in COPIED + LOADED:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    add_commands(files, config)
    for path in sorted((build_folder() / "api").rglob("*")):
        if path.is_file():
            uri = f"api/{path.relative_to(build_folder() / 'api').as_posix()}"
            files.append(File.generated(config, uri, abs_src_path=str(path), inclusion=InclusionLevel.INCLUDED))
    linked: set[str] = set()
    for file in files.documentation_pages():
        linked |= linked_files(file.src_uri, file.content_string)
    for path in sorted(linked):
        files.append(File.generated(config, site_uri(path), content=source_page(path)))
    return files


def add_commands(files: Files, config: MkDocsConfig) -> None:
    pages = command_pages()
    for path in pages:
        files.append(File.generated(config, f"commands/{path.name}", abs_src_path=str(path)))
    if not pages:
        text = "# Commands\n\nThis site was made without a build: see `greedystep help COMMAND`.\n"
        files.append(File.generated(config, "commands/index.md", content=text))


def on_page_content(html: str, **_: object) -> str:
    """Short words of code within a line, each in a span that does not break at its hyphens."""

    def words(code: re.Match[str]) -> str:
        if "\n" in code[1]:
            return code[0]
        spans = (f"<span>{word}</span>" if len(word) <= LONGEST_WORD else word for word in code[1].split(" "))
        return f"<code>{' '.join(spans)}</code>"

    return CODE.sub(words, html)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    del config
    uri = page.file.src_uri
    if uri.startswith("source/"):
        return markdown

    def rewritten(match: re.Match[str]) -> str:
        path = target_of(uri, match[3])
        if path is None or match[1]:
            return match[0]
        if not (ROOT / path).exists() and not files.get_file_from_path(site_uri(path)):
            raise PluginError(f"{repository_path(uri)}: there is no {path}")
        if (ROOT / path).is_dir():
            return match[2]
        fragment = "" if path == "README.md" else match[3].partition("#")[2]
        there = posixpath.relpath(site_uri(path), posixpath.dirname(uri))
        return f"[{match[2]}]({there}{'#' * bool(fragment)}{fragment})"

    markdown = COMMENT.sub("", markdown)
    return "".join(LINK.sub(rewritten, part) if text else part for text, part in outside_fences(markdown))
