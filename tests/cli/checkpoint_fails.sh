# A checkpoint that cannot be written is told also with --quiet; the run goes on, and its model counts.
. "$PRELUDE"
greedystep generate --rows 30000 --features 100 --nnz 5 -o data.svm
mkdir kept
{
    head -n 20000 data.svm
    until [ -e kept/m.state ]; do sleep 0.02; done
    while [ -e kept ]; do rm -rf kept 2>/dev/null; done # a checkpoint may be under way
    tail -n 10000 data.svm
} | greedystep train - -o m --method gsa --checkpoint kept --every 0 --quiet >out 2>err
echo "[exit $?]"
# the folder may go away before the file is made, or before it is renamed
sed 's/: No such file or directory;/: its directory does not exist; make it first;/' err | sort -u
wc -c <out | tr -d " "
greedystep train - -o whole --method gsa --quiet <data.svm >log
same whole m

echo "-- the checkpoint would be the state of the model --"
mkdir folder
try greedystep train data.svm -o m --checkpoint .
try greedystep train data.svm -o folder/m --checkpoint ./folder
