#!/usr/bin/env python3
"""packages.py SOURCE_DIR: recipes of packaging/ and the README for PyPI agree with the build, and name one address.

scripts/packages writes both for an address of this test; nothing is fetched.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ADDRESS = "https://example.org/some/greedystep"
# Packages of each library that the build looks for (cmake/dependencies.cmake), in conda, Homebrew, vcpkg and Debian.
LIBRARIES = {
    "jansson": ("jansson", "jansson", "jansson", "libjansson-dev"),
    "xxhash.h": ("xxhash", "xxhash", "xxhash", "libxxhash-dev"),
    "zlib": ("zlib", "zlib", "zlib", "zlib1g-dev"),
    "libzstd": ("zstd", "zstd", "zstd", "libzstd-dev"),
    "liblzma": ("liblzma-devel", "xz", "liblzma", "liblzma-dev"),
    "bzip2": ("bzip2", "bzip2", "bzip2", "libbz2-dev"),
}


def check(holds: bool, message: str) -> None:
    """Stop with a message if something does not hold."""
    if not holds:
        sys.exit(f"packages: {message}")


def packages(source: Path, *arguments: object, address: str = ADDRESS) -> None:
    """Run scripts/packages with an address."""
    command = [sys.executable, source / "scripts" / "packages", *arguments]
    subprocess.run(command, check=True, env={**os.environ, "GREEDYSTEP_ADDRESS": address})


def check_recipes(source: Path, folder: Path) -> None:
    """Compare filled recipes, the Dockerfile and Debian's control file with the build."""
    archive = folder / "archive"
    archive.write_bytes(b"some source")
    packages(source, "recipes", archive, folder)
    conda, formula, port, portfile = (
        (folder / path).read_text()
        for path in ("conda/recipe.yaml", "homebrew/greedystep.rb", "vcpkg/vcpkg.json", "vcpkg/portfile.cmake")
    )
    cmake, project = (source / "CMakeLists.txt").read_text(), (source / "pyproject.toml").read_text()
    citation = (source / "CITATION.cff").read_text()
    version = re.search(r'GSA_VERSION "(.*)"', (source / "include/greedystep/greedystep.h").read_text())[1]
    licence = re.search(r"^license: (.*)", citation, re.MULTILINE)[1]
    summary = re.search(r'DESCRIPTION "(.*)"', cmake)[1]
    download = f"{ADDRESS}/releases/download/v{version}/greedystep-{version}-source.tar.gz"
    for name, text in (("conda", conda), ("homebrew", formula), ("vcpkg", port + portfile)):
        digest = (hashlib.sha512 if name == "vcpkg" else hashlib.sha256)(b"some source").hexdigest()
        for value in (version, licence, summary, ADDRESS, download, digest):
            check(value in text, f"{name} lacks {value}")
        check(not re.search(r"@\w+@", text), f"{name} has a field that is not filled in")
        for option in re.findall(r"-D(GREEDYSTEP_\w+)=", text):
            known = option in cmake or option.removeprefix("GREEDYSTEP_") in cmake
            check(known, f"{name} sets {option}, which the build does not know")
        check("never published" in text, f"{name} does not say that it was never published")

    check(f'version: "{version}"' in conda and f'"version": "{version}"' in port, "a recipe has another version")
    minimum = re.search(r"cmake_minimum_required\(VERSION (.*)\)", cmake)[1]
    control = (source / "packaging/debian/control").read_text()
    check(f"cmake >={minimum}\n" in conda and f"cmake (>= {minimum})" in control, "another CMake is asked for")
    for name, least in re.findall(r'"(scikit-build-core|numpy|scipy)>=([\d.]+)"', project.partition("[project.opt")[0]):
        check(f"- {name} >={least}\n" in conda, f"conda lacks {name} >={least}")

    stated = (source / "cmake/dependencies.cmake").read_text()
    least = re.search(r"jansson>=([\d.]+)", stated)[1]
    check(f"- jansson >={least}\n" in conda and f"libjansson-dev (>= {least})" in control, "another jansson is asked for")
    used = re.findall(
        r"^(?:pkg_check_modules\(.* IMPORTED_TARGET|greedystep_codec\(\w+|find_path\(\w+) ([\w.-]+)",
        stated,
        re.MULTILINE,
    )
    check(sorted(used) == sorted(LIBRARIES), f"the build looks for {used}, this test knows {list(LIBRARIES)}")
    wanted = json.loads(port)
    features = [one for feature in wanted["features"].values() for one in feature["dependencies"]]
    vcpkg = [one if isinstance(one, str) else one["name"] for one in wanted["dependencies"]] + features
    docker = (source / "Dockerfile").read_text()
    for in_conda, in_homebrew, in_vcpkg, in_debian in LIBRARIES.values():
        check(re.search(rf"- {in_conda}( >=.*)?\n", conda), f"conda lacks {in_conda}")
        check(f'"{in_homebrew}"' in formula, f"Homebrew lacks {in_homebrew}")
        check(in_vcpkg in vcpkg, f"vcpkg lacks {in_vcpkg}")
        check(in_debian in control and in_debian in docker, f"Debian or the Dockerfile lacks {in_debian}")


def check_readme(source: Path, folder: Path) -> None:
    """Look for links that PyPI could not follow, and compare all else."""
    tree = folder / "tree"
    tree.mkdir()
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(source / name, tree)
    before = (tree / "README.md").read_text()
    packages(source, "readme", tree, address="https://greedystep.invalid")
    check((tree / "README.md").read_text() == before, "links are rewritten without an address")
    packages(source, "readme", tree)
    after = (tree / "README.md").read_text()
    relative = re.compile(
        r"\]\((?!https?://)[^)]*\)|(?:src|href)=[\"'](?!https?://)|^ {0,3}\[[^\]]+\]: +(?!https?://)", re.MULTILINE
    )
    check(not relative.search(after), f"a link of README.md stays relative: {relative.findall(after)}")
    check(len(relative.findall(before)) > 20, "README.md has hardly any link")
    back = re.sub(rf"{ADDRESS}/(?:blob|raw|tree)/v[\d.]+/", "", after)
    check(back == before, "README.md has changed in more than its links")
    check(
        f'[project.urls]\nHomepage = "{ADDRESS}"' in (tree / "pyproject.toml").read_text(),
        "pyproject.toml has no address",
    )


def main() -> None:
    """Check recipes and README in a temporary folder."""
    source = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        check_recipes(source, Path(folder))
        check_readme(source, Path(folder))


if __name__ == "__main__":
    main()
