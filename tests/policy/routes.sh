#!/bin/sh
# routes.sh SOURCE_DIR: the routes in docs/ARCHITECTURE.md go through files and functions that are there. In a step of a
# route the words in backticks are a file, and behind it names that it defines.
set -eu
cd "$1"
steps=$(awk '/^## Four walkthroughs/ { on = 1; next } /^## / { on = 0 } on && /^([0-9]+\.|   )/' docs/ARCHITECTURE.md)
words=$(printf '%s\n' "$steps" | grep -oE '`[^`]+`' | tr -d '`' | tr ' ' '_')
file=
n=0
for word in $words; do
    case $word in
    */*.*)
        file=$word
        [ -e "$file" ] || file=src/$word
        [ -e "$file" ] || { echo "there is no $word" && exit 1; }
        ;;
    *[!A-Za-z0-9_]*) ;;
    *)
        # A definition begins its line, or follows the words before it; a call is indented.
        grep -qE "^([a-z#(].*[ *]|PARAM\(|class )$word\b" "$file" || { echo "$file does not define $word" && exit 1; }
        n=$((n + 1))
        ;;
    esac
done
echo "routes of $n steps"
[ "$n" -gt 30 ]
