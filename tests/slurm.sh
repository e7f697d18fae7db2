#!/bin/bash
# Runs Slurm without systemd on one machine (a controller, its own munged, and several slurmd that stand for nodes), and
# runs a pool on this Slurm. Needs root, and installs missing Debian packages. Searches run in the pool while workers,
# agents and the driver are killed, a node is drained, and another node joins.
# Usage: BIN=out/bin tests/slurm.sh
set -u
BIN=$(realpath "${BIN:?}")
cd "$(dirname "$0")/.." || exit 1
kind=slurm tests=7
. tests/pool_scene.sh
needs "slurm-wlm munge" slurmd munged srun
scene_begin
export MUNGE_SOCKET=$at/munge.socket SLURM_CONF=$at/slurm.conf
head -c 64 /dev/urandom >"$at/key"
chmod 600 "$at/key"
configure() {
    port=$(free_ports)
    cat >"$SLURM_CONF" <<EOF
ClusterName=sweetspot
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$at/munge.socket
CryptoType=crypto/munge
StateSaveLocation=$at/state
SlurmdSpoolDir=$at/spool-%n
SlurmctldPidFile=$at/ctld.pid
SlurmdPidFile=$at/%n.pid
SlurmctldLogFile=$at/ctld.log
SlurmdLogFile=$at/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SwitchType=switch/none
MpiDefault=none
KillWait=2
InactiveLimit=0
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 RealMemory=1000
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 RealMemory=1000
NodeName=n3 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 3)) CPUs=2 RealMemory=1000
PartitionName=all Nodes=n[1-3] Default=YES MaxTime=10 State=UP OverSubscribe=YES
EOF
}
munged --force --foreground --socket="$MUNGE_SOCKET" --key-file="$at/key" --log-file="$at/munge.log" \
    --pid-file="$at/munge.pid" --seed-file="$at/munge.seed" >/dev/null 2>&1 &
pids="$pids $!"
# Another process may take a port between the check and the start, so there are up to three attempts.
come_up() {
    local daemons=
    configure
    rm -rf "$at/state" "$at"/spool-*
    mkdir "$at/state" "$at/spool-n1" "$at/spool-n2" "$at/spool-n3"
    slurmctld -D -i >/dev/null 2>&1 &
    daemons="$daemons $!"
    for node in n1 n2 n3; do
        slurmd -D -N $node >/dev/null 2>&1 &
        daemons="$daemons $!"
    done
    pids="$pids $daemons"
    for _ in $(seq 75); do
        [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 3 ] && return 0
        sleep .2
    done
    # shellcheck disable=SC2086
    kill -9 $daemons 2>/dev/null
    return 1
}
come_up || come_up || come_up || {
    sinfo
    tail -5 "$at"/*.log
    skip "slurmctld and slurmd do not come up here"
}

allocate() { # NODES SECONDS: prints the job's number
    sbatch --parsable -N1 -w "$1" --overcommit --output=/dev/null --wrap "sleep $2"
}
running() { for _ in $(seq 50); do [ "$(squeue -h -j "$1" -o %T)" = RUNNING ] && return; sleep .1; done; }

# Inside an allocation, as in a user's batch script.
fresh
salloc -Q -N2 -w n1,n2 "$BIN/sweetspot" tune "$at/job.cfg" --store "$store" -q --pool slurm --node-cache "$at/cache" \
    >"$at/out" 2>"$at/err" && whole && grep -q 'node n1 joins' "$at/err" && grep -q 'node n2 joins' "$at/err"
result $? 'an allocation is found and used'

env -u SLURM_JOB_ID "$BIN/sweetspot" tune "$at/job.cfg" --store "$store" --pool slurm >"$at/out" 2>"$at/err"
[ $? = 2 ] && grep -q 'salloc --nodes' "$at/err"
result $? 'without an allocation it says how to get one'

# Jobs that were started elsewhere, named by their numbers.
a=$(allocate n1 300) b=$(allocate n2 300)
running "$a"
running "$b"
fresh
tune --pool "slurm:$a,$b" >"$at/out" 2>"$at/err" &
tuner=$!
measuring
kill -9 "$(workers | tail -1)"
sleep .3
kill -9 "$(agents | head -1)"
wait $tuner && whole && grep -q 'is lost' "$at/err"
result $? 'a worker and an agent that are killed cost no candidate'

fresh
tune --pool "slurm:$a,$b" >"$at/out" 2>"$at/err" &
tuner=$!
measuring
left=$(workers)
kill -9 $tuner
wait $tuner 2>/dev/null
for _ in $(seq 50); do # shellcheck disable=SC2086
    ps -o stat= -p "$(echo $left | tr ' ' ,)" | grep -qv Z || break
    sleep .1
done
[ -n "$left" ] && ! ps -o stat= -p "$(echo $left | tr ' ' ,)" | grep -qv Z
result $? 'workers end with a driver that is killed'
before=$(wc -l <"$FAKE_LOG")
tune --pool "slurm:$a,$b" >"$at/out" 2>"$at/err" && whole && [ "$before" -gt 0 ] &&
    # except candidates in flight on the two GPUs, and the reference of each run, which every GPU measures
    [ "$(sort "$FAKE_LOG" | uniq -d | wc -l)" -le $((4 + 2)) ]
result $? 'the same command goes on, and measures nothing twice'

# A node whose job ends, and one that joins.
fresh
cat >"$at/nodes.cfg" <<EOF
nodes = ( { name = "first"; command = "srun --jobid=$a --overlap --unbuffered"; gpus = 1; cores = 1; } );
EOF
tune --pool "$at/nodes.cfg" >"$at/out" 2>"$at/err" &
tuner=$!
measuring
c=$(allocate n3 100)
running "$c"
cat >"$at/n" <<EOF
nodes = ( { name = "first"; command = "srun --jobid=$a --overlap --unbuffered"; gpus = 1; cores = 1; },
  { name = "late"; command = "srun --jobid=$c --overlap --unbuffered"; gpus = 2; cores = 2; } );
EOF
mv "$at/n" "$at/nodes.cfg"
sleep 1
scontrol update nodename=n1 state=drain reason=test
scancel "$a"
wait $tuner && whole && grep -q 'node late joins' "$at/err" && grep -q 'node first is lost' "$at/err"
result $? 'a node that is drained leaves, and one that joins takes over'

scancel "$b" "$c"
for _ in $(seq 50); do [ -z "$(squeue -h)" ] && break; sleep .1; done
for _ in $(seq 30); do [ -z "$(agents)" ] && break; sleep .1; done
[ -z "$(agents)" ]
result $? 'no agent is left'
finish
