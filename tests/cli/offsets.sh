# Numbers far from zero keep their digits: columns are measured from an offset, in every format, and exports know it.
. "$PRELUDE"
make()
{
    awk -v seed=$1 -v rows=$2 -v from=$3 'BEGIN { srand(seed); print "y,when,price,x"
        for (i = 0; i < rows; i++) {
            g = rand() + rand() + rand() - 1.5; h = rand() + rand() + rand() - 1.5; x = rand()
            printf "%.3f,%.0f,%.2f,%.3f\n", 1e9 + 2 * g - 3 * h + x, from + 60 * g, 1e7 + 20 * h, x } }'
}
make 1 800 1700000000 >rows.csv
make 2 400 1700000000 >test.csv
greedystep train rows.csv --label y -o m 2>&1 >summary
echo "held-out $(sed -n 's/.*held-out rmse \([0-9.]*\).*/\1/p' summary | awk '{ print ($1 < 0.03) ? "below 0.03" : $1 }')"
rmse() { greedystep evaluate "$@" --json | sed -n 's/.*"rmse": \([0-9.e+-]*\).*/\1/p' | awk '{ print ($1 < 0.03) ? "below 0.03" : $1 }'; }
echo "test $(rmse m test.csv)"
for method in gsa optimum; do
    for loss in squared huber; do
        greedystep train rows.csv --label y --method $method --loss $loss -o n --quiet >log || fail "$method"
        echo "$method $loss $(rmse n test.csv)"
    done
done

echo "the same bytes from other formats"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
    { printf "{"; for (i = 1; i <= NF; i++) printf "%s\"%s\":%s", (i > 1 ? "," : ""), name[i], $i; print "}" }' rows.csv >rows.jsonl
tr , '\t' <rows.csv >rows.tsv
sed 's/,/ , /g' rows.csv >blanks.csv
greedystep convert rows.csv --label y -o rows.gsac --quiet
for file in rows.jsonl rows.tsv blanks.csv rows.gsac; do
    options="--label y"
    [ $file = rows.gsac ] && options=
    greedystep train $file $options -o n --quiet >log || fail "$file: $(cat log)"
    cmp m n && cmp m.state n.state && echo "$file: same"
done
greedystep predict m test.csv -o one --quiet
tr , '\t' <test.csv >test.tsv
greedystep predict m test.tsv -o two --quiet
cmp one two && echo "predictions: same"

echo "as they are: the paper's method, and text"
greedystep train rows.csv --label y --method paper -o p --quiet >log 2>&1
greedystep convert rows.csv --label y -o rows.svm --quiet
head -1 rows.svm | cut -d ' ' -f 2

echo "what does not fit"
make 3 800 1701000000 >later.csv
greedystep train later.csv --label y -o later --quiet >log
try greedystep merge m later -o both
greedystep train later.csv --label y --start-from m -o later --quiet >log && greedystep merge later -o both --quiet && echo merged
greedystep convert later.csv --label y -o later.gsac --quiet
try greedystep evaluate m later.gsac
greedystep inspect rows.csv --label y 2>/dev/null | grep -E '^(when|price)' | sed 's/ .*  /  /'

echo "times of one day"
awk 'BEGIN { srand(4); print "y,t"
    for (i = 0; i < 800; i++) {
        s = int(36000 * rand())
        printf "%.4f,2026-11-17 %02d:%02d:%02d\n", s / 1800 + 0.01 * rand(), 8 + s / 3600, s / 60 % 60, s % 60 } }' >times.csv
greedystep train times.csv --label y -o times --quiet 2>&1 >log
echo "times $(rmse times times.csv)"
sed 's/17 /17T/' times.csv | awk -F, 'NR > 1 { printf "{\"y\":%s,\"t\":\"%s\"}\n", $1, $2 }' >times.jsonl
greedystep train times.jsonl --label y -o n --quiet >log && cmp times n && echo "times.jsonl: same"
greedystep inspect times.csv --label y 2>&1 | grep '^t ' | sed 's/ .*  /  /'

echo "export"
command -v cc >found || exit 77
greedystep export m --name t -o t.c
sed -n '/is column/p' t.c
cat >main.c <<'C'
#include "t.c"
#include <stdio.h>
int main(void)
{
    double y, when, price, x, out;
    scanf("%*s");
    while (scanf("%lf,%lf,%lf,%lf", &y, &when, &price, &x) == 4) {
        float value[3] = {t_number(0, when), t_number(1, price), t_number(2, x)};
        t_predict(NULL, value, 3, &out);
        printf("%.17g\n", out);
    }
    return 0;
}
C
cc -std=c99 -O2 -w main.c -o main && ./main <test.csv >exported
greedystep predict m test.csv -o - --quiet | paste - exported | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5) n++ } END { print NR " rows, " n + 0 " differ" }'

greedystep export times --name d -o d.c
sed -n '/is column/p' d.c
cat >main.c <<'C'
#include "d.c"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    double y, out;
    int hours, minutes, seconds;
    scanf("%*s");
    while (scanf("%lf,2026-11-17 %d:%d:%d", &y, &hours, &minutes, &seconds) == 4) {
        char hour[16];
        sprintf(hour, "%d", hours);
        uint32_t index[4] = {0, d_word("t weekday", "Tue"), d_word("t month", "Nov"), d_word("t hour", hour)};
        float value[4] = {d_number(0, 20774 + (hours * 3600 + minutes * 60 + seconds) / 86400.0), 1, 1, 1};
        size_t n = d_tidy(index, value, 4);
        d_predict(index, value, n, &out);
        printf("%.17g\n", out);
    }
    return 0;
}
C
cc -std=c99 -O2 -w main.c -o main && ./main <times.csv >exported
greedystep predict times times.csv -o - --quiet | paste - exported | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5) n++ } END { print NR " rows, " n + 0 " differ" }'
