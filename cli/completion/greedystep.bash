# Completion for greedystep in bash.

# Per line: a verb (- none), a word that can follow it, the kind of its value, the values, and what it is for.
_greedystep_table='@TABLE@'

_greedystep() {
    local typed=${COMP_WORDS[COMP_CWORD]} verb=- at=$COMP_CWORD option list=
    local proposes=choice where word kind values text
    ((COMP_CWORD == 1)) || verb=${COMP_WORDS[1]}
    # --name=a:b comes in pieces, cut at = and :
    while ((at > 2)) && [[ ${COMP_WORDS[at]} == : || ${COMP_WORDS[at - 1]} == : ]]; do
        ((at--))
    done
    option=${COMP_WORDS[at - 1]}
    [[ $option != = ]] || option=${COMP_WORDS[at - 2]}
    [[ $typed != [:=] ]] || typed=
    while IFS=$'\t' read -r where word kind values text; do
        [[ $where == "$verb" ]] || continue
        if [[ $word == '*' && $typed != -* ]]; then
            proposes=$kind
        elif [[ $word == "$option" && $kind != none ]]; then
            proposes=$kind list=${values//|/ }
            break
        else
            list+="$word "
        fi
    done <<< "$_greedystep_table"
    COMPREPLY=()
    case $proposes in
    choice) mapfile -t COMPREPLY < <(compgen -W "$list" -- "$typed") ;;
    methods) # the last of a list with commas
        local before=
        [[ $typed != *,* ]] || before=${typed%,*},
        compopt -o nospace
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "$list" -- "${typed##*,}")
        ;;
    model) # any file that is no state
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -X '*.state' -- "$typed")
        ((${#COMPREPLY[@]} > 0)) || compopt -o default
        ;;
    file) compopt -o default ;;
    folder) compopt -o dirnames ;;
    esac
}

complete -F _greedystep greedystep
