#!/usr/bin/env python3
"""workflows.py SOURCE_DIR: what workflows run is pinned, and they may read only, unless one job says otherwise.

Actions have a commit, with their tag in a comment; images have a digest, the same one per tag in workflows, .ci and the
Dockerfile. Permissions at the top of a workflow are to read. A workflow for pull requests runs nothing privileged.
"""

import re
import sys
from pathlib import Path

IMAGE = re.compile(r"\b(debian:[0-9a-z.-]+)(@sha256:[0-9a-f]{64}\b)?")


def findings(name: str, text: str, digests: dict[str, str]) -> list[str]:
    """Return what is wrong with a file."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        used = re.match(r"[ -]*uses: *(.*)", line)
        if used and not re.match(r"\./|[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d", used[1]):
            found.append(f"{name}:{number}: an action without commit and tag: {used[1]}")
        for image, digest in IMAGE.findall(line):
            if not digest or digests.setdefault(image, digest) != digest:
                found.append(f"{name}:{number}: {image} without a digest, or with two")
    if name.endswith(".yml"):
        top = re.search(r"^permissions:(.*\n(?: .*\n)*)", text, re.MULTILINE)
        if not top or top[1].split("#")[0].strip() not in ("contents: read", "{}"):
            found.append(f"{name}: permissions at the top are not 'contents: read' alone")
        if re.search(r"^  pull_request", text, re.MULTILINE) and "--privileged" in text:
            found.append(f"{name}: pull requests would run something privileged")
    return found


def main() -> None:
    """Print what is wrong with the files, if anything is."""
    source = Path(sys.argv[1])
    workflows = sorted((source / ".github" / "workflows").iterdir())
    files = [*workflows, source / ".ci" / "run", source / ".ci" / "container", source / "Dockerfile"]
    digests: dict[str, str] = {}
    found = [one for file in files for one in findings(str(file.relative_to(source)), file.read_text(), digests)]
    bad = "on:\n  pull_request:\npermissions: write-all\n- uses: actions/checkout@v5\nimage: debian:12\noptions: --privileged\n"
    if len(findings("bad.yml", bad, {})) != 4:
        found.append("a workflow that breaks each rule is accepted")
    if found:
        sys.exit("\n".join(found))
    print(f"{len(workflows)} workflows, {len(digests)} images")


if __name__ == "__main__":
    main()
