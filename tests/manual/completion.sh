#!/bin/sh
# completion.sh SHELL MANUAL: what a shell proposes for the lines of cases.txt (line|words), in a folder with some files.
# The shell itself completes: SHELL.zsh, .fish and .bash here print what it has for a line. Exit code 77: no such shell.
set -eu
shell=$1
here=$(cd "$(dirname "$0")" && pwd)
manual=$2
if ! command -v "$shell" > /dev/null; then
    echo "SKIPPED: $shell is not installed, so its completion is not tested"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME="$folder" LC_ALL=C.UTF-8 TERM=xterm # nobody's own configuration
mkdir -p "$folder/here/folder"
cd "$folder/here"
touch my.model my.model.state rows.svm

# The last piece of a value is what the shells disagree on: --name=a,b
words() {
    sed -e 's/^--[a-z-]*=//' -e 's/^.*,//' -e 's|/$||' | sort -u | paste -s -d ' '
}
n=0
failed=0
case $shell in
zsh) zsh -f "$here/completion.zsh" "$manual" "$here/cases.txt" > "$folder/all" ;;
*) "$shell" "$here/completion.$shell" "$manual" "$here/cases.txt" > "$folder/all" ;;
esac
while IFS='|' read -r line expected; do
    n=$((n + 1))
    found=$(sed -n "s/^$n //p" "$folder/all" | words)
    [ "$found" = "$expected" ] && continue
    echo "$shell: after \`$line\` expected: $expected; found: $found"
    failed=1
done < "$here/cases.txt"
[ $failed -eq 0 ] && echo "$shell completes all $n lines"
exit $failed
