# Passes over compressed rows read a temporary cache from the second on: the same model, nothing left behind.
. "$PRELUDE"
greedystep --version | grep '^gzip ' | grep -qv ' no$' || { echo "this build has no gzip"; exit 77; }
greedystep generate --rows 150000 --features 20000 --nnz 20 -o data.svm
{ head -n 1000 data.svm; echo 'yes 1:1:1'; tail -n +1001 data.svm; echo '1 2:x'; } >bad.svm
for name in data bad; do gzip -1 <$name.svm >$name.svm.gz; done
mkdir temporary
export TMPDIR=$PWD/temporary
told() { grep note: "$1" | sed -E "s|$PWD/||; s/\([0-9]+ MB/(N MB/"; }
passes=3
train() { greedystep train --passes $passes "$@" >out 2>err || fail "$@"; told err; }

train data.svm -o plain
train data.svm.gz -o packed
same plain packed
same plain.state packed.state
train data.svm.gz -o one --threads 1 --quiet
same plain one
passes=1
train data.svm.gz -o single
echo "the number of passes left open"
passes=auto
train data.svm -o open --method gsa
train data.svm.gz -o packed --method gsa | sed 's/pass [0-9]*/pass N/'
same open packed
passes=3

echo "bad rows"
train bad.svm.gz -o packed --bad-rows skip
grep -o '[0-9]* bad rows skipped' out
same plain packed

echo "interrupted in a later pass"
for attempt in 1 2 3 4 5; do
    rm -f m m.state err
    nice -n 19 greedystep train data.svm.gz --method paper --passes 6 -o m >out 2>err &
    pid=$!
    wait_for err note: || exit 1
    kill -INT $pid
    wait $pid
    code=$?
    [ $code -eq 0 ] || break
done
echo "[exit $code]"
greedystep train data.svm.gz --method paper --passes 6 -o m --resume --quiet >out || fail resume
greedystep train data.svm --method paper --passes 6 -o whole --quiet >out || fail whole
same whole m
same whole.state m.state
rm -f err
nice -n 19 greedystep train data.svm.gz --method paper --passes 400 -o never >out 2>err &
pid=$!
wait_for err note: || exit 1
kill -KILL $pid
wait $pid 2>/dev/null
ls -A temporary

echo "no room"
(ulimit -f 8000 && train data.svm.gz -o packed) # blocks of 512 bytes, of which half may be taken
same plain packed
TMPDIR=/nonexistent
train data.svm.gz -o packed
same plain packed
exit 0
