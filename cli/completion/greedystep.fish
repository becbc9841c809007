# Completion for greedystep in fish.

# Per line: a verb (- none), a word that can follow it, the kind of its value, the values, and what it is for.
set -g __greedystep_table (string split \n -- '@TABLE@')

function __greedystep_complete
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    set -l option $before[-1]
    set -l prefix (string match -r -- '^--[^=]*=' $typed)
    if test -n "$prefix"
        set option (string trim -r -c = -- $prefix)
        set typed (string replace -- $prefix '' $typed)
    end
    set -l verb -
    test (count $before) -lt 2; or set verb $before[2]
    set -l files 0
    set -l words
    for line in $__greedystep_table
        set -l field (string split \t -- $line)
        test "$field[1]" = $verb; or continue
        if test $field[2] = '*'
            set files 1
        else if test $field[2] = $option -a $field[3] != none
            __greedystep_value $field[3] $field[4] "$typed" | string replace -r -- '^' "$prefix"
            return
        else
            set -a words $field[2]\t$field[5]
        end
    end
    if test $files = 1; and not string match -q -- '-*' "$typed"
        __greedystep_value model '' "$typed"
    else
        string match -- "$typed*" $words # by the beginning alone
    end
end

function __greedystep_value -a kind values typed
    switch $kind
        case choice
            string split '|' -- $values
        case methods
            set -l before (string match -r -- '.*,' $typed)
            string split '|' -- $values | string replace -r -- '^' "$before"
        case model
            __fish_complete_path $typed | string match -v -r '\.state(\t|$)'
        case file
            __fish_complete_path $typed
        case folder
            __fish_complete_directories $typed
    end
end

complete -c greedystep -f -k -a '(__greedystep_complete)'
