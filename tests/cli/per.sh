# Customers with an intercept and slopes of their own.
. "$PRELUDE"
# Rows of 60 customers; what they spend on a visit, and whether they come again, depends on who they are.
make()
{
    awk -v n="$1" -v seed="$2" 'BEGIN {
        state = 99
        for (c = 0; c < 60; c++) { base[c] = normal(); slope[c] = 0.7 * normal() }
        state = seed
        print "who,age,size,spent,again"
        for (row = 1; row <= n; row++) {
            c = draw(60); age = 20 + draw(60); size = draw(5)
            x = (age - 50) / 17
            m = 2 * base[c] + (0.5 + slope[c]) * x - 0.3 * size
            printf "c%d,%d,%d,%.3f,%s\n", c, age, size, 10 + m + normal(), (m + normal() > 0 ? "yes" : "no")
        }
    }
    function draw(k) { state = state * 16807 % 2147483647; return int(state / 1024) % k }
    function normal(i, sum) { sum = 0; for (i = 0; i < 12; i++) sum += draw(1000) / 1000; return sum - 6 }'
}
make 1500 7 >visits.csv
make 600 8 >later.csv
head -3 visits.csv
try greedystep train visits.csv --label again --ignore spent --per who -o m | grep -v '^time'
try greedystep inspect m --top 4
echo "beside a model of all"
greedystep evaluate m later.csv --ignore spent | head -3
greedystep train visits.csv --label again --ignore who,spent -o all --quiet || fail train
greedystep evaluate all later.csv --ignore who,spent | head -3
echo "numbers, and one pass of gsa"
greedystep train visits.csv --label spent --ignore again --per who -o n --quiet || fail train
greedystep evaluate n later.csv --ignore again | head -2
greedystep train visits.csv --label spent --ignore again,who -o other --quiet || fail train
greedystep evaluate other later.csv --ignore again,who | head -2
greedystep train visits.csv --label spent --ignore again --per who --method gsa --passes 1 -o g --quiet || fail train
greedystep evaluate g later.csv --ignore again | head -2
echo "a new customer is predicted by what all have in common"
{ echo "who,age,size" && echo "new,50,1" && echo "another,50,1" && echo ",50,1" && echo "c7,50,1"; } >new.csv
try greedystep predict n new.csv --explain
echo "customers who differ by chance alone have nothing of their own"
awk -F, -v OFS=, 'NR > 1 { $1 = "c" (NR * 7919 % 60) } { print }' visits.csv >mixed.csv
greedystep train mixed.csv --label spent --ignore again --per who -o none | grep '^per'
echo "the same model in threads, from a pipe and from a cache"
greedystep train visits.csv --label again --ignore spent --per who -o t --quiet -j 3 || fail train
same m t
greedystep train - --label again --ignore spent --per who -o p --quiet <visits.csv || fail train
same m p
greedystep convert visits.csv --label again --ignore spent --per who -o rows.gsac --quiet || fail convert
greedystep train rows.gsac -o c --quiet || fail train
same m c
echo "days, and shards that are merged"
greedystep train later.csv --start-from n -o n2 --ignore again --quiet || fail train
greedystep evaluate n2 visits.csv --ignore again | head -2
greedystep train visits.csv --label spent --ignore again --per who --shards 2 --method gsa -o s --quiet || fail train
greedystep evaluate s later.csv --ignore again | head -2
echo "refusals"
try greedystep train visits.csv --label spent --per what -o x
try greedystep train visits.csv --label spent --per who,again -o x
try greedystep train visits.csv --label spent --per who --bits 31 -o x
try greedystep train visits.csv --label spent --per who --group who -o x
try greedystep train visits.csv --label spent --per who --cross who:age -o x
try greedystep train later.csv --start-from n --per age -o x
try greedystep export n -o x.c
