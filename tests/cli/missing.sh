# Numbers such as -999 that mean a missing value.
. "$PRELUDE"
make_rows()
{
    awk -v missing="$1" 'BEGIN {
        print "temp,load,y"
        for (i = 0; i < 1000; i++) {
            temp = i * 37 % 101 / 4
            noise = i * 61 % 113 / 40
            printf "%s,%d,%.3f\n", i % 10 == 3 ? missing : temp, i * 7 % 50, 2 * temp + noise
        }
    }'
}
make_rows -999 >rows.csv
make_rows -999.00 >written.csv
make_rows "" >empty.csv
try_line "greedystep train rows.csv -o m >log"
greedystep train empty.csv -o empty --quiet >log || fail train
greedystep predict m rows.csv -o p
greedystep predict m written.csv -o written
greedystep predict empty empty.csv -o expected
same expected p
same expected written
try_line "greedystep evaluate m rows.csv | grep r2"
try_line "greedystep inspect rows.csv | grep -e ^input -e ^temp"
echo "decided by hand"
try_line "greedystep train rows.csv -o m --missing none --curves off >log && greedystep evaluate m rows.csv | grep r2"
make_rows -1 >ones.csv
try_line "greedystep train ones.csv -o m --missing -1 >log && greedystep evaluate m ones.csv | grep r2"
try greedystep train rows.csv -o m --missing some
try greedystep predict m rows.csv --missing -1
echo "noted only"
awk 'BEGIN { print "age,y"; for (i = 0; i < 500; i++) printf "%d,%d\n", i % 20 == 7 ? 99 : i % 80, i % 3 }' >ages.csv
try_line "greedystep train ages.csv -o m >log"
awk 'BEGIN { print "x,y"; for (i = 0; i < 500; i++) printf "%d,%s\n", i % 80, i % 20 == 7 ? -999 : i * 7 % 50 / 8 }' >labels.csv
try_line "greedystep train labels.csv -o m >log"
echo "as they are"
awk -F, 'NR == 1 || ($3 > 25) + 1 { print $1 "," $2 "," (NR == 1 ? "y" : ($3 > 25)) }' rows.csv >classes.csv
try_line "greedystep train classes.csv -o m --method paper --passes 1 >log"
