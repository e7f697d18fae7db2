#!/usr/bin/env bash
# Runs test programs (cmocka), several at once, shows the tests that failed, and ends with one line:
# N passed, N failed, N skipped.
#
# Usage: BIN=out/bin tests/run.sh PROGRAM... [-- PROGRAM... [-- PROGRAM...]]
# Programs after the first `--` need a GPU to themselves. When the other programs have ended, each GPU gets one of these
# programs at a time (GPUS: the number of GPUs; default: all in nvidia-smi). Without a GPU, these programs run one after
# another. Programs after the second `--` need the machine to themselves. JOBS: number of programs at once (default:
# number of cores + 2, because tests wait for deadlines). DEADLINE: seconds that a program may take. After that, it and
# its children are killed, which counts as one failure. A program that dies without its closing lines also counts as one
# failure. The output of a program is in $BIN/log/<program>.log.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
# A real compute-sanitizer would check scripted workers. Tests that need it set this variable themselves.
export SWEETSPOT_SANITIZER=none SWEETSPOT_NVCC=none
gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')}
jobs=${JOBS:-$(($(nproc 2>/dev/null || echo 2) + 2))} deadline=${DEADLINE:-300}
logs=${BIN:?}/log
mkdir -p "$logs"
passed=0 failed=0 skipped=0
declare -A name_of=() start_of=() gpu_of=()
free=() devices=() # free: idle GPUs, when each program has its own; devices: GPUs for programs after the next `--`
[ "$gpus" -le 1 ] || mapfile -t devices < <(seq 0 $((gpus - 1)))

# `timeout` puts the program into its own process group and kills that group.
start() {
    local name
    name=$(basename "$1")
    local gpu=${free[0]-}
    free=("${free[@]:1}")
    env ${gpu:+CUDA_VISIBLE_DEVICES=$gpu} timeout --signal=KILL "$deadline" "$1" >"$logs/$name.log" 2>&1 </dev/null &
    name_of[$!]=$name start_of[$!]=$SECONDS gpu_of[$!]=$gpu
}

# Waits for one program and counts its tests.
finish() {
    local pid='' status name log p f s seconds
    wait -n -p pid "${!name_of[@]}" 2>/dev/null
    status=$?
    name=${name_of[$pid]} log=$logs/$name.log seconds=$((SECONDS - start_of[$pid]))
    [ -z "${gpu_of[$pid]}" ] || free+=("${gpu_of[$pid]}")
    unset "name_of[$pid]" "start_of[$pid]" "gpu_of[$pid]"
    p=$(grep -c '^\[       OK \]' "$log")
    # cmocka names failed and skipped tests twice, the second time in a list at the end.
    f=$(grep '^\[  FAILED  \] [A-Za-z_0-9]*$' "$log" | sort -u | wc -l)
    s=$(grep '^\[  SKIPPED \] [A-Za-z_0-9]*$' "$log" | sort -u | wc -l)
    if [ "$status" -ne 0 ]; then
        cat "$log"
        if [ "$status" -eq 137 ] && [ "$seconds" -ge "${deadline%.*}" ]; then
            f=$((f + 1))
            echo "$name did not end within $deadline s and was killed"
        elif [ "$f" -eq 0 ]; then
            f=1
            echo "$name ended with status $status"
        fi
    elif [ $((p + f + s)) -eq 0 ]; then
        f=1
        echo "$name ran no test"
        cat "$log"
    fi
    echo "$name: $p passed, $f failed, $s skipped, $seconds s"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

stop() {
    trap - INT TERM
    # shellcheck disable=SC2046 # process ids
    kill -TERM $(jobs -p) 2>/dev/null
    echo "$passed passed, $((failed + 1)) failed, $skipped skipped"
    exit 130
}
trap stop INT TERM

for program in "$@"; do
    if [ "$program" = -- ]; then
        while [ ${#name_of[@]} -gt 0 ]; do finish; done
        free=("${devices[@]}") jobs=$((${#devices[@]} > 1 ? ${#devices[@]} : 1)) devices=("${devices[@]:0:1}")
        continue
    fi
    while [ ${#name_of[@]} -ge "$jobs" ]; do finish; done
    start "$program"
done
while [ ${#name_of[@]} -gt 0 ]; do finish; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
