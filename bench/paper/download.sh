#!/bin/sh
# Fetches the paper's data sets from the LIBSVM site. Needs a network, curl and xz; never run by CI.
# usage: download.sh [--all] [NAME ...]        without names: those that the data directory lacks
# Data: $GREEDYSTEP_DATA_DIR (default: ../shared/data beside the source tree). Interrupted downloads are resumed.
# What is fetched is unpacked, checked (sha256 of the unpacked text, where known) and kept as NAME.xz and NAME.t.xz.
set -eu
site=${LIBSVM_SITE:-https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets}
data=${GREEDYSTEP_DATA_DIR:-$(dirname "$0")/../../../shared/data}

# name, file on the site, sha256 of the unpacked text ("-": not known)
files='w1a binary/w1a 0ae2b1c40f6a99061d1c6f4a1f3b50eea58a2f3b8bf851a337c25c2a65a49d32
w1a.t binary/w1a.t c5e489a499286d69c8c2035cb04bc48e2ea1f73e56153c72cc50b29732a9316a
a9a binary/a9a f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906
a9a.t binary/a9a.t 1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9
breast-cancer_scale binary/breast-cancer_scale -
cod-rna binary/cod-rna 65b7cc0689fc29bba5db8b50fab0b6446d985f4bf8f6f5dd474f7df8b2f1ab6c
cod-rna.t binary/cod-rna.t 58cff16df896436b06343df78ccaef37a6979d819abbcadbec3cb16b93938df6
madelon binary/madelon -
madelon.t binary/madelon.t ae60251b63a46c6ace348b77749e79e25d4098d629d1dead2852c3d4daf1f8ea
gisette_scale binary/gisette_scale.bz2 -
gisette_scale.t binary/gisette_scale.t.bz2 -
url binary/url_combined.bz2 -
letter.scale multiclass/letter.scale ce2c7df15cc5742dc4382d59079181c97c21e0beaa0af53c84cc5745c69f1020
letter.scale.t multiclass/letter.scale.t 07522ccbf54187fae6d560d1712b88c41ea1f7e8d19491c5adcc22ee37a075da
dna.scale multiclass/dna.scale 03d39477c5e48415e9cd18e006efc8f7a3b5c3deaee8289a72511c35070e3cfe
dna.scale.t multiclass/dna.scale.t d2eeed170e4e38ae2aba6aa4cd27a8ca4ecceb01a7751e8e509bb4e1a6bcef39
usps multiclass/usps.bz2 -
usps.t multiclass/usps.t.bz2 3839faa29aa5f6bfa0516cdd599fae8ad59b7a3777d09f7ca971d9f1cd8b6c6b
protein multiclass/protein.bz2 -
protein.t multiclass/protein.t.bz2 -
news20.scale multiclass/news20.scale.bz2 -
news20.scale.t multiclass/news20.t.scale.bz2 -
sector.scale multiclass/sector/sector.scale.bz2 92d5752b798bb88466b7142b07fc370eea99b19366b84e82e430fb74ada4293f
sector.scale.t multiclass/sector/sector.t.scale.bz2 be2e76ff48816c832823ab593e70970c599acb16ae311578b7308c6a8496db1b
mnist.scale multiclass/mnist.scale.bz2 -
mnist.scale.t multiclass/mnist.scale.t.bz2 -
aloi.scale multiclass/aloi.scale.bz2 -
rcv1.multiclass multiclass/rcv1_train.multiclass.bz2 -
rcv1.multiclass.t multiclass/rcv1_test.multiclass.bz2 -'
# url_combined needs 2.2 GB unpacked, rcv1_test 0.6 GB.

all=no
if [ "${1:-}" = --all ]; then
    all=yes
    shift
fi
mkdir -p "$data"
if [ ! -w "$data" ]; then
    echo "$data cannot be written to: set GREEDYSTEP_DATA_DIR to a directory of your own" >&2
    exit 1
fi

# The site has moved some files from bz2 to xz: whatever comes is recognised by its first bytes.
unpack() {
    case $(head -c 6 "$1" | od -An -tx1 | tr -d ' \n') in
    425a68*) bzip2 -dc "$1" ;;
    fd377a585a00) xz -dc "$1" ;;
    1f8b*) gzip -dc "$1" ;;
    *) cat "$1" ;;
    esac
}

# Tries the names that the site may have; each has its own partial file, so that a resumed one is never mixed up.
fetch() {
    stem=${1%.bz2}
    [ -f "$2" ] && return 0
    for each in "$1" "$stem.xz" "$stem"; do
        partial="$2.$(basename "$each")"
        if curl --fail --location --silent --show-error --retry 3 --continue-at - --output "$partial" "$site/$each"; then
            mv "$partial" "$2"
            return 0
        elif [ -s "$partial" ]; then
            echo "interrupted: $site/$each; run this again to go on" >&2
            return 1
        fi
    done
    echo "none of $stem.bz2, .xz or the plain file could be fetched from $site" >&2
    return 1
}

echo "$files" | {
    failed=''
    while read -r name file sum; do
        case " $* " in "  ") ;; *" ${name%.t} "*) ;; *) continue ;; esac
        if [ "$all" = no ] && [ -f "$data/$name.xz" ]; then
            continue
        fi
        echo "$name"
        fetched="$data/$name.download"
        if ! fetch "$file" "$fetched" || ! unpack "$fetched" > "$data/$name.plain"; then
            failed="$failed $name"
            continue
        fi
        found=$(sha256sum "$data/$name.plain" | cut -d' ' -f1)
        if [ "$sum" != - ] && [ "$found" != "$sum" ]; then
            echo "$name: sha256 is $found, expected $sum; kept as $name.bad for a look" >&2
            rm "$data/$name.plain"
            mv "$fetched" "$data/$name.bad"
            failed="$failed $name"
            continue
        fi
        [ "$sum" = - ] && echo "$name: no checksum known; sha256 of the text is $found"
        xz -T0 -c "$data/$name.plain" > "$data/$name.xz.partial"
        mv "$data/$name.xz.partial" "$data/$name.xz"
        rm "$data/$name.plain" "$fetched"
    done
    if [ -n "$failed" ]; then
        echo "not fetched:$failed" >&2
        exit 1
    fi
}
