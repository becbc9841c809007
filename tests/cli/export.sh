# A model as a C file: compiles without a warning wherever there is a compiler, and predicts the bits of the library.
. "$PRELUDE"
bits=$(dirname "$(command -v greedystep)")/tests/cli/export_bits
[ -x "$bits" ] || { echo "no export_bits in this build"; exit 77; }
compilers=
for each in gcc clang; do
    if command -v $each >found; then compilers="$compilers $each"; fi
done
command -v cc >found || { echo "no cc"; exit 77; }
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror"

native=-march=native
: >empty.c
cc $native -c empty.c -o empty.o 2>log || native=

# agree MODEL DATA: by every compiler, plain and optimised, in the standard's dialect and the compiler's own, and where the
# machine can fuse products with sums.
agree()
{
    greedystep export "$1" --name t -o t.c || fail "export $1"
    for compiler in ${compilers:-cc}; do
        for flags in "-std=c99 -O0" "-std=c99 -O2" "-O3 $native"; do
            rm -f t.so
            $compiler $flags $warnings -ffreestanding -fPIC -shared t.c -o t.so || fail "$compiler $flags $1"
            "$bits" "$1" "$2" ./t.so t >told || fail "$compiler $flags $1: $(cat told)"
        done
    done
    echo "$1: $(cat told)"
}

# Rows as trained, and others: empty ones, zeros, features that nobody knows, and margins from tiny to enormous.
greedystep generate --rows 1500 --features 40 --nnz 12 -o two.svm
{
    cat two.svm
    printf '0\n1 1:0 2:0\n0 5:1 4294967294:3\n1 77:1 78:2\n0 1:1e-30 3:-1e-38\n1 1:-3e38 2:3e38 40:-3e38\n'
    awk 'BEGIN { srand(7); for (i = 0; i < 1500; i++) {
        printf "0"; for (j = 1; j <= 44; j++) if (rand() < 0.4) printf " %d:%.6g", j, (rand() - 0.5) * 10 ^ (rand() * 6 - 3)
        print "" } }'
} >odd.svm
train()
{
    name=$1
    shift
    greedystep train "$@" -o $name --quiet >log || fail "$name: $(cat log)"
}
for loss in logistic softmax hinge squared_hinge squared poisson; do
    train $loss.model two.svm --loss $loss --passes 2
    agree $loss.model odd.svm
done
train plain.model two.svm --no-intercept --method paper
agree plain.model odd.svm
greedystep generate --rows 1500 --features 40 --nnz 12 --classes 11 -o eleven.svm
train eleven.model eleven.svm --loss softmax --passes 2
agree eleven.model odd.svm
train rivals.model eleven.svm --loss hinge --passes 2
agree rivals.model odd.svm

echo "few features among many, no features, one label"
awk '{ a = NR % 5; b = NR % 7; print (a + b < 5), (a * 1000 + 1) ":1", (b * 1000 + 5001) ":2" }' two.svm >few.svm
train few.model few.svm
agree few.model few.svm
grep "t_id.* = {" t.c
awk 'BEGIN { srand(8); for (i = 0; i < 500; i++) {
    printf "0"; for (j = 0; j < 12; j++) for (k = 1; k <= 3; k++) if (rand() < 0.7) printf " %d:%.6g", j * 1000 + k, rand() - 0.5
    print "" } }' >among.svm # features without a weight take their turn in the sums
agree few.model among.svm
awk '{ print NR % 11, (NR % 11 * 1000 + NR % 2 + 1) ":1" }' two.svm >few_eleven.svm
train few_eleven.model few_eleven.svm --passes 2
agree few_eleven.model few_eleven.svm
cut -d ' ' -f 1 two.svm >none.svm
train none.model none.svm --loss logistic
agree none.model odd.svm
awk '{ $1 = 1; print }' two.svm >one.svm
for loss in logistic softmax hinge; do
    train one.model one.svm --loss $loss
    agree one.model odd.svm
done

echo "columns that bend: of every loss, with words and gaps, and features that came after the knots"
awk 'BEGIN { srand(9); for (i = 0; i < 1500; i++) { a = rand() * 4 - 2; b = rand() * 4 - 2; c = rand() < 0.5 ? 0 : rand() * 3
    y = (a > 0 ? a : -a) - b * b / 2 + (c > 1) + rand() / 5
    printf "%d 1:%.4f 2:%.4f 3:%.4f 4:1 %d:1\n", (y > 0) + (y > 0.8), a, b, c, 5 + i % 7 } }' >bent.svm
awk '{ $1 = $1 > 0; print }' bent.svm >bent_two.svm
{ cat bent.svm odd.svm; printf '0 1:0.5 11:1 12:2 13:1 500:3 4294967100:1 4294967294:1\n'; } >bent_odd.svm
for loss in logistic squared poisson squared_hinge; do
    train bent_$loss.model bent_two.svm --loss $loss --curves auto
    agree bent_$loss.model bent_odd.svm
done
train bent_softmax.model bent.svm --loss softmax --curves auto
agree bent_softmax.model bent_odd.svm
grep -c 't_curve\[\]' t.c

echo "pairs of columns, in the same rows"
awk 'BEGIN { srand(10); for (i = 0; i < 1500; i++) { a = rand() * 4 - 2; b = rand() * 4 + 1; c = rand() < 0.3 ? 0 : rand() * 3; w = i % 2
    y = a * (b - 3) + (w ? c : -c) / 2 + rand() / 5
    printf "%d 1:%.4f 2:%.4f 3:%.4f 4:1%s %d:1\n", (y > 0) + (y > 0.8), a, b, c, (w ? " 5:1" : ""), 6 + i % 7 } }' >paired.svm
awk '{ $1 = $1 > 0; print }' paired.svm >paired_two.svm
cat paired.svm bent_odd.svm >paired_odd.svm
for loss in logistic squared poisson; do
    train paired_$loss.model paired_two.svm --loss $loss --pairs auto
    agree paired_$loss.model paired_odd.svm
done
train paired_softmax.model paired.svm --loss softmax --pairs auto
agree paired_softmax.model paired_odd.svm
grep -c 't_pair\[\]' t.c

echo "labels and columns that have to be quoted"
awk 'BEGIN { print "label,age,*/ x?,colour" }
     { print (NR % 3 == 0 ? "\"a\"\"b\\n\"" : NR % 3 == 1 ? "??/caf\303\251" : "100%s @") "," NR % 17 "," NR % 6 "," (NR % 2 ? "red" : "blue") }' \
    two.svm >table.csv
train table.model table.csv --passes 2 --bits 10
agree table.model table.csv
try_line "sed -n '/predicts a row/,/is returned/p; /t_label.* = /,/};/p' t.c"

echo "a click log without a header: words of any length, hashed by the exported file"
awk 'BEGIN { srand(2); for (i = 0; i < 3000; i++) { n = i < 1300 ? i + 1 : 1 + int(rand() * 1300); w = ""
        for (k = 0; k < n; k++) w = w sprintf("%c", 97 + (k * n + k) % 26)
        c = int(rand() * 20); print (rand() < 0.2 + 0.6 * (n % 2)) "\t" c "\t" (c % 3 ? c / 4 : "") "\t" w "\t" "z" i % 30 } }' >log.tsv
train log.model log.tsv --bits 12
cat >score.c <<'END'
#include "log.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    static char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        char *cell[5] = {line};
        uint32_t index[6];
        float value[6];
        double out[log_OUT];
        size_t n = 0;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 1; i < 5; i++) {
            cell[i] = strchr(cell[i - 1], '\t') + 1;
            cell[i][-1] = '\0';
        }
        for (int i = 4; i > 2; i--, n++) {
            index[n] = log_word(i == 3 ? "4" : "5", cell[i]);
            value[n] = 1;
        }
        for (int i = 1; i < 3; i++) {
            if (cell[i][0] == '\0') {
                n += log_missing((uint32_t)(i - 1), index + n, value + n);
                continue;
            }
            index[n] = (uint32_t)(i - 1);
            value[n++] = strtof(cell[i], NULL);
        }
        n = log_tidy(index, value, n);
        int k = log_predict(index, value, n, out);
        printf("%s,%.9g,%.9g\n", log_label[k], out[0], out[1]);
    }
    return 0;
}
END
greedystep export log.model --name log -o log.c || fail export
for compiler in ${compilers:-cc}; do
    $compiler -std=c99 -O2 $warnings -c log.c -o log.o || fail "$compiler log.c"
    $compiler -std=c99 -O2 -Wall -Wextra -Werror score.c -o score || fail "$compiler score.c"
    ./score <log.tsv >by_score || fail score
    greedystep predict log.model log.tsv --format csv --proba | sed 1d | cut -d , -f 2,4,5 >by_predict
    same by_score by_predict
done | sort -u
try_line "sed -n '/is column/,/log_word/p' log.c"
greedystep train log.tsv --compact -o small.model -q || fail compact
greedystep export small.model --name log -o small.c || fail export
[ "$(wc -c <small.c)" -lt "$(wc -c <log.c)" ] && echo "compact models are smaller files"

echo "the digits of predict, by a program of its own"
cat >program.c <<'END'
#include "logistic.c"
#include <stdio.h>
int main(void)
{
    const uint32_t index[] = {2, 5, 39};
    const float value[] = {1.5f, -2, 0.25f};
    double out[logistic_OUT];
    int k = logistic_predict(index, value, 3, out);
    printf("%s,%.9g,%.9g\n", logistic_label[k], out[0], out[1]);
    return 0;
}
END
try greedystep export logistic.model -o logistic.c
cc -std=c99 program.c -o program && ./program >by_program || fail program
echo "0 3:1.5 6:-2 40:0.25" | greedystep predict logistic.model - --format csv --proba | sed 1d | cut -d , -f 2,4,5 >by_predict
same by_program by_predict

echo "the same bytes again, and names"
greedystep export logistic.model >again.c || fail export
same logistic.c again.c
cp logistic.model click-model.v2
cp logistic.model 2.model
for each in click-model.v2 ./2.model; do
    greedystep export $each | grep '^int.*;'
done
greedystep export logistic.model | cc -std=c99 -O2 -ffreestanding -c -x c - -o t.o || fail object
if [ "$(uname -m)" = x86_64 ] && command -v nm >found; then nm -u t.o; fi

echo "what cannot be"
for line in 'logistic.model --name 2x' 'logistic.model --name a-b' 'two.svm' 'missing' \
    'logistic.model -o logistic.model' 'logistic.model -o missing/t.c' 'logistic.model eleven.model'; do
    try greedystep export $line
done
cc -std=c99 -ffast-math -c logistic.c -o t.o 2>log && fail "compiled with -ffast-math"
grep -q 'error.*-ffast-math' log && echo "not with -ffast-math"
