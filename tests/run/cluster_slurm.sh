#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark-mpi under Slurm as docs/book/answers/cluster.md says: a batch job with several tasks, and an array over a list of
# files; on a Slurm of this test's own, on this machine. Skipped (77) without MPI, and where no Slurm can be started.
set -eu
bin=$(readlink -f "$1") source=$(readlink -f "$2")
. "$source/tests/support/mpi.sh"
export PATH=$PATH:/usr/sbin
for program in slurmctld slurmd sbatch srun sinfo; do
    command -v $program >/dev/null || { echo "$program is not there (slurm-wlm)"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "only root can start a Slurm of its own"; exit 77; }
tmp=$(mktemp -d)
daemons=()
# What asks a controller that is not there tries for ten seconds each time: each question has an end, and each wait.
ask() { timeout 5 "$@" 2>/dev/null; }
trap 'for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done; wait; rm -rf "$tmp"' EXIT
host=$(hostname -s)
port=$((10000 + $$ % 10000 * 2)) # below those that the system gives away

mkdir "$tmp/state" "$tmp/spool"
cat >"$tmp/slurm.conf" <<CONF
ClusterName=test$$
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool
SlurmctldPidFile=$tmp/controller.pid
SlurmdPidFile=$tmp/node.pid
SlurmctldLogFile=$tmp/controller.log
SlurmdLogFile=$tmp/node.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
SlurmdParameters=config_overrides
CONF
export SLURM_CONF=$tmp/slurm.conf
slurmctld -D >"$tmp/controller.out" 2>&1 &
daemons+=($!)
slurmd -D >"$tmp/node.out" 2>&1 &
daemons+=($!)
until=$((SECONDS + 30))
until ask sinfo -h -o %t | grep -q idle; do
    if ((SECONDS >= until)) || ! kill -0 "${daemons[0]}" || ! kill -0 "${daemons[1]}"; then
        echo "no Slurm can be started here: $(tail -q -n 1 "$tmp"/*.log "$tmp"/*.out 2>/dev/null)"
        exit 77
    fi
    sleep 0.5
done

finish() { # JOB: wait until it is over
    local until=$((SECONDS + 120)) rows
    while ((SECONDS < until)); do
        if rows=$(ask squeue -h -j "$1") && [ -z "$rows" ]; then return 0; fi
        sleep 0.5
    done
    echo "job $1 does not end"
    exit 1
}

cd "$tmp"
probe=$(sbatch --parsable --ntasks=2 --output=probe.out --wrap "mpirun -n 2 true && echo started")
finish "$probe"
grep -q started probe.out || { echo "this Slurm starts no MPI: $(tail -n 1 probe.out)"; exit 77; }

capture=$source/tests/captures/ptm-arm
"$bin/pugmark" pc "$capture" >"$tmp/one"

# The batch file of docs/book/answers/cluster.md, with other names.
PATH=$bin:$PATH
sed -n '/^    #!\/bin\/bash/,/^$/s/^    //p' "$source/docs/book/answers/cluster.md" >batch.all
awk '/^#!\/bin\/bash/ {n++} {print > ("batch." n)}' batch.all
grep -q pugmark-mpi batch.1 && grep -q SLURM_ARRAY_TASK_ID batch.2
sed -i -e 's/--nodes=[0-9]*/--nodes=1/' -e '/--time/d; /--ntasks-per-node/d; /--exclusive/d' batch.1 batch.2
echo "$capture" >list
echo "$source/tests/captures/etmv4-a64" >>list
job=$(sbatch --parsable --export=ALL,CAPTURE="$capture",OUT="$tmp/many" --ntasks=3 batch.1)
finish "$job"
cmp "$tmp/one" "$tmp/many" || { cat slurm-*.out; exit 1; }
job=$(sbatch --parsable --export=ALL,LIST="$tmp/list",OUT="$tmp" --array=1-2 --ntasks=2 batch.2)
finish "$job"
cmp "$tmp/one" "$tmp/1.pc" || { cat slurm-*.out; exit 1; }
"$bin/pugmark" pc "$source/tests/captures/etmv4-a64" | cmp - "$tmp/2.pc"
echo "a batch job and an array under Slurm gave what one process gives"
