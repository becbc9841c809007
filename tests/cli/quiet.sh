# --quiet: errors only. No verb prints progress, notes or a summary; results that were asked for are printed.
. "$PRELUDE"
printf 'y,colour,size\n' >table.csv
awk 'BEGIN { for (i = 0; i < 3000; i++) print i % 2 "," (i % 3 ? "red" : "blue") "," i % 7 }' >>table.csv
{ head -n 1 table.csv; awk 'BEGIN { for (i = 0; i < 500; i++) print i % 2 "," (i % 5 ? "red" : "blue") "," i % 11 }'; } >other.csv
greedystep train other.csv -o other --bits 10 -q || fail other
{ cat table.csv; echo '1,red'; } >bad.csv

mkdir kept

# silent COMMAND...: it succeeds and prints nothing on either stream.
silent()
{
    "$@" >said 2>&1 || { cat said; fail "$@"; }
    if [ -s said ]; then
        echo "NOT QUIET: $*"
        cat said
    else
        echo "quiet: $*"
    fi
}
silent greedystep train table.csv -o m --bits 10 --quiet
silent greedystep train bad.csv -o m --bits 10 --passes 2 --test table.csv --bad-rows skip -q
silent greedystep train table.csv -o m --passes 2 --resume --checkpoint kept -q
silent greedystep convert table.csv -o table.gsac -q
silent greedystep merge m other -o both -q
silent greedystep compare table.csv --methods gsa --passes 1 --seeds 1 -o compared.csv -q
silent greedystep generate --rows 3000 -o rows.svm -q
silent greedystep predict m bad.csv --bad-rows skip -o predicted.csv -q
silent greedystep export m -o m.c -q
try_line 'greedystep train table.csv -o m -q --json | grep method'
try_line 'greedystep evaluate m table.csv -q | grep rows'
try_line 'greedystep inspect m -q | head -n 1'
try greedystep train nowhere.csv -o m -q
