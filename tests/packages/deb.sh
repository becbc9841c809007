#!/bin/sh
# The packages of a folder (scripts/deb) in a clean Debian 12: lintian has nothing to say, apt installs each with what it
# needs, the tutorial runs with the installed command, a program is built against the library, Python trains, and purging
# leaves nothing behind.
# usage: deb.sh [--short] FOLDER      GREEDYSTEP_CACHE: where the clean Debian is kept (build/cache)
#   --short: without Python, whose scipy takes longer to install than everything else
. "$(dirname "$0")/prelude.sh"
short=no
[ "$1" != --short ] || { short=yes && shift; }
debs=$(cd "$1" && pwd)

lintian --pedantic --display-info --fail-on error,warning,info,pedantic "$debs"/*.changes
echo "lintian has nothing to say"

debian_base
mkdir "$work/root/debs" "$work/root/example"
cp "$debs"/*.deb "$work/root/debs"
cp "$source"/examples/c/minimal.c "$source"/examples/data/*.csv "$work/root/example"

# install PACKAGE...: those of ours by file, with what they need from the network; told how long it took
install() {
    start=$(seconds)
    inside apt-get install -q -y --no-install-recommends "$@" > "$work/apt.log" 2>&1 || {
        cat "$work/apt.log"
        exit 1
    }
    echo "installed in $(since "$start") s: $*"
}

inside apt-get update -q > /dev/null
inside dpkg-query -W -f '${Package}\n' | sort > "$work/before"
inside find / -xdev ! -path '/proc/*' ! -path '/var/*' ! -path '/debs/*' ! -type d | sort > "$work/files.before"

cd "$work/root/debs"
install "/debs/$(echo greedystep_*.deb)"
cd "$work"
inside greedystep --version
follow_pages /usr/bin

cd "$work/root/debs"
install "/debs/$(echo libgreedystep0_*.deb)" "/debs/$(echo libgreedystep-dev_*.deb)" gcc libc6-dev pkgconf
cd "$work"
# shellcheck disable=SC2016 # for the shell inside
inside sh -c 'cd /example && gcc -O2 -Wall minimal.c -o minimal $(pkg-config --cflags --libs greedystep) &&
    ldd minimal | grep -q "libgreedystep.so.0 => /" && ./minimal visits.csv my.model new.csv' > "$work/minimal.txt" 2>&1 &&
    diff "$source/examples/expected/minimal.txt" "$work/minimal.txt" || {
    cat "$work/minimal.txt"
    echo "a program cannot be built and run with libgreedystep-dev"
    exit 1
}
echo "a program was built with libgreedystep-dev and prints what it should"

if [ $short = no ]; then
    cd "$work/root/debs"
    install "/debs/$(echo python3-greedystep_*.deb)"
    cd "$work"
    inside sh -c 'cd /tutorial && python3 -c "
import filecmp, greedystep, numpy
model = greedystep.train(\"winter.csv\", label=\"late\", ignore=[\"flight\"])
model.save(\"python.model\")
assert filecmp.cmp(\"python.model\", \"winter.model\", shallow=False)
assert greedystep.__version__ == \"'"$("$source/scripts/version")"'\"
"'
    echo "python3-greedystep writes the bytes that the command wrote"
fi

inside dpkg-query -W -f '${Package}\n' | sort | comm -13 "$work/before" - > "$work/added"
# shellcheck disable=SC2046 # a list of packages
inside apt-get purge -q -y $(cat "$work/added") > "$work/apt.log" 2>&1 || {
    cat "$work/apt.log"
    exit 1
}
rm -rf "$work"/root/tutorial/* "$work"/root/example/*
inside find / -xdev ! -path '/proc/*' ! -path '/var/*' ! -path '/debs/*' ! -type d | sort > "$work/files.after"
if comm -13 "$work/files.before" "$work/files.after" | grep greedystep || inside dpkg -l '*greedystep*' 2> /dev/null | grep '^rc'; then
    echo "purged, and these stay"
    exit 1
fi
echo "nothing stays after purging"
