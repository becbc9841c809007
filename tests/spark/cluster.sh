#!/usr/bin/env bash
# cluster.sh start FOLDER | stop FOLDER: a standalone Spark cluster on loopback, one Master and two Workers, each a JVM
# of its own, started with Spark's own spark-class. SPARK_HOME, or the pyspark that PYTHON finds, says which Spark. The
# workers are 127.0.0.1 and 127.0.0.2: Spark takes them for two machines, between which deltas really travel, and it runs
# no task a second time on the machine that has it already.
# WORKER_CORES (1) and WORKER_MEMORY (2g) are what each worker has. `start` prints the address of the master; FOLDER keeps
# logs, work and the ids of the processes, which `stop` ends: these and no others.
set -euo pipefail
what=${1:?start or stop} folder=${2:?a folder}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

if [ "$what" = stop ]; then
    [ -f "$folder/pids" ] || exit 0
    while read -r pid; do
        kill "$pid" 2> /dev/null || true
    done < "$folder/pids"
    while read -r pid; do
        for _ in $(seq 50); do
            kill -0 "$pid" 2> /dev/null || break
            sleep 0.1
        done
    done < "$folder/pids"
    rm -f "$folder/pids"
    exit 0
fi

home=${SPARK_HOME:-$("${PYTHON:-python3}" -c 'import pyspark, os; print(os.path.dirname(pyspark.__file__))')}
export SPARK_HOME=$home SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$folder/local
export SPARK_DAEMON_MEMORY=${SPARK_DAEMON_MEMORY:-256m}
: > "$folder/pids"

# start NAME CLASS ARGUMENTS...: a daemon that is left running, its id in pids, its log in NAME.log.
start() {
    local name=$1
    shift
    setsid "$home/bin/spark-class" "$@" > "$folder/$name.log" 2>&1 < /dev/null &
    echo $! >> "$folder/pids"
}

# address: the master's, once it says so; it chooses a free port itself.
address() {
    for _ in $(seq 200); do
        found=$(sed -n 's/.*Starting Spark master at \(spark:[^ ]*\).*/\1/p' "$folder/master.log" | head -n 1)
        [ -n "$found" ] && { echo "$found"; return; }
        sleep 0.2
    done
    cat "$folder/master.log" >&2
    return 1
}

start master org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 0 --webui-port 0
master=$(address)
for number in 1 2; do
    start "worker$number" org.apache.spark.deploy.worker.Worker --host "127.0.0.$number" --webui-port 0 \
        --cores "${WORKER_CORES:-1}" --memory "${WORKER_MEMORY:-2g}" --work-dir "$folder/work$number" "$master"
done
for _ in $(seq 200); do
    [ "$(cat "$folder"/worker?.log | grep -c 'Successfully registered with master')" = 2 ] && { echo "$master"; exit; }
    sleep 0.2
done
cat "$folder"/worker?.log >&2
exit 1
