# What the tests of packages share. $source; $cache keeps what does not change between runs; $work goes at the end, and so
# does what was mounted in it.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
cache=${GREEDYSTEP_CACHE:-$source/build/cache}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
work=$(mktemp -d)
unmount() {
    ! mountpoint -q "$work/root/proc" 2> /dev/null || umount "$work/root/proc"
}
trap 'unmount; rm -rf "$work"' EXIT

[ "$(id -u)" = 0 ] || {
    echo "SKIPPED: chroot needs root"
    exit 77
}

seconds() {
    date +%s.%N
}

# since START: seconds with one digit
since() {
    awk -v from="$1" -v to="$(seconds)" 'BEGIN { printf "%.1f", to - from }'
}

# debian_base [SUITE]: a Debian that has nothing but apt, as a tar file that is made once.
debian_base() {
    base=$cache/debian-${1:-bookworm}-minbase.tar
    if [ ! -e "$base" ]; then
        debootstrap --variant=minbase "${1:-bookworm}" "$work/base" http://deb.debian.org/debian > "$work/debootstrap.log" 2>&1 || {
            cat "$work/debootstrap.log"
            exit 1
        }
        rm -rf "$work"/base/var/cache/apt/archives/*.deb
        tar -C "$work/base" -cf "$base.new" .
        mv "$base.new" "$base"
        rm -rf "$work/base"
    fi
    mkdir "$work/root"
    tar -C "$work/root" -xf "$base"
    cp /etc/resolv.conf "$work/root/etc/resolv.conf"
    mount -t proc proc "$work/root/proc"
}

# inside COMMAND...: in the chroot, as somebody who has just logged in
inside() {
    chroot "$work/root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

# pages: the commands of README and tutorial as a script for sh
pages() {
    for page in README.md docs/tutorial.md; do
        python3 "$source/tests/docs/run.py" --script "$source/$page"
    done
}

# follow_pages PATH: in the chroot, with the command that is found there first
follow_pages() {
    start=$(seconds)
    mkdir -p "$work/root/tutorial"
    pages > "$work/root/tutorial/pages.sh"
    inside sh -c "PATH=$1:\$PATH && cd /tutorial && sh pages.sh" > "$work/pages.log" 2>&1 || {
        tail -n 40 "$work/pages.log"
        echo "README or tutorial failed"
        exit 1
    }
    echo "README and tutorial took $(since "$start") s"
}
