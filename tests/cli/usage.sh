# Wrong usage: exit code 2, and what was probably meant.
. "$PRELUDE"
: >x
for line in 'trian' '--versoin' 'help trian' 'frobnicate' \
    'train --pases 3 x -o m' 'train --memory_limt 3 x -o m' 'train --mem 3 x -o m' 'train --zzzzzz x' 'train -x' \
    'train -output m x' 'train --no-passes x -o m' 'train --no-intercpt x -o m' \
    'train --passes 1.5 x -o m' 'train --passes=1e7 x -o m' 'train --passes -3 x -o m' 'train --passes ten x -o m' \
    'train --passes x -o m' 'train --seed 18446744073709551616 x -o m' \
    'train --loss logistik x -o m' 'train --bad-rows ignore x -o m' 'train --intercept=maybe x -o m' \
    'train --memory-limit 3X x -o m' 'train --memory-limit 99999999T x -o m' \
    'train --seed 1 --seed 2 x -o m' 'train x -o' 'train x -o --json' 'train x' 'train -o m' 'train x -o -' \
    'train x -o m.state' 'train x -o m --resume --start-from y' \
    'train --passes 0 x -o m' 'train -j 0 x -o m' 'train --holdout 0 x -o m' 'train --shards 0 x -o m' \
    'train --memory-limit 0 x -o m' 'predict m x --categorical a' 'predict m x --label=y' 'evaluate m x --weight w' \
    'evaluate m x --bits 20' 'predict m x --cross a:b' \
    'predict m' 'evaluate m' 'inspect' 'merge -o m' 'merge a' \
    'generate' 'generate -o - --nnz 2000' 'generate -o - --classes 1001' 'generate -o - --features 0' \
    'generate -o - extra'; do
    try greedystep $line
done
ls
