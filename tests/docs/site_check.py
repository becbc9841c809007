#!/usr/bin/env python3
"""The site that scripts/site built: every local link leads to a page and a place on it; nothing comes from elsewhere.

    site_check.py SITE [--external]      --external: list the links to other sites, which are not followed

Standard library only.
"""

from __future__ import annotations

import argparse
import html.parser
import pathlib
import posixpath
import re
import sys
import urllib.parse

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "preconnect", "modulepreload", "dns-prefetch", "manifest"}
FROM_ELSEWHERE = re.compile(r"(?:@import|url\()\s*['\"]?((?:https?:)?//[^'\")\s]+)")


class Document(html.parser.HTMLParser):
    """What a page has places for, links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.styles = ""
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag in ("a", "area") and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and LOADED_LINKS & set(given.get("rel", "").split()):
            self.loads.append(given.get("href", ""))
        if given.get(LOADS.get(tag, "")):
            self.loads.append(given[LOADS[tag]])
        self.in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.styles += data


def is_elsewhere(address: str) -> bool:
    return bool(re.match(r"([a-z][a-z+.-]*:)?//", address)) or address.startswith(("mailto:", "javascript:", "data:"))


def check(site: pathlib.Path) -> tuple[list[str], set[str]]:
    """What is wrong, and the links to other sites."""
    documents = {
        path.relative_to(site).as_posix(): Document(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    wrong, external = [], set()
    for name, document in documents.items():
        wrong += [f"{name}: loads {address}" for address in FROM_ELSEWHERE.findall(document.styles)]
        for address in document.loads:
            if is_elsewhere(address) and not address.startswith(("data:", "javascript:")):
                wrong.append(f"{name}: loads {address}")
        for address in document.links + document.loads:
            if is_elsewhere(address):
                external.add(address)
            else:
                wrong += check_local(site, documents, name, address)
    for path in sorted(site.rglob("*.css")):
        found = FROM_ELSEWHERE.findall(path.read_text(encoding="utf-8"))
        wrong += [f"{path.relative_to(site)}: loads {address}" for address in found]
    return wrong, {address for address in external if address.startswith("http")}


def check_local(site: pathlib.Path, documents: dict[str, Document], name: str, address: str) -> list[str]:
    path, _, place = urllib.parse.unquote(address).partition("#")
    path = path.partition("?")[0]
    base = "" if name == "404.html" else posixpath.dirname(name)
    target = posixpath.normpath(posixpath.join(base, path.lstrip("/"))) if path else name
    if (site / target).is_dir():
        target = posixpath.normpath(posixpath.join(target, "index.html"))
    if not (site / target).is_file():
        return [f"{name}: there is no {address}"]
    if place and target in documents and place not in documents[target].places:
        return [f"{name}: {target} has no place #{place}"]
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--external", action="store_true")
    arguments = parser.parse_args()
    wrong, external = check(arguments.site)
    for line in sorted(external) if arguments.external else []:
        print(line)
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    pages = sum(1 for _ in arguments.site.rglob("*.html"))
    print(f"{arguments.site}: {pages} pages, {len(wrong)} wrong, {len(external)} addresses elsewhere (not followed)")
    return 1 if wrong or pages == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
