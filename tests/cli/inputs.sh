# Several files, standard input and every codec of this build are the same rows.
. "$PRELUDE"
greedystep generate --rows 3000 --features 100 --nnz 10 -o data.svm
head -n 1000 data.svm >1.svm
sed -n 1001,1500p data.svm >2.svm
tail -n 1500 data.svm >3.svm
greedystep train data.svm -o whole --order file --passes 1 --quiet >log || fail whole
greedystep train 1.svm 2.svm 3.svm -o parts --order file --passes 1 --quiet >log || fail parts
same whole parts
same whole.state parts.state
cat data.svm | greedystep train - -o stdin --order file --quiet >log || fail stdin
same whole stdin
same whole.state stdin.state
greedystep train data.svm -o shuffled --passes 1 --quiet >log || fail shuffled
different whole shuffled
try greedystep train - data.svm -o never

for codec in gzip zstd xz bzip2; do
    if ! greedystep --version | grep "^$codec " | grep -qv ' no$'; then
        echo "SKIPPED: this build has no $codec" >&2
        continue
    fi
    command -v $codec >/dev/null || { echo "SKIPPED: there is no command $codec" >&2; continue; }
    $codec -c <data.svm >data.packed
    greedystep train data.packed -o $codec --order file --passes 1 --quiet >log || fail $codec
    same whole $codec
    greedystep train - <data.packed -o $codec --order file --quiet >log || fail "$codec from stdin"
    same whole $codec
    head -c 2000 data.packed >cut.packed
    greedystep train cut.packed -o never --quiet >log 2>&1 && fail "$codec: a truncated file"
    echo "$codec: a truncated file is refused"
done

echo "predictions do not depend on how the rows arrive"
greedystep predict whole data.svm >a
cat data.svm | greedystep predict whole - >b
greedystep predict whole 1.svm 2.svm 3.svm -o c
same a b
same a c
try greedystep evaluate whole 1.svm 2.svm 3.svm
