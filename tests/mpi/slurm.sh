#!/bin/sh
# slurm.sh openmpi GREEDYSTEP: under a Slurm of its own, which has two nodes on this machine: srun starts ranks of each MPI, and
# examples/slurm/train.sbatch, as it stands, goes on after a rank was killed and after the job was told to stop.
. "$(dirname "$0")/prelude.sh"
for program in slurmctld slurmd srun sbatch munged; do
    command -v $program > /dev/null || PATH=$PATH:/usr/sbin
    command -v $program > /dev/null || {
        echo "SKIPPED: no $program (Debian: slurm-wlm)"
        exit 77
    }
done
[ "$(id -u)" -eq 0 ] || {
    echo "SKIPPED: only root can be all of a Slurm"
    exit 77
}
chmod 755 "$work"
started=
at_end()
{
    scancel --user=root > /dev/null 2>&1 || true
    sleep 1
    for process in $started; do
        kill "$process" 2> /dev/null || true
    done
    wait
}

# ---- a Slurm -----------------------------------------------------------------------------------------------------------

port=$((20000 + $$ % 20000))
mkdir state spool tmp tmp/n1 tmp/n2 spool/n1 spool/n2
head -c 1024 /dev/urandom > munge.key
chmod 400 munge.key
cat > slurm.conf <<C
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=5
SlurmctldPort=$port
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmdSpoolDir=$work/spool/%n
StateSaveLocation=$work/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SwitchType=switch/none
KillWait=10
TmpFS=$work/tmp/%n
SchedulerParameters=sched_interval=2,bf_interval=2
NodeName=n[1-2] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE
C
export SLURM_CONF="$work/slurm.conf"
munged --force --foreground --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" \
    --log-file="$work/munge.log" --seed-file="$work/munge.seed" > munged.out 2>&1 &
started="$!"
sleep 1
slurmctld -D > slurmctld.log 2>&1 &
started="$! $started"
for node in n1 n2; do
    slurmd -D -N $node > $node.log 2>&1 &
    started="$! $started"
done
tries=0
until [ "$(sinfo -h -t idle -o %D 2> /dev/null)" = 2 ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { tail -n 5 ./*.log munged.out; sinfo; fail "Slurm does not begin"; }
    sleep 0.2
done
echo "$(sinfo --version), nodes n1 and n2"

# ---- srun --------------------------------------------------------------------------------------------------------------

"$greedystep" generate --rows 1600000 --features 20000 --skew 1 --noise 0.1 -o rows.gsac --quiet
"$greedystep" train rows.gsac -o alone --passes 3 --quiet > /dev/null
for kind in openmpi:pmix mpich:pmi2; do
    if [ ! -e "$(dirname "$greedystep")/libgreedystep_mpi_${kind%:*}.so" ]; then
        echo "SKIPPED: this build has no ${kind%:*}"
        continue
    fi
    timeout 120 srun --mpi="${kind#*:}" -N 2 -n 3 "$greedystep" train rows.gsac -o model --passes 3 > log 2>&1 ||
        { cat log; fail "srun --mpi=${kind#*:}"; }
    grep -q 'of 3 on' log || { cat log; fail "srun --mpi=${kind#*:}: not three ranks"; }
    cmp model alone && cmp model.state alone.state || fail "srun --mpi=${kind#*:}: something else than one process"
    rm model model.state
    echo "srun --mpi=${kind#*:}: same bits"
done

srun --mpi=none -n 2 "$greedystep" train rows.gsac -o model --passes 1 > log 2>&1 && fail "two processes apart were not refused"
[ "$(grep -c 'greedystep: .* --mpi=pmix' log)" -ge 1 ] || { cat log; fail "nobody says what to do without --mpi"; }
[ ! -e model ] || fail "processes apart have written a model"
srun --mpi=none -n 1 "$greedystep" train rows.gsac -o model --passes 1 --quiet > log 2>&1 || { cat log; fail "one task needs no MPI"; }
rm model model.state
echo "srun --mpi=none: one task learns, two are refused"

# ---- sbatch ------------------------------------------------------------------------------------------------------------

mkdir bin
cat > bin/greedystep <<B
#!/bin/sh
echo \$\$ > "$work/pid.\$SLURM_PROCID"
exec "$greedystep" "\$@" --every 0 --passes 3
B
chmod +x bin/greedystep
PATH=$work/bin:$PATH
job=$(sbatch --parsable --output=job.log "$here/../../examples/slurm/train.sbatch" "$work/model" "$work/rows.gsac")

# comes_to TEXT TIMES: the log of the job has it so often.
comes_to()
{
    tries=0
    until [ "$(grep -c "$1" job.log 2> /dev/null)" -ge "$2" ] 2> /dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || { cat job.log; squeue; tail -n 5 slurmctld.log; fail "not $2 times in the log: $1"; }
        sleep 0.1
    done
}

comes_to '^pass 1/3' 3
kill -9 "$(cat pid.1)"
comes_to 'of 2 on' 2
comes_to '^pass [23]/3' 1
scancel --signal=TERM "$job"
comes_to 'of 2 on' 3
tries=0
while squeue -h -j "$job" 2> /dev/null | grep -q .; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { cat job.log; fail "the job does not end"; }
    sleep 0.2
done
! grep -q 'begins from the start' job.log || [ "$(grep -c 'begins from the start' job.log)" -eq 1 ] ||
    { cat job.log; fail "it began from the start again"; }
cmp model alone && cmp model.state alone.state || { cat job.log; fail "the job came to something else than one process"; }
[ ! -e model.checkpoints ] || fail "a folder of checkpoints is left"
echo "sbatch: killed once, told to stop once, requeued $(($(grep -c 'of 2 on' job.log) - 1)) times: same bits"
