# completion.fish MANUAL CASES: "number word" for what fish proposes after each line.
source $argv[1]/greedystep.fish
set -l n 0
while read -l case
    set n (math $n + 1)
    for word in (complete -C (string replace -r '\|.*' '' -- $case) | string replace -r '\t.*' '')
        echo $n $word
    end
end < $argv[2]
true
