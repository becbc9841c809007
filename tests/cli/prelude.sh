# What the scripts share. A script runs in an empty directory with the command on its PATH.

# Shows a command, what it prints on both streams, and its exit code if it is not 0.
try()
{
    echo "\$ $*"
    "$@" 2>&1
    code=$?
    [ $code -eq 0 ] || echo "[exit $code]"
    return 0
}

# Shows a line of shell, for pipes and redirections.
try_line()
{
    echo "\$ $1"
    sh -c "$1" 2>&1
    code=$?
    [ $code -eq 0 ] || echo "[exit $code]"
    return 0
}

# Prints the paragraph of a summary that has this name.
paragraph()
{
    awk -v name="$1" '/^[a-z]/ { shown = $1 == name } shown'
}

# Says whether two files have equal bytes.
same()
{
    if cmp -s "$1" "$2"; then echo "same bytes: $1 $2"; else echo "DIFFERENT: $1 $2"; fi
}

different()
{
    if cmp -s "$1" "$2"; then echo "SAME BYTES: $1 $2"; else echo "different, as it should be: $1 $2"; fi
}

absent()
{
    for each in "$@"; do
        if [ -e "$each" ]; then echo "THERE: $each"; else echo "not there: $each"; fi
    done
}

count_lines()
{
    wc -l <"$1" | tr -d ' '
}

# Waits until a file contains a pattern, a minute at most: what writes it may have given way to everything else (nice).
wait_for()
{
    tries=0
    until grep -q "$2" "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || { echo "waited in vain for $2 in $1:"; cat "$1"; return 1; }
        sleep 0.02
    done
}

# Waits until a process handles SIGTERM, the last one that interrupt_catch asks for: before that a signal just kills it,
# and a loaded machine may need a second to come so far.
wait_until_listening()
{
    [ -r /proc/self/status ] || { sleep 1; return; }
    while [ -r "/proc/$1/status" ] && ! grep -q '^SigCgt:.*[4567cdef]...$' "/proc/$1/status"; do sleep 0.02; done 2>/dev/null
}

fail()
{
    echo "FAILED: $*"
    exit 1
}
