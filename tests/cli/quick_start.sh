# What the help proposes.
. "$PRELUDE"
try greedystep generate --rows 12000 -o all.svm
head -n 10000 all.svm >train.svm
tail -n 2000 all.svm >test.svm
try head -n 2 all.svm
try greedystep train train.svm -o my.model
try greedystep evaluate my.model test.svm
try_line 'greedystep predict my.model test.svm -o - | head -n 5'
try greedystep predict my.model test.svm -o predictions
count_lines predictions
try greedystep inspect my.model
try greedystep inspect my.model --top 2
try ls
