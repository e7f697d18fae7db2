# Shell functions for tests of pools that use a scheduler or ssh on this machine (slurm.sh, ssh.sh). They make a job
# with 80 candidates for scripted workers, and check the results. The caller sets BIN, `kind` (the word before each
# result) and `tests` (the number of tests), and calls scene_begin once.
passed=0 failed=0
result() { # STATUS NAME
    if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    echo "$kind: $([ "$1" = 0 ] && echo ok || echo FAILED): $2, ${SECONDS} s"
}
skip() {
    echo "$kind: $1"
    echo "0 passed, 0 failed, $tests skipped"
    exit 0
}
# needs PACKAGES PROGRAM...: installs Debian packages if a program is missing.
needs() {
    local packages=$1
    shift
    [ "$(id -u)" = 0 ] || skip "needs root"
    [ "$(command -v "$@" | wc -l)" = $# ] && return
    # shellcheck disable=SC2086
    sh tests/install.sh $packages
    [ "$(command -v "$@" | wc -l)" = $# ] || skip "$packages: not here, and cannot be installed"
}
stop() {
    # shellcheck disable=SC2086
    kill -9 $pids 2>/dev/null
    wait 2>/dev/null
    rm -rf "$at"
}
# Finds four consecutive ports that no program listens on, below those that the system assigns. Prints the first.
free_ports() {
    local first at
    for _ in $(seq 100); do
        first=$((10000 + RANDOM % 20000))
        for at in 0 1 2 3; do (: <"/dev/tcp/127.0.0.1/$((first + at))") 2>/dev/null && continue 2; done
        echo $first
        return
    done
}
# Creates the folder `at` with a job. When the caller exits, the processes in `pids` are killed and the folder is
# removed.
scene_begin() {
    at=$(mktemp -d "/tmp/sweetspot-$kind-XXXXXX")
    pids=
    trap stop EXIT
    chmod 755 "$at"
    export FAKE_LOG=$at/measured SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker
    export SWEETSPOT_NODE_BEAT=200ms SWEETSPOT_NODE_PATIENCE=3s SWEETSPOT_POOL_REREAD=500ms FAKE_DELAY=50000
    cat >"$at/job.cfg" <<EOF
name = "fake";
kernel = { template = "x.cu"; entry = "x"; };
parameters = ( { name = "X"; values = [1, 2, 3, 4, 5, 6, 7, 8]; }, { name = "MODE"; values = ["good"]; },
  { name = "Y"; values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]; } );
problems = ( { N = 1024; } );
launch = { grid = ["N"]; block = [32]; };
arguments = ( { buffer = "y"; type = "f32"; shape = ["N"]; direction = "out"; } );
verification = { enabled = false; };
measure = { timeout = "5s"; final = { candidates = 3; rounds = 10; }; };
strategy = "exhaustive";
EOF
    echo 'extern "C" __global__ void x(float *y) {}' >"$at/x.cu"
    store=$at/job.db
}
tune() { "$BIN/sweetspot" tune "$at/job.cfg" --store "$store" -q --node-cache "$at/cache" "$@"; }
# Whether all 80 configurations have a result and no configuration was blamed for a fault.
whole() {
    grep -q ', 80 in all' "$at/err" && grep -q 'winner: trial' "$at/out" &&
        ! grep -qE '  (crashed|timeout|compile_error|launch_error): ' "$at/job.log"
}
# The agents of this run and their workers. They are recognised by their folder, which no other run uses.
agents() { pgrep -f "^[^ ]*sweetspot-node --cache $at/cache"; }
workers() { for agent in $(agents); do pgrep -P "$agent"; done; }
fresh() { rm -f "$store"* "$FAKE_LOG" "$at/job.log"; }
measuring() { for _ in $(seq 100); do [ -s "$FAKE_LOG" ] && return; sleep .1; done; }
# Waits until something is measured and $1 nodes have joined.
joined() {
    measuring
    for _ in $(seq 50); do [ "$(grep -c joins "$at/err")" -ge "$1" ] && return; sleep .1; done
}
finish() {
    [ $failed = 0 ] || tail -n 20 "$at/out" "$at/err"
    echo "$passed passed, $failed failed, 0 skipped"
    [ $failed = 0 ]
}
