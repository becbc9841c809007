# Streams that are closed do not let messages into results, and a limit of the size of files is an error like others.
. "$PRELUDE"
greedystep generate --rows 30000 --features 20 --nnz 5 -o data.svm
{ cat data.svm; echo "1 a:b"; cat data.svm; } >bad.svm
greedystep train data.svm -o m --quiet --passes 1 >log || fail train
greedystep predict m - --bad-rows skip -o expected <bad.svm

greedystep predict m - --bad-rows skip -o out <bad.svm 2>&-
echo "without stderr: [exit $?]"
same out expected
greedystep predict m - --bad-rows skip -o out <bad.svm >&- 2>&-
echo "without both: [exit $?]"
same out expected
greedystep generate --rows 30000 --features 20 --nnz 5 -o again.svm 0<&- >&- 2>&-
echo "without all three: [exit $?]"
same again.svm data.svm
greedystep inspect m >&-
echo "[exit $?]"
greedystep predict m - <&-
echo "[exit $?]"

cp data.svm before
for verb in 'predict m data.svm' 'convert data.svm' 'generate --rows 30000'; do
    cp before out
    (ulimit -f 16 && greedystep $verb -o out)
    echo "[exit $?]"
    same out before
done
mv m old && mv m.state old.state
(ulimit -f 1 && greedystep merge old -o m 2>&1) | cat
rm -f log
ls -A
