#!/usr/bin/env python3
"""imports.py WHEEL...: what the programs and the library of a wheel ask of the system it is named after.

I1  They load nothing but what is part of that system.
I2  They ask for no newer version of it: symbols of glibc, the first macOS.
I3  The library exports the functions of tests/policy/abi.txt and nothing else.
I4  The licences of what is linked in are there, and the text of each.
"""

import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ABI = Path(__file__).resolve().parent.parent / "policy" / "abi.txt"
WINDOWS = r"(kernel32|advapi32|bcrypt|ntdll|psapi|shell32|user32|ws2_32|msvcrt|ucrtbase|api-ms-win-crt-.*)\.dll"
MAY_LOAD = {
    "manylinux": r"lib(c|m|pthread|dl|rt)\.so\.\d|ld-linux.*\.so\.\d",
    "musllinux": r"libc\.so|libc\.musl-.*",
    "macosx": r"/usr/lib/libSystem\.B\.dylib",
    "win": WINDOWS,
}
LICENCES = ["bzip2", "jansson", "xxHash", "xz", "zlib", "zstd"]


class Binary:
    """A program or library: what it loads, which versions it asks for, and what it exports."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.loads: set[str] = set()
        self.versions: set[tuple[int, ...]] = set()
        self.exports: set[str] = set()
        if content[:4] == b"\x7fELF":
            self.read_elf()
        elif content[:4] == b"\xcf\xfa\xed\xfe":
            self.read_macho()
        else:
            self.read_pe()

    def at(self, form: str, offset: int) -> tuple:
        """Return the numbers that are at an offset."""
        return struct.unpack_from("<" + form, self.content, offset)

    def text(self, offset: int) -> str:
        """Return the text at an offset, which a zero ends."""
        return self.content[offset : self.content.index(b"\0", offset)].decode()

    def read_elf(self) -> None:
        """Read the dynamic section, the versions that are needed, and the symbols."""
        start, size, n = self.at("Q", 40)[0], *self.at("HH", 58)
        sections = [self.at("IIQQQQIIQQ", start + i * size) for i in range(n)]
        for _, kind, _, _, begin, length, link, count, _, _ in sections:
            names = sections[link][4] if link < n else 0
            if kind == 6:
                entries = [self.at("QQ", at) for at in range(begin, begin + length, 16)]
                self.loads |= {self.text(names + value) for tag, value in entries if tag == 1}
            elif kind == 0x6FFFFFFE:
                self.read_versions(begin, count, names)
            elif kind == 11:
                for at in range(begin, begin + length, 24):
                    name, info, _, section = self.at("IBBH", at)
                    if section != 0 and info >> 4 in (1, 2):
                        self.exports.add(self.text(names + name))

    def read_versions(self, at: int, n_files: int, names: int) -> None:
        """Read the versions of glibc's symbols that an ELF file needs."""
        for _ in range(n_files):
            _, n_versions, _, first, step = self.at("HHIII", at)
            one = at + first
            for _ in range(n_versions):
                name, following = self.at("II", one + 8)
                self.versions.add(tuple(map(int, re.findall(r"\d+", self.text(names + name)))))
                one += following
            at += step

    def read_macho(self) -> None:
        """Read the commands for the loader of macOS."""
        at = 32
        for _ in range(self.at("I", 16)[0]):
            command, size = self.at("II", at)
            if command in (0x0C, 0x80000018, 0x8000001F):
                self.loads.add(self.text(at + self.at("I", at + 8)[0]))
            elif command == 0x32:
                version = self.at("I", at + 12)[0]
                self.versions.add((version >> 16, version >> 8 & 0xFF))
            elif command == 0x02:
                symbols, n, names = self.at("III", at + 8)
                for one in range(symbols, symbols + 16 * n, 16):
                    name, kind = self.at("IB", one)
                    if kind & 0xF1 == 0x01 and kind & 0x0E != 0:
                        self.exports.add(self.text(names + name).removeprefix("_"))
                self.exports -= {"__dso_handle", "_mh_dylib_header"}  # which are the linker's
            at += size

    def read_pe(self) -> None:
        """Read the tables of imports and exports of a program for Windows."""
        head = self.at("I", 60)[0]
        n, size = self.at("H", head + 6)[0], self.at("H", head + 20)[0]
        sections = [self.at("IIII", head + 24 + size + 40 * i + 8) for i in range(n)]

        def place(address: int) -> int:
            return next(raw + address - first for length, first, _, raw in sections if first <= address < first + length)

        exported, _, imported, _ = self.at("IIII", head + 24 + 112)
        entry = place(imported) if imported else len(self.content)
        while imported and self.at("I", entry + 12)[0]:
            self.loads.add(self.text(place(self.at("I", entry + 12)[0])).lower())
            entry += 20
        if exported:
            n_names, _, names = self.at("III", place(exported) + 24)
            self.exports = {self.text(place(self.at("I", place(names) + 4 * i)[0])) for i in range(n_names)}


def complaints(wheel: str) -> Iterator[str]:
    """Yield what is wrong with a wheel; print what its files load."""
    platform = max(Path(wheel).stem.split("-")[-1].split("."))  # manylinux_2_17 in place of manylinux2014
    system, *oldest = re.findall(r"^[a-z]+|\d+(?=_)", platform)[:3]
    functions = {line.split()[2] for line in ABI.read_text().splitlines() if re.match(r"function (?!mpi)", line)}
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    binaries = [name for name in names if re.search(r"/libgreedystep\.|/scripts/", name)]
    if len(binaries) != 3:
        yield f"{len(binaries)} programs and libraries in place of 3"
    for name in binaries:
        found, short = Binary(archive.read(name)), name.split("/")[-1]
        newest = max((version for version in found.versions), default=())
        print(f"{platform} {short}: {len(found.content)} bytes,", ".".join(map(str, newest)) or "no version,", *sorted(found.loads))
        for loaded in found.loads:
            if not re.fullmatch(MAY_LOAD[system], loaded):
                yield f"I1: {short} loads {loaded}"
        if system in ("manylinux", "macosx") and newest > tuple(map(int, oldest)):
            yield f"I2: {short} needs {newest}"
        if "libgreedystep" in short and found.exports != functions:
            yield f"I3: {short} exports otherwise: {sorted(found.exports ^ functions)[:5]}"
    for licence in LICENCES + (["musl"] if system == "musllinux" else []):
        if not any(name == f"greedystep/licences/{licence}" and archive.read(name) for name in names):
            yield f"I4: the licence of {licence} is missing"


def main() -> None:
    """Look at wheels; fail if one of them asks for more than its name says."""
    failed = False
    for wheel in sys.argv[1:]:
        for complaint in complaints(wheel):
            print(f"{Path(wheel).name}: {complaint}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
