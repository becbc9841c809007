#!/bin/sh
# complete.sh SOURCE BUILD: every verb has its pages, every option that the help shows is on them and in the completions, and
# greedystep(1) has every variable of the environment that the sources ask for. docs/command.md names every verb.
set -eu
source=$1
build=$2
manual=$build/manual
failed=0
tab=$(printf '\t')
lacks() {
    echo "$*"
    failed=1
}

# has FILE PATTERN WHAT
has() {
    grep -q -e "$2" "$1" || lacks "$(basename "$1") lacks $3"
}

verbs=$("$build/greedystep" help | sed -n '4,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$verbs" | wc -l)" -ge 9 ] || lacks "the overview shows few verbs: $verbs"
listed() {
    sed -n 's/^  \(-., \)\{0,1\}--\([a-z-]*\).*/\2/p'
}

# The options of readers are described once; a verb that has them names them.
data=$("$build/greedystep" help data | listed)
[ "$(echo "$data" | wc -l)" -ge 9 ] || lacks "help data shows few options: $data"
for option in $data; do
    has "$manual/commands/index.md" "^- \`--${option}[ \`]" "--$option"
    [ ! -f "$manual/man1/greedystep.1" ] || has "$manual/man1/greedystep.1" "^.fB--$option.fR" "--$option"
done
for verb in $verbs; do
    for option in $("$build/greedystep" help "$verb" | sed -n '/^Options for DATA/,/^$/p' | grep -o -e '--[a-z-]*'); do
        echo "$data" | grep -qx -e "${option#--}" || lacks "help data lacks $option of $verb"
        for shell in greedystep.bash _greedystep greedystep.fish; do
            has "$manual/$shell" "^\(.*'\)\{0,1\}$verb$tab$option$tab" "$option of $verb"
        done
    done
done

for verb in $verbs; do
    options=$("$build/greedystep" help "$verb" | listed)
    [ -n "$options" ] || lacks "the help of $verb shows no option"
    for option in $options; do
        has "$manual/commands/$verb.md" "^- \`\(-., \)\{0,1\}--${option}[ \`]" "--$option"
        for shell in greedystep.bash _greedystep greedystep.fish; do
            has "$manual/$shell" "^\(.*'\)\{0,1\}$verb$tab--$option$tab" "--$option of $verb"
        done
        [ ! -f "$manual/man1/greedystep.1" ] || # made without scdoc
            has "$manual/man1/greedystep-$verb.1" "^\\(.*, \\)\\{0,1\\}.fB--$option.fR" "--$option"
    done
    has "$manual/commands/index.md" "($verb.md)" "$verb"
    has "$source/docs/command.md" "^| \`$verb\` |" "$verb"
done

# Nothing is left of a verb that is no more.
for page in "$manual"/commands/*.md; do
    page=$(basename "$page" .md)
    [ "$page" = index ] || echo "$verbs" | grep -qx "$page" || lacks "there is a page of $page, which is no verb"
done

for variable in $(sed -n -e 's/.*\(getenv\|setting\)("\([A-Z_]*\)").*/\2/p' -e '/launchers\[\] = {/,/};/s/^ *{"\([A-Z_]*\)", "\([A-Z_]*\)".*/\1 \2/p' \
    "$source"/cli/*.c); do
    has "$manual/commands/index.md" "\`.*\b$variable\b.*\`" "$variable of the environment"
done
[ $failed -eq 0 ] && echo "pages and completions have all of $(echo "$verbs" | wc -l) verbs"
exit $failed
