#!/bin/sh
# pages.sh BUILD: man(1) and mandoc(1) have nothing to say against the pages, and no page has a line of source in it that
# should have been a macro.
set -eu
manual=$1/manual/man1
failed=0
checked=
if command -v mandoc > /dev/null; then
    checked="mandoc"
    # scdoc begins paragraphs that stay empty: warnings of that kind are its own.
    mandoc -T lint -W error "$manual"/*.1 || failed=1
fi
if command -v man > /dev/null && man --version | grep -q '^man '; then
    checked="$checked man"
    for page in "$manual"/*.1; do
        said=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$page" 2>&1 > /dev/null) || failed=1
        [ -z "$said" ] || { echo "$(basename "$page"): $said"; failed=1; }
    done
fi
if [ -z "$checked" ]; then
    echo "SKIPPED: neither man nor mandoc is here to look at the pages"
    exit 77
fi
[ $failed -eq 0 ] && echo "$(ls "$manual" | wc -l) pages, by: $checked"
exit $failed
