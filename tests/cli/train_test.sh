# --test judges after every pass; --quiet shows no progress; the switches can be written in several ways.
. "$PRELUDE"
greedystep generate --rows 3000 --features 200 --nnz 10 -o all.svm
head -n 2000 all.svm >train.svm
tail -n 1000 all.svm >test.svm
try greedystep train train.svm -o a --passes 3 --test test.svm
try greedystep train train.svm -o b --passes=3 --test=test.svm --quiet
same a b
try greedystep evaluate a test.svm
greedystep train train.svm -o off1 --intercept off --quiet >log || fail intercept
greedystep train train.svm -o off2 --no-intercept --quiet >log || fail intercept
greedystep train --quiet --intercept=off -ooff3 -- train.svm >log || fail intercept
same off1 off2
same off1 off3
different a off1
greedystep train --intercept train.svm -o on1 --passes 3 --quiet >log || fail intercept
greedystep train --intercept on train.svm -o on2 --passes 3 --quiet >log || fail intercept
same a on1
same a on2
greedystep train train.svm -o seed --passes 3 --seed 1 --quiet >log || fail seed
different a seed
cat test.svm | greedystep train train.svm -o c --test - --quiet
echo "[exit $?]"
try greedystep train train.svm -o c --test missing.svm
try ls

# A test file that is no good costs the judgement, not the model.
(head -n 5 test.svm; echo "1 3:x") >bad.svm
greedystep train train.svm -o kept --passes 3 --test bad.svm --quiet >log
echo "[exit $?]"
same a kept
