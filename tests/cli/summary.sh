# The summary of train: what limits a model, and when there is none to speak of.
. "$PRELUDE"

echo "fifty rows of noise: nothing was learned, whatever their number"
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 50; i++) print i * 37 % 53 "," i * 11 % 17 "," i * i * 7 % 13 % 2 }' >noise.csv
try greedystep train noise.csv --label y -o m 2>&1 | grep -v ^time
echo "fifty rows that say what they are: more may help"
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 50; i++) print i % 10 "," i * 11 % 17 "," (i % 10 + i * 11 % 5 > 6) }' >clear.csv
try greedystep train clear.csv --label y -o m 2>&1 | paragraph limit
echo "a run that was solved has no passes and no steps"
try_line "greedystep train clear.csv --label y -o m --json --quiet | grep -c -e passes -e mean_step"
try_line "greedystep train clear.csv --label y -o m --method gsa --json --quiet | grep -c -e passes -e mean_step"
