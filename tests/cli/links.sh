# A link that another user left at the name of an output, in a folder that both can write to, leads to no file of ours.
. "$PRELUDE"
[ "$(id -u)" -eq 0 ] || { echo "SKIPPED: two users are needed, so run this as root"; exit 77; }
command -v setpriv >/dev/null || { echo "SKIPPED: no setpriv to act as another user"; exit 77; }
chmod 711 .
mkdir -m 1777 shared

# Leaves a link of another user at shared/NAME.
plant()
{
    rm -f "shared/$1"
    setpriv --reuid 65534 --regid 65534 --clear-groups ln -s "$PWD/victim" "shared/$1" || fail "no link of another user"
}

# Shows a command that must not write to the victim, which is a copy of $1.
attack()
{
    source=$1
    shift
    cp "$source" victim
    try "$@"
    cmp -s "$source" victim || echo "VICTIM CHANGED by $*"
}

for i in 1 2 3 4 5 6 7 8; do
    echo "1 1:$i 2:1"
    echo "0 1:-$i 3:1"
done >data.svm
greedystep train data.svm -o own --quiet >log
echo precious >precious

echo "-- the model, then its state --"
plant m
attack precious greedystep train data.svm -o shared/m --quiet
rm shared/m
plant m.state
attack precious greedystep train data.svm -o shared/m --quiet
attack own.state greedystep train data.svm -o shared/m --resume --quiet
rm shared/m.state

echo "-- a checkpoint to go on with --"
plant own.state
attack own.state greedystep train data.svm -o own --checkpoint shared --resume --quiet
rm shared/own.state

echo "-- the other verbs --"
plant out
attack precious greedystep predict own data.svm -o shared/out
attack precious greedystep convert data.svm -o shared/out
attack precious greedystep export own -o shared/out
attack precious greedystep merge own.state own.state -o shared/out
attack precious greedystep train data.svm -o own2 --trace shared/out --quiet
attack precious greedystep compare data.svm --methods gsa -o shared/out

echo "-- a folder by a link --"
rm victim && mkdir victim
plant folder
try greedystep predict own data.svm -o shared/folder/out
ls victim

echo "-- a link of our own --"
rm -r victim && ln -s ../victim shared/mine
try greedystep predict own data.svm -o shared/mine
count_lines victim
ls shared
