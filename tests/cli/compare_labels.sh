# Words, many classes, numbers; labels that only the rows to test have; a method that diverges.
. "$PRELUDE"
greedystep generate --rows 1000 --features 30 --nnz 5 --classes 3 -o three.svm
sed -e 's/^0 /cat /' -e 's/^1 /dog /' -e 's/^2 /bird /' three.svm >words.svm
head -n 800 three.svm >three.train
tail -n 200 three.svm >three.test
head -n 800 words.svm >words.train
tail -n 200 words.svm >words.test
try greedystep compare words.train --test words.test --methods paper,sgd:0.1 --passes 1 --seeds 1 -o words.csv
greedystep compare three.train --test three.test --methods paper,sgd:0.1 --passes 1 --seeds 1 -o three.csv 2>log
awk -F, 'FNR > 1 && $9 != "" { print "an AUC of three classes:", $0 }' words.csv three.csv
head -n 799 words.train >few.train
{ cat words.test; echo 'cow 1:1'; } >cow.test
greedystep compare few.train --test cow.test --methods paper,sgd:0.1 --passes 1 --seeds 1 -o cow.csv 2>log
greedystep train few.train --method paper -o m --average last --order shuffled --passes 1 --quiet >log
greedystep evaluate m cow.test | grep -e log_loss -e accuracy

echo "numbers"
greedystep generate --rows 1000 --features 30 --nnz 5 --classes 1 -o number.svm
try greedystep compare number.svm --methods paper,sgd:0.01,sgd:1000,svrg:500 --passes 3 --seeds 2 -o number.csv
grep -c ',nan,,,,' number.csv
grep 'sgd,r=1000,' number.csv | cut -d, -f2-10
awk -F, 'NR > 1 && $2 $3 == "sgdr=0.01" && ($7 == "nan" || $8 != "" || $9 != "") { print "WRONG:", $0 }' number.csv
head -n 800 number.svm >number.train
tail -n 200 number.svm >number.test
greedystep compare number.train --test number.test --methods paper --passes 2 --seeds 1 -o half.csv --quiet >log
greedystep train number.train --method paper -o m --average last --order shuffled --passes 2 --quiet >log
rmse=$(greedystep evaluate m number.test --json | sed -n 's/.*"rmse": \([0-9.]*\).*/\1/p')
awk -F, -v rmse="$rmse" '$4 == 2 && $6 == "test" {
    off = $7 / (rmse * rmse / 2) - 1
    print off * off < 1e-16 ? "half the mean squared error" : "WRONG: " $0 }' half.csv
try greedystep compare three.train --test three.test --loss squared --methods paper,sgd:0.01 --passes 1 --seeds 1 -o s.csv
try greedystep compare three.svm --loss logistic --methods paper --seeds 1 -o none.csv

echo "labels that cannot be"
grep '^1 ' three.svm >ones.svm
try greedystep compare ones.svm --methods paper,sgd:0.1 -o none.csv
grep '^cat ' words.svm >cats.svm
try greedystep compare cats.svm --test words.svm --methods sgd:0.1 -o none.csv
try greedystep compare words.svm --loss squared --methods sgd:0.1 -o none.csv
try greedystep compare number.svm --test words.svm --methods sgd:0.01 -o none.csv
absent none.csv
