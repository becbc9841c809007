#!/bin/sh
# The image of the Dockerfile, built by buildah without a daemon and without a registry: its base is a Debian that debootstrap
# made. The command in it trains, evaluates and predicts on a mounted folder, as a user who is not root.
# usage: image.sh      GREEDYSTEP_CACHE: where the clean Debian is kept (build/cache)
. "$(dirname "$0")/prelude.sh"
command -v buildah > /dev/null || {
    echo "SKIPPED: buildah is not installed"
    exit 77
}
debian_base
unmount
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
store="--root $work/storage --runroot $work/run"
# shellcheck disable=SC2086 # a list of options
image() {
    buildah $store "$@"
}
container=$(image from scratch)
image add -q "$container" "$base" / > /dev/null
image commit -q "$container" greedystep-base > /dev/null
image rm "$container" > /dev/null
start=$(seconds)
image build -q --pull-never --network host --build-arg BASE=greedystep-base -t greedystep "$source" > "$work/log" 2>&1 || {
    tail -n 40 "$work/log"
    exit 1
}
echo "built in $(since "$start") s"
mkdir "$work/data"
chmod 777 "$work/data"
container=$(image from --pull-never greedystep)
run() {
    image run --user nobody -v "$work/data:/data" "$container" -- greedystep "$@"
}
run --version
run generate --rows 1000 -o rows.svm
run train rows.svm -o my.model
run evaluate my.model rows.svm
run predict my.model rows.svm > "$work/predictions"
[ "$(wc -l < "$work/predictions")" = 1000 ]
mounted=$(image mount "$container")
echo "the image has $(du -sm "$mounted" | cut -f1) MB, its base $(($(stat -c %s "$base") / 1000000)) MB"
image umount "$container" > /dev/null
