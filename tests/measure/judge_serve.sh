#!/usr/bin/env bash
# Measures how long `sweetspot judge --serve` takes for a kernel of about 1 ms, and how many verdicts it gives per
# minute. At each of three depths of checking, the server gets new sources one after the other. One source in four is
# wrong. Needs a GPU.
#
# Usage: tests/measure/judge_serve.sh [REQUESTS] [FOLDER]
# REQUESTS: number of requests at each depth (20). FOLDER: for jobs and cache (a fresh one).
set -eu
cd "$(dirname "$0")/../.."
requests=${1:-20} folder=${2:-$(mktemp -d)} sweetspot=$PWD/${BIN:-out/bin}/sweetspot
mkdir -p "$folder" && cd "$folder"
cat >spin.cu <<'END'
extern "C" __global__ void spin(const float *x, float *y)
{
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 0; k < 26000; k++) v = v * 0.999f + 0.001f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
END
cat >spin.cfg <<'END'
name = "spin"; kernel = { template = "spin.cu"; entry = "spin"; }; problems = ( { N = 1048576; } );
launch = { grid = [ "N / 256" ]; block = [ 256 ]; };
arguments = ( { buffer = "x"; type = "f32"; shape = ["N"]; },
              { buffer = "y"; type = "f32"; shape = ["N"]; direction = "out"; } );
reference = { kernel = "spin"; launch = { grid = [ "N / 256" ]; block = [ 256 ]; }; };
END
for depth in '"sanitize":false,"counters":false' '"sanitize":false' '"sanitize":true'; do
    coproc judge { exec "$sweetspot" judge --serve --cache cache; }
    sleep 5 && begun=$(date +%s%N) # the spare process is ready
    for i in $(seq "$requests"); do
        factor=$([ $((i % 4)) -eq 0 ] && echo 0.998f || echo 0.999f)
        text=$(sed "s/0.999f/$factor/" spin.cu | sed 's/"/\\"/g' | tr '\n' '@' | sed 's/@/\\n/g')
        start=$(date +%s%N)
        echo "{\"id\":$i,\"job\":\"spin.cfg\",$depth,\"source\":\"$text// $i $RANDOM\"}" >&"${judge[1]}"
        read -r line <&"${judge[0]}"
        status=$(grep -oE '"error":"[^"]*"|"status":"[a-z_]*"' <<<"$line" | head -n 1)
        echo "$((($(date +%s%N) - start) / 1000000)) ms  $status  $(grep -o '"depth":[^]]*' <<<"$line")  $depth"
    done
    echo "$((60000000000 * requests / ($(date +%s%N) - begun))) verdicts a minute with $depth"
    eval "exec ${judge[1]}>&-"
    wait
done
