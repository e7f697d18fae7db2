#!/usr/bin/env bash
# Times status, export and a resumed run on a store of a million trials, which SQL makes. With LOCK_US, each lock of a
# file takes that many microseconds longer, as on a network file system (a layer under the program; needs gcc).
#
# Usage: tests/measure/million.sh
# Needs sqlite3, GNU time and 0.5 GB in a folder below TMPDIR.
set -eu
cd "$(dirname "$0")/../.."
sweetspot=$PWD/${BIN:-out/bin}/sweetspot
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
values=$(seq -s ', ' 1 100)
echo 'extern "C" __global__ void k(float *y) { y[threadIdx.x] = A + B + C; }' >k.cu
cat >job.cfg <<END
name = "job";
kernel = { template = "k.cu"; entry = "k"; };
parameters = ( { name = "A"; values = [$values]; }, { name = "B"; values = [$values]; },
               { name = "C"; values = [$values]; } );
problems = ( { n = 1024; } );
launch = { grid = ["1"]; block = ["32"]; };
arguments = ( { buffer = "y"; type = "f32"; shape = ["n"]; direction = "out"; } );
verification = { enabled = false; };
END
cat >recording.json <<'END'
{"device_name": "none", "kernel_name": "k", "problem_size": "1024", "tune_params_keys": ["A", "B", "C"],
 "tune_params": {"A": [1], "B": [1], "C": [1]}, "cache": {"1,1,1": {"A": 1, "B": 1, "C": 1, "time": 1.0}}}
END
"$sweetspot" import recording.json -o recording.json.gz >/dev/null 2>&1
replay=(--device replay:recording.json.gz --no-final --store job.db)
"$sweetspot" tune job.cfg "${replay[@]}" --evaluations 1 -q >/dev/null 2>&1 || true # not in the recording: pruned
sqlite3 job.db "PRAGMA synchronous = OFF; DELETE FROM trial_problems; DELETE FROM trial_stages; DELETE FROM trials;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 1000000)
INSERT INTO trials (id, environment, config, status, objective, compile_seconds, gpu_busy, gpu_seconds, finished)
SELECT i + 1, (SELECT max(id) FROM environments),
       'A=' || (i / 10000 + 1) || ',B=' || (i / 100 % 100 + 1) || ',C=' || (i % 100 + 1), 'ok',
       1e-3 * (1 + i * 7919 % 100003 / 1e5), 0.3, 0.01, 0.02, 1.79e9 + i * 0.03 FROM n;
INSERT INTO trial_problems (trial, position, name, tuned, time, low, high, samples, samples_taken, error)
SELECT id, 0, 'n=1024', 1, objective, objective * 0.99, objective * 1.01,
       printf('%.9g %.9g %.9g %.9g %.9g', objective, objective, objective, objective, objective), 5, 0.1 FROM trials;
INSERT INTO trial_stages (trial, position, registers, shared_static, shared_dynamic, code_bytes, occupancy)
SELECT id, 0, 64, 1024, 0, 4096, 0.5 FROM trials;" >/dev/null
if [ -n "${LOCK_US:-}" ]; then
    cat >locks.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>
int fcntl64(int fd, int command, ...)
{
    static int (*next)(int, int, ...);
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!next) next = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl64");
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) usleep(LOCK_US);
    return next(fd, command, argument);
}
END
    gcc -shared -fPIC -DLOCK_US="$LOCK_US" locks.c -o locks.so -ldl
    export LD_PRELOAD=$folder/locks.so
fi
timed() {
    command time -f "$1: %e s, %U s of a core, %M KB" "$sweetspot" "${@:2}" 2>&1 >/dev/null | tail -n 1
}
timed status status job.cfg --store job.db
timed export export job.cfg --store job.db -o job.json.gz
timed resume tune job.cfg "${replay[@]}" --evaluations "1000000" -q
