# Arrays of NumPy with labels beside them: the model is that of the same rows as text, and what does not fit is said.
. "$PRELUDE"

# npy TYPE SHAPE ITEMS: an array of version 1, its items as printf has them.
npy()
{
    header="{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"
    printf '\223NUMPY\001\000'
    # shellcheck disable=SC2059
    printf "$(printf '\\%03o\\000' "${#header}")%s$3" "$header"
}

rows='\001\002\377\003\000\002\376\001\002\003\375\001\004\002\001\377\003\002\001\001'
npy '|i1' '10, 2' "$rows" >x.npy
npy '|i1' '4, 2' '\001\002\377\003\000\002\376\001' >a.npy
npy '|i1' '6, 2' '\002\003\375\001\004\002\001\377\003\002\001\001' >b.npy
npy '|b1' '10,' '\001\000\000\000\001\000\001\001\001\000' >y.npy
npy '|b1' '4,' '\001\000\000\000' >ya.npy
npy '|S3' '6,' 'yesno\000yesyesyesno\000' >words.npy
printf '1 1:1 2:2\n0 1:-1 2:3\n0 2:2\n0 1:-2 2:1\n1 1:2 2:3\n0 1:-3 2:1\n1 1:4 2:2\n1 1:1 2:-1\n1 1:3 2:2\n0 1:1 2:1\n' >x.svm

try greedystep train x.npy --labels y.npy --quiet -o array
try greedystep train x.svm --quiet -o text
try cmp array text
try greedystep convert x.npy --labels y.npy --quiet -o x.gsac
try greedystep train x.gsac --quiet -o cache
try cmp cache text
try greedystep train b.npy --labels words.npy --quiet -o words
try greedystep predict words a.npy
try greedystep evaluate array x.npy --labels y.npy
try greedystep train x.npy -o m
try greedystep train x.npy --labels ya.npy -o m
try greedystep train a.npy b.npy --labels ya.npy,y.npy -o m
try greedystep train a.npy b.npy --labels ya.npy -o m
try greedystep train x.svm --labels y.npy -o m
try greedystep train x.npy --labels x.npy -o m
try greedystep train x.npy --labels x.svm -o m
try greedystep train x.npy --label 1 -o m
head -c 70 x.npy >cut.npy
try greedystep predict array cut.npy
