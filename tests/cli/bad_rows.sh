# A row that cannot be read ends everything, with its place; or it is skipped and counted.
. "$PRELUDE"
greedystep generate --rows 100 --features 20 --nnz 5 -o good.svm
{ head -n 50 good.svm; echo '1 3:1 2:1'; echo '1 3:x'; tail -n 50 good.svm; } >bad.svm
greedystep train good.svm -o good --quiet >log || fail good
try greedystep train bad.svm -o bad
absent bad
try greedystep train bad.svm -o bad --bad-rows skip --passes 2
greedystep train good.svm -o good --quiet --passes 2 >log || fail good
same good bad
try greedystep evaluate bad bad.svm
try greedystep evaluate bad bad.svm --bad-rows skip
try greedystep evaluate bad bad.svm --bad-rows skip --json
try greedystep predict bad bad.svm -o out
absent out
greedystep predict bad bad.svm --bad-rows=skip -o skipped
count_lines skipped
try greedystep predict bad bad.svm --bad-rows=skip -o /dev/null
: >empty.svm
try greedystep train empty.svm -o empty
try greedystep train empty.svm empty.svm -o empty
try greedystep evaluate good empty.svm
try greedystep predict good empty.svm
printf '# only a comment\n\n' >comment.svm
try greedystep train comment.svm -o empty
try greedystep train missing.svm -o empty
try greedystep train good.svm missing.svm -o empty
ls

echo "what a row says does not hide what to do"
printf '1 1:1\n0 1:?\n' >asks.svm
try greedystep train asks.svm -o m
