#!/bin/sh
# The static command (scripts/tarball) where nothing else is: the shell of README and tutorial runs outside, and each call of the command in
# a chroot that has the command and their files: no libc, no loader, no /proc. What it writes is compared with
# what another build of the command writes, if one is given.
# usage: tarball.sh TARBALL [COMMAND]      of another machine: EMULATOR=qemu-aarch64 tarball.sh ...
. "$(dirname "$0")/prelude.sh"
mkdir "$work/tarball" "$work/root"
tar -C "$work/tarball" -xzf "$1"
command=$(echo "$work"/tarball/*/bin/greedystep)
! readelf -lW "$command" | grep -q INTERP || {
    echo "$command needs a loader"
    exit 1
}
for file in LICENSE NOTICE licences/jansson licences/musl licences/xz licences/zlib licences/zstd share/man/man1/greedystep.1; do
    [ -s "$(dirname "$command")/../$file" ] || {
        echo "the tarball has no $file"
        exit 1
    }
done
if [ -n "${2-}" ]; then
    sh "$source/tests/real/same_bytes.sh" --rows 1000 "$2" "${EMULATOR-} $command"
fi
if [ -n "${EMULATOR-}" ]; then
    exit 0
fi

mkdir "$work/bin"
cp "$command" "$work/root/greedystep"
printf '#!/bin/sh\nexec chroot %s /greedystep "$@"\n' "$work/root" > "$work/bin/greedystep"
chmod +x "$work/bin/greedystep"
pages > "$work/pages.sh"
start=$(seconds)
(cd "$work/root" && PATH=$work/bin:$PATH sh "$work/pages.sh") > "$work/pages.log" 2>&1 || {
    tail -n 40 "$work/pages.log"
    echo "README or tutorial failed"
    exit 1
}
echo "README and tutorial took $(since "$start") s in an empty chroot"
printf 'PAR1 and not much more PAR1' > "$work/root/rows.parquet"
"$work/bin/greedystep" train rows.parquet -o model 2>&1 | grep 'static build' || {
    echo "a static command must say why it reads no Parquet"
    exit 1
}
