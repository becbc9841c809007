# Where a result cannot go is found out before the work begins, and nothing is left behind.
. "$PRELUDE"
greedystep generate --rows 200 --features 20 --nnz 5 -o data.svm
mkdir directory
try greedystep train data.svm -o missing/m
try greedystep train data.svm -o directory
try greedystep train data.svm -o data.svm/m
try greedystep train data.svm -o data.svm
try greedystep train data.svm -o ./data.svm
ln -s data.svm link.svm
try greedystep train data.svm -o link.svm
cp data.svm m.state
try greedystep train m.state -o m
try greedystep train data.svm -o directory/m --test directory/m
rm m.state link.svm
try greedystep train data.svm -o directory/m
try greedystep predict directory/m data.svm -o missing/out
try greedystep predict directory/m data.svm -o directory
try greedystep generate --rows 5 -o missing/out
try greedystep predict directory/m data.svm -o /dev/null
cp data.svm target
ln -s target link
greedystep predict directory/m data.svm -o link || fail link
test -L link && greedystep predict directory/m data.svm >out
same target out
chmod 640 target # which a file that takes its place has too
greedystep predict directory/m data.svm -o target || fail target
ls -l target | cut -c 1-10
ls . directory

echo "models that are none"
try greedystep predict missing data.svm
try greedystep predict data.svm data.svm
try greedystep predict directory/m.state data.svm
head -c 300 directory/m >cut
try greedystep inspect cut
echo broken >directory/m.state
try greedystep inspect directory/m --top 1
try greedystep evaluate directory/m missing.svm

# Predictions never replace what they are made from.
cp data.svm kept.svm
cp directory/m kept.m
try greedystep predict directory/m data.svm -o data.svm
try greedystep predict directory/m data.svm -o directory/m
cmp -s data.svm kept.svm || fail "the data was overwritten"
cmp -s directory/m kept.m || fail "the model was overwritten"
