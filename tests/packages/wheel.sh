#!/bin/sh
# The wheel in a fresh environment of a clean Debian: pip installs it, the command that it brings follows README and tutorial, and
# Python trains to the same bytes.
# usage: wheel.sh WHEEL [SUITE]      SUITE: bookworm, or another release of Debian, with its glibc and its Python;
#                                    GREEDYSTEP_CACHE: where the clean Debian is kept (build/cache)
. "$(dirname "$0")/prelude.sh"
python3 -m zipfile -e "$1" "$work/wheel"
awk '$1 == "function" && $2 != "mpi" { print $3 }' "$source/tests/policy/abi.txt" | LC_ALL=C sort > "$work/exports"
sh "$source/tests/policy/symbols.sh" --list "$work/wheel/greedystep/libgreedystep.so" |
    diff "$work/exports" - > "$work/exports.diff" || {
    head "$work/exports.diff"
    echo "the wheel's library exports other names than its own"
    exit 1
}
debian_base "${2:-bookworm}"
mkdir "$work/root/wheel"
cp "$1" "$work/root/wheel"
inside apt-get update -q > /dev/null
inside apt-get install -q -y --no-install-recommends python3-venv > "$work/apt.log" 2>&1 || {
    cat "$work/apt.log"
    exit 1
}
# What it needs is fetched out here, where the network has been set up, for the Python in there.
version=$(inside python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python3 -m pip download -q --disable-pip-version-check -d "$work/root/wheel" --only-binary :all: --python-version "$version" numpy scipy
echo "${2:-bookworm}: Python $version, $(inside ldd --version | head -n 1)"
start=$(seconds)
inside sh -c 'python3 -m venv /venv && /venv/bin/pip install -q --no-index --find-links /wheel greedystep'
echo "installed in $(since "$start") s: $(basename "$1")"
follow_pages /venv/bin
inside sh -c 'cd /tutorial && /venv/bin/python -c "
import filecmp, greedystep
model = greedystep.train(\"winter.csv\", label=\"late\", ignore=[\"flight\"])
model.save(\"python.model\")
assert filecmp.cmp(\"python.model\", \"winter.model\", shallow=False)
"'
echo "the wheel's Python writes the bytes that the command wrote"
