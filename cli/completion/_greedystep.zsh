#compdef greedystep
# Completion for greedystep in zsh.

# Per line: a verb (- none), a word that can follow it, the kind of its value, the values, and what it is for.
typeset -g _greedystep_table='@TABLE@'

_greedystep_files() {
    _files -g '^*.state'
}

# The words that can follow a verb, with what they are for.
_greedystep_words() {
    local where word kind values text
    local -a found
    while IFS=$'\t' read -r where word kind values text; do
        [[ $where != $1 || $word == -* ]] || found+=("$word:$text")
    done <<< $_greedystep_table
    _describe -t verbs verb found
}

# The last of a list with commas.
_greedystep_methods() {
    local -a methods=(${(s:|:)1})
    compset -P '*,'
    compadd -S '' -a methods
}

_greedystep_of() {
    local where word kind values text
    local -a specs
    while IFS=$'\t' read -r where word kind values text; do
        [[ $where == $1 ]] || continue
        text=${${${text//\[/\\[}//\]/\\]}//:/\\:}
        case $kind in
        none) values= ;;
        any) values=":value: " ;;
        choice) values=":choice:(${values//|/ })" ;;
        methods) values=":methods:{_greedystep_methods '$values'}" ;;
        model) values=":file:_greedystep_files" ;;
        file) values=":file:_files" ;;
        folder) values=":folder:_directories" ;;
        esac
        case $word in
        \*) specs+=("*$values") ;;
        --*) specs+=("$word${${kind:#none}:+=}[$text]$values") ;;
        *) specs+=("$word${${kind:#none}:++}[$text]$values") ;;
        esac
    done <<< $_greedystep_table
    ((! $#specs)) || _arguments $specs
}

_greedystep() {
    local curcontext=$curcontext state line
    _arguments -C '(- : *)'{-h,--help}'[list the verbs]' '(- : *)'{-V,--version}'[print the version]' \
        '1:verb: _greedystep_words -' '*::argument:->argument' && return
    [[ $state == argument ]] || return
    curcontext=${curcontext%:*}-$line[1]:
    if [[ $line[1] == help ]]; then
        _arguments '1:verb: _greedystep_words help'
    else
        _greedystep_of $line[1]
    fi
}

_greedystep "$@"
