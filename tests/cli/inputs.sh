# Several files and standard input are the same rows.
. "$PRELUDE"
greedystep generate --rows 3000 --features 100 --nnz 10 -o data.svm
head -n 1000 data.svm >1.svm
sed -n 1001,1500p data.svm >2.svm
tail -n 1500 data.svm >3.svm
greedystep train data.svm -o whole --method paper --order file --passes 1 --quiet >log || fail whole
greedystep train 1.svm 2.svm 3.svm -o parts --method paper --order file --passes 1 --quiet >log || fail parts
same whole parts
same whole.state parts.state
cat data.svm | greedystep train - -o stdin --method paper --order file --quiet >log || fail stdin
same whole stdin
same whole.state stdin.state
greedystep train data.svm -o shuffled --passes 1 --quiet >log || fail shuffled
different whole shuffled
try greedystep train - data.svm -o never
try greedystep train '?.svm' -o never
try_line "cat data.svm | greedystep train - -o never --passes 2 --quiet"
absent never

echo "predictions do not depend on how the rows arrive"
greedystep predict whole data.svm >a
cat data.svm | greedystep predict whole - >b
greedystep predict whole 1.svm 2.svm 3.svm -o c
same a b
same a c
try greedystep evaluate whole 1.svm 2.svm 3.svm
