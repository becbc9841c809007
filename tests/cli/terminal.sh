# On a terminal that can: colours, and one line of progress that is drawn over; never wider than the terminal.
# Everywhere else plain text. Names and labels of a file do not control the terminal.
. "$PRELUDE"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
unset NO_COLOR LANG LC_CTYPE
export TERM=xterm-256color LC_ALL=C.UTF-8
on_terminal()
{
    python3 "${PRELUDE%/*}/terminal.py" "$@"
}
greedystep generate --rows 20000 --features 100 --nnz 10 -o data.svm
train="greedystep train data.svm -o m --method paper --passes 40" # takes a while, on any machine

on_terminal 100 $train
cat screen
echo "NO_COLOR=1:         $(NO_COLOR=1 on_terminal 100 $train)"
echo "NO_COLOR empty:     $(NO_COLOR= on_terminal 100 $train)"
echo "TERM=dumb:          $(TERM=dumb on_terminal 100 $train)"
echo "no TERM:            $(unset TERM; on_terminal 100 $train)"
echo "--quiet:            $(on_terminal 100 $train --quiet)"
echo "pipes:              $(on_terminal 100 sh -c "$train 2>err | cat")"
for columns in 100 60 40 20 5; do
    echo "progress, $columns columns: $(on_terminal $columns sh -c "$train >out")"
done
echo "an error:           $(on_terminal 100 greedystep trian)"
cat screen
echo
echo "other verbs:        $(on_terminal 100 greedystep evaluate m data.svm), $(on_terminal 100 greedystep inspect m)"
$train >out 2>err
grep -c '^pass' err
greedystep generate --rows 40000 --features 2000 --nnz 30 --classes 10 -o more.svm # takes a while, too
echo "rows in memory: $(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${PRELUDE%/*} python3 -c 'import re, terminal
text, _ = terminal.run(100, ["greedystep", "train", "more.svm", "-o", "solved"])
print(re.sub("[0-9.]+", "N", re.search("penalty [^\r\033]*", text)[0]))')"
echo "a terminal is told the same words"
on_terminal 100 sh -c "$train 2>err" >log
sed 's/^time .*/time/' screen >shown
sed 's/^time .*/time/' out >piped
same shown piped

echo "names that would control a terminal"
escape=$(printf '\033]0;title\007\302\233')
{
    echo "a${escape}b,label"
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "$i,no"
        echo "word${escape},yes${escape}"
    done
} >names.csv
for verb in "train names.csv -o n" "inspect n" "inspect names.csv" "inspect nowhere$escape" "evaluate n names.csv" \
    "train names.csv -o n --ignore ?$escape"; do
    greedystep $verb >said 2>&1
    LC_ALL=C tr -d '\12\40-\176' <said | od -c | head -n 1
done
grep label said || greedystep inspect names.csv | grep 'yes'
