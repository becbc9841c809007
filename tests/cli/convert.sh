# A cache is the same rows as its text: every verb gives the same bytes from either, from files, pipes and lists.
. "$PRELUDE"
greedystep generate --rows 3000 --features 100 --nnz 10 -o all.svm
{ head -n 1000 all.svm | sed 's/^1 /yes /; s/^0 /no /'; echo yes; echo 'no 5:0.25 4294967294:-1e-20'; } >words.svm
try greedystep convert all.svm -o all.gsac
try greedystep convert words.svm all.svm -o both.gsac --quiet
head -c 5 all.gsac | tail -c 4; echo
try greedystep convert all.gsac -o back.svm
same all.svm back.svm
try greedystep convert both.gsac -o back.svm
cat words.svm all.svm >both.svm
same both.svm back.svm

# The other ways to name a format, and standard output.
greedystep convert - -o piped.gsac <all.svm | grep -c .
same all.gsac piped.gsac
greedystep convert all.svm -o - --format gsac >piped.gsac || fail piped
same all.gsac piped.gsac
greedystep convert all.gsac -o text.gsac --format libsvm >log || fail text
same all.svm text.gsac
greedystep generate --rows 3000 --features 100 --nnz 10 -o again.gsac
same all.gsac again.gsac
greedystep generate --rows 3000 --features 100 --nnz 10 --format gsac -o - >again.gsac
same all.gsac again.gsac
cat all.gsac | greedystep convert - -o back.svm >log || fail back
same all.svm back.svm

# Training, testing, predicting.
head -n 2000 all.svm >train.svm
tail -n 1000 all.svm >test.svm
for each in train test; do greedystep convert $each.svm -o $each.gsac >log || fail $each; done
for each in svm gsac; do
    greedystep train train.$each -o $each.model --test test.$each 2>log | grep -v -e '^time' -e '^next' >$each.log
    greedystep predict $each.model test.$each -o $each.out || fail predict
    greedystep evaluate $each.model test.$each >$each.metrics || fail evaluate
    greedystep compare train.$each --test test.$each --methods gsa --seeds 2 --quiet -o - | cut -d, -f2-10 >$each.compared
    cat train.$each | greedystep train - -o $each.stream --quiet >log || fail stream
done
same svm.model gsac.model
same svm.model.state gsac.model.state
same svm.log gsac.log
same svm.out gsac.out
same svm.metrics gsac.metrics
same svm.stream gsac.stream
same svm.compared gsac.compared
count_lines svm.compared
greedystep train train.svm test.svm -o text.model --quiet >log || fail text
greedystep train train.gsac test.svm -o mixed.model --quiet >log || fail mixed
same text.model mixed.model
greedystep train train.svm test.gsac -o mixed.model --quiet >log || fail mixed
same text.model mixed.model

# Vowpal Wabbit text: labels and numbers as they are in libsvm text, and weights, which libsvm text cannot have.
greedystep convert all.svm -o all.vw >log || fail vw
sed -E 's/^([01]) /\1 | /' all.svm >expected.vw
same all.vw expected.vw
greedystep convert all.gsac -o - --format vw >piped.vw || fail vw
same all.vw piped.vw
greedystep generate --rows 3000 --features 100 --nnz 10 -o again.vw
same all.vw again.vw
try greedystep convert words.svm -o never.vw
printf 'w,x,y\n2,0.5,1\n1,0.25,0\n' >weights.csv
try greedystep convert weights.csv --weight w -o never.svm --quiet
try greedystep convert weights.csv --weight w -o weights.gsac --quiet
try greedystep convert weights.gsac -o never.vw --quiet
try greedystep convert all.vw -o never.vw --quiet
greedystep train all.svm -o numbers --quiet >log || fail numbers
try greedystep predict numbers all.vw

# Read back.
try greedystep convert both.gsac -o verified.gsac --verify
if greedystep --version | grep '^gzip ' | grep -qv ' no$'; then
    greedystep convert both.gsac -o verified.gsac.gz --verify | grep -q '^verified' || fail "verified.gsac.gz"
fi
try greedystep convert weights.csv --weight w --format gsac -o verified --verify
try greedystep convert all.svm -o /dev/null --format gsac --verify
try greedystep convert all.svm -o never.svm --verify
try greedystep convert all.svm -o - --format gsac --verify

# What goes wrong.
echo '1 3:1 2:1' >bad.svm
try greedystep convert all.svm bad.svm -o never.gsac
try greedystep convert all.svm bad.svm -o skipped.gsac --bad-rows skip
same all.gsac skipped.gsac
try greedystep convert all.gsac -o all.gsac
head -c 5000 all.gsac >cut.gsac
try greedystep evaluate svm.model cut.gsac
{ head -c 40000 all.gsac; printf "\377"; tail -c +40002 all.gsac; } >damaged.gsac
try greedystep train damaged.gsac -o never --bad-rows skip
try greedystep convert damaged.gsac -o never.svm
try greedystep convert all.svm -o never.gsac --format csv
try greedystep convert -o never.gsac
: >empty.svm
try greedystep convert empty.svm -o empty.gsac
try greedystep train empty.gsac -o never
absent never never.gsac never.svm never.vw

# A folder gets a cache per file, the same as one by one; what has no name there is refused.
mkdir caches
greedystep convert train.svm test.svm -o caches/ -q || fail "convert to a folder"
for name in train test; do
    greedystep convert $name.svm -o one.gsac -q
    cmp one.gsac caches/$name.gsac || fail "another cache of $name"
done
try_line 'head -n 5 train.svm | greedystep convert - -o caches/'
try greedystep convert train.svm -o caches/ --format libsvm
cp train.svm train.txt
try greedystep convert train.svm train.txt -o caches/
