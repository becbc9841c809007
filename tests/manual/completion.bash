# completion.bash MANUAL CASES: "number word" for what bash proposes after each line. Stands in for readline, which splits
# the line, calls the function that `complete` names, and completes files where that asks for it.
source "$1/greedystep.bash"
function=$(complete -p greedystep | sed 's/.*-F \([^ ]*\).*/\1/')
compopt() { asked+=" $*"; }

n=0
while IFS= read -r case; do
    n=$((n + 1))
    line=${case%%|*}
    read -r -a COMP_WORDS <<< "$(sed 's/[=:]/ & /g' <<< "$line")"
    [[ $line != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    asked=
    "$function" greedystep
    typed=${COMP_WORDS[COMP_CWORD]}
    if ((${#COMPREPLY[@]} == 0)); then
        case $asked in
        *dirnames*) mapfile -t COMPREPLY < <(compgen -d -- "$typed") ;;
        *default*) mapfile -t COMPREPLY < <(compgen -f -- "$typed") ;;
        esac
    fi
    ((${#COMPREPLY[@]} == 0)) || printf "$n %s\n" "${COMPREPLY[@]}"
done < "$2"
