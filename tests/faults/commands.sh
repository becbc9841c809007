# The commands that faults are tried on. each_command FUNCTION calls it with options of every_fault, "--" and
# the command; the folder is ready then.
#
# Every verb that reads or writes, every kind of input, and what only some runs do: a test file, a trace, going on.

each_command()
{
    tries=$1
    try_command text rows.svm -- train rows.svm -o m --quiet --threads 1
    try_command threads rows.svm -- train rows.svm -o m --quiet --threads 2
    try_command csv rows.csv -- train rows.csv -o m --quiet --threads 1
    try_command cache rows.gsac -- train rows.gsac -o m --quiet --threads 1
    for packer in gzip zstd xz bzip2; do
        try_command $packer rows.$packer -- train rows.$packer -o m --quiet --threads 1 --method paper --passes 2
    done
    try_command kept kept.gz -- train kept.gz -o m --method paper --passes 2 --quiet --threads 1
    try_command judged rows.svm other.svm -- train rows.svm -o m --test other.svm --quiet --threads 1
    try_command resumed rows.svm half half.state -- train rows.svm -o half --resume --method paper --passes 2 --quiet
    try_command started rows.svm model model.state -- train rows.svm -o m --start-from model --quiet --threads 1
    try_command traced rows.svm -- train rows.svm -o m --trace out --quiet --threads 1
    try_command predict rows.svm model -- predict model rows.svm -o out --threads 1
    try_command print rows.svm model -- predict model rows.svm --threads 2
    try_command evaluate rows.svm model -- evaluate model rows.svm
    try_command inspect model model.state -- inspect model
    try_command inspect_json model model.state -- inspect model --json
    try_command inspect_data rows.csv -- inspect rows.csv
    try_command merge model model.state other other.state -- merge model other -o m
    try_command export large -- export large -o out
    try_command to_cache rows.svm -- convert rows.svm -o out --format gsac --quiet
    try_command to_text rows.gsac -- convert rows.gsac -o out --quiet
    try_command to_gzip rows.svm -- convert rows.svm -o out.gz --quiet
    try_command to_zstd rows.svm -- convert rows.svm -o out.zst --quiet
    try_command long long.svm -- convert long.svm -o out --format gsac --quiet
    try_command long_learned long.svm -- train long.svm -o m --method paper --passes 2 --threads 2 --quiet
    try_command long_text long.svm model -- predict model long.svm -o out --threads 2
    try_command large large large.state -- merge large -o m
    try_command checkpoints long.svm -- train long.svm -o m --method paper --passes 2 --checkpoint tmp \
        --every 0 --threads 1 --quiet
    try_command generate -- generate --rows 20 -o out --quiet
    try_command compare rows.svm -- compare rows.svm --methods gsa,sgd:0.1 --passes 1 --seeds 1 -o out --quiet
    [ "$only" != rounds ] || # a second each run, so only when asked for
        try_command rounds many.gsac -- train many.gsac -o m --passes 1 --threads 2 --checkpoint tmp --every 0 --quiet
}

# The files of a command, "--", its words. $only, if it is not empty, has the names to try.
try_command()
{
    name=$1 files=
    shift
    while [ "$1" != -- ]; do
        files="$files $1"
        shift
    done
    shift
    case " ${only:-$name} " in
    *" $name "*) ;;
    *) return 0 ;;
    esac
    packer=$(echo "$name" | sed 's/^to_//; s/^kept$/gzip/')
    ! greedystep --version | grep -q "^$packer  *no$" || { echo "SKIPPED: $name: this build has no $packer"; return 0; }
    begin $files
    case $name in
    print | evaluate | inspect*) $tries --stdout -- greedystep "$@" ;;
    traced) $tries --loose ./out --log ./out -- greedystep "$@" ;;
    checkpoints | rounds) $tries --log ./tmp/m.state -- greedystep "$@" ;; # a whole one: crash.sh
    compare) $tries --loose ./out -- greedystep "$@" ;;
    *) $tries -- greedystep "$@" ;;
    esac
}
