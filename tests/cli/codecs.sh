# Compressed files are the same rows, recognised by content; a truncated one is refused.
. "$PRELUDE"
for codec in gzip zstd xz bzip2; do
    greedystep --version | grep "^$codec " | grep -qv ' no$' || { echo "this build has no $codec"; exit 77; }
    command -v $codec >/dev/null || { echo "there is no command $codec"; exit 77; }
done
greedystep generate --rows 3000 --features 100 --nnz 10 -o data.svm
greedystep train data.svm --method paper -o whole --order file --passes 1 --quiet >log || fail whole
greedystep convert data.svm -o data.gsac >log || fail convert
for codec in gzip zstd xz bzip2; do
    $codec -c <data.gsac >cache.packed
    greedystep convert cache.packed -o unpacked.svm >log || fail "a cache in $codec"
    cmp data.svm unpacked.svm
    $codec -c <data.svm >data.packed
    greedystep train data.packed --method paper -o $codec --order file --passes 1 --quiet >log || fail $codec
    same whole $codec
    greedystep train - <data.packed --method paper -o $codec --order file --quiet >log || fail "$codec from stdin"
    same whole $codec
    head -c 2000 data.packed >cut.packed
    greedystep train cut.packed --method paper -o never --quiet >log 2>&1 && fail "$codec: a truncated file"
    echo "$codec: a truncated file is refused"
done
# Written by the name of the file, to be read by anybody.
for codec in gzip:gz zstd:zst; do
    packed=data.svm.${codec#*:}
    greedystep generate --rows 3000 --features 100 --nnz 10 -o $packed
    ${codec%:*} -dc $packed | cmp - data.svm
    greedystep convert $packed -o again.$packed --quiet >log || fail "$codec again"
    same $packed again.$packed
    greedystep convert $packed -o data.gsac.${codec#*:} --quiet >log || fail "a cache as $codec"
    ${codec%:*} -dc data.gsac.${codec#*:} | cmp - data.gsac
done
try greedystep generate -o never.svm.xz
absent never.svm.xz
exit 0
