# What is wrong with a call of compare, its help, and streams.
. "$PRELUDE"
greedystep generate --rows 500 --features 20 --nnz 5 -o x
for line in 'x -o y' 'x --methods gsa' '-o y --methods gsa' \
    'x -o y --methods sgdd:0.1' 'x -o y --methods gs' 'x -o y --methods paper-shard:2' 'x -o y --methods frobnicate' \
    'x -o y --methods sgd' 'x -o y --methods sgd:' 'x -o y --methods sgd:0' 'x -o y --methods sgd:fast' \
    'x -o y --methods sgd:nan' 'x -o y --methods sgd:0.1:2' 'x -o y --methods scsg:0.1' \
    'x -o y --methods scsg:0.1:0' 'x -o y --methods dog:1:2' \
    'x -o y --methods gsa:first' 'x -o y --methods paper:last:2' 'x -o y --methods paper-shards' \
    'x -o y --methods paper-shards:0' 'x -o y --methods paper-shards:1.5' 'x -o y --methods gsa,,sgd:1' \
    'x -o y --methods paper,sgd:0.1,paper:last' 'x -o y --methods auto' 'x -o y --methods sgd:0.1,sgd:1e-1' \
    'x -o y --methods dog,dog' \
    'x -o y --methods gsa --passes 0' 'x -o y --methods gsa --seeds 0' 'x -o y --methods gsa --loss hinge' \
    'x -o y --method gsa' 'x -o x --methods gsa' 'x --test x -o ./x --methods gsa' 'x -o missing/y --methods gsa' \
    'missing -o y --methods gsa' 'x --test missing -o y --methods gsa' '- --test - -o y --methods gsa' \
    'x -o y --methods gsa --average full'; do
    try greedystep compare $line
done
greedystep compare x -o y --methods gsa --memory-limit 10K 2>&1 | grep -o 'no memory\|raise the limit'
absent y

echo "a stream is learned once, by methods that do not go back"
for methods in sag:0.1 gsa,saga:0.1 svrg:0.1,gsa scsg:0.1:10; do
    try_line "cat x | greedystep compare - -o y --methods $methods --passes 1"
done
try_line 'cat x | greedystep compare - -o y --methods gsa,sgd:0.1 --passes 2'
absent y
try_line 'cat x | greedystep compare - -o y --methods gsa,sgd:0.1,fregata,paper-shards:2 --seeds 2'
cut -d, -f1-10 y | sed 's/^-,/x,/' >from_stream
greedystep compare x -o z --methods gsa,sgd:0.1,fregata,paper-shards:2 --seeds 2 --passes 1 --quiet >log
cut -d, -f1-10 z >from_file
same from_stream from_file

echo "bad rows"
{ head -n 100 x; echo '1 2:1 1:1'; echo 'dog 1:x'; tail -n 400 x; } >bad
try greedystep compare bad -o none.csv --methods gsa --passes 1
absent none.csv
try greedystep compare bad -o skipped.csv --methods gsa --passes 1 --seeds 2 --bad-rows skip
greedystep compare x -o good.csv --methods gsa --passes 1 --seeds 2 --quiet >log
cut -d, -f2-10 skipped.csv >a
cut -d, -f2-10 good.csv >b
same a b
{ head -n 100 x; echo 'dog 1:x'; tail -n 400 x; } >bad
greedystep compare bad -o skipped.csv --methods gsa --passes 1 --seeds 2 --bad-rows skip 2>&1 | grep -o 'bad row.*'
: >empty
try greedystep compare empty -o none.csv --methods gsa
try greedystep compare x --test empty -o none.csv --methods gsa
printf '0 1:1\n1 4000000000:1\n0 2:1\n1 1:1\n' >huge
try greedystep compare huge --test huge -o none.csv --methods sgd:0.1 --memory-limit 64M
try greedystep compare huge --test huge -o none.csv --methods paper --memory-limit 64M
absent none.csv
if [ -c /dev/full ]; then
    try greedystep compare x -o /dev/full --methods gsa --passes 1 --seeds 1 --quiet
fi

echo "help"
try greedystep help compare
greedystep help compare >by_help
greedystep compare --help >by_option
same by_help by_option
