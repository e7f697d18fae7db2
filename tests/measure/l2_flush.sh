#!/usr/bin/env bash
# Bytes that a kernel reads from DRAM after the L2 was emptied (l2_flush.cu). In ncu's table, timed<0, 0> is a plain
# kernel after a flush that reads, timed<1, 0> one whose loads are evict_last, timed<x, 1> after the program's own
# flush; for 4, 16 and 48 MiB in turn. Needs a GPU, nvcc and ncu.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p out/measure
nvcc -std=c++17 -arch=native -I. -o out/measure/l2_flush tests/measure/l2_flush.cu
ncu --replay-mode application --cache-control none --clock-control none -k regex:timed \
    --metrics dram__bytes_read.sum out/measure/l2_flush
