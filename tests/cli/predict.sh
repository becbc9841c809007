# Predictions on several threads are those of one, come in the order of the rows, and come soon.
. "$PRELUDE"
greedystep generate --rows 20000 --features 1000 --nnz 5 --classes 3 -o three.svm
greedystep generate --rows 20000 --features 1000 --nnz 5 --classes 1 -o numbers.svm
greedystep generate --rows 20000 --features 1000 --nnz 5 -o two.gsac
for data in three.svm numbers.svm two.gsac; do
    greedystep train $data -o model --quiet --passes 1 --holdout none >log || fail train
    for threads in 1 2 8; do
        greedystep predict model $data --threads $threads -o $threads || fail predict
    done
    echo "$data: $(count_lines 1) lines"
    same 1 2
    same 1 8
done

echo "what is before a bad row is predicted"
greedystep convert two.gsac -o two.svm >log
{ head -n 10000 two.svm; echo '1 3:x'; head -n 10000 two.svm; } >bad.svm
head -n 10000 1 >before
for threads in 1 2 8; do
    greedystep predict model bad.svm --threads $threads >out 2>err
    echo "[exit $?]"
    same before out
done
cat err

echo "a line that is typed is answered before the next"
mkfifo questions
ask() # model, line, what comes before the first
{
    : >answers
    greedystep predict "$1" questions >answers &
    pid=$!
    exec 3>questions
    printf '%s' "$3" >&3
    for i in 1 2 3; do
        printf '%s\n' "$2" >&3
        wait_for answers "^[01] " || fail "no answer to line $i"
        until [ "$(count_lines answers)" -ge $i ]; do sleep 0.02; done
        echo "answers: $(count_lines answers)"
    done
    exec 3>&-
    wait $pid
    echo "[exit $?]"
}
ask model "1 1:1" ""
printf 'label,age,city\n%s\n' "$(printf '1,30,ulm\n0,50,rom\n%.0s' 1 2 3 4 5 6 7 8)" >people.csv
greedystep train people.csv -o people --quiet >log || fail people
ask people "40,rom" "age,city
"
printf '%s\n' "$(printf '1 |a x y\n0 |a z\n%.0s' 1 2 3 4 5 6 7 8)" >words.vw
greedystep train words.vw -o words --quiet >log || fail words
ask words "|a x" ""
try greedystep predict model two.svm --threads 257
try greedystep predict model model
try greedystep convert model -o rows.svm
