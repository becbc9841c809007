# --json prints one object and nothing else on stdout.
. "$PRELUDE"
python=$(command -v python3) || python=
check()
{
    [ -z "$python" ] || "$python" -m json.tool "$1" >/dev/null || fail "$1 is not JSON"
    cat "$1"
}
greedystep generate --rows 2000 --features 50 --nnz 5 --classes 3 -o three.svm
greedystep generate --rows 2000 --features 50 --nnz 5 -o two.svm
greedystep generate --rows 2000 --features 50 --nnz 5 --classes 1 -o number.svm
greedystep train two.svm -o two --passes 2 --test two.svm --json --quiet >train.json || fail train
check train.json
for each in two three number; do
    greedystep train $each.svm -o $each --passes 1 --json --quiet >$each.json || fail train
    check $each.json
    greedystep evaluate $each $each.svm --json >$each.json || fail evaluate
    check $each.json
    greedystep inspect $each --top 2 --json >$each.json || fail inspect
    check $each.json
done
echo "the method that ran"
for method in auto optimum gsa paper; do
    greedystep train two.svm -o m --method $method --json --quiet | grep '"method"' || fail train
done
echo "only one class: the area under the curve is not defined"
grep '^1 ' two.svm >ones.svm
greedystep evaluate two ones.svm --json >ones.json || fail evaluate
check ones.json
try greedystep evaluate two ones.svm
rm two.state
greedystep inspect two --top 0 --json >bare.json || fail inspect
check bare.json
[ -n "$python" ] || echo "no python3: the JSON was not checked" >&2
