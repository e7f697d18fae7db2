#!/usr/bin/env bash
# Counts the bytes that a kernel reads from DRAM after a flush of the L2 (l2_flush.cu). In ncu's table, timed<0, x> is a
# plain kernel, and timed<1, x> is a kernel whose loads are evict_last. timed<x, 0> runs after a flush that reads, and
# timed<x, 1> after sweetspot's own flush. The sizes are 4, 16 and 48 MiB in turn. Needs a GPU, nvcc and ncu.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p out/measure
nvcc -std=c++17 -arch=native -I. -o out/measure/l2_flush tests/measure/l2_flush.cu
ncu --replay-mode application --cache-control none --clock-control none -k regex:timed \
    --metrics dram__bytes_read.sum out/measure/l2_flush
