#!/bin/sh
# Succeeds if clang and its libFuzzer are installed.
mkdir -p out
echo 'int LLVMFuzzerTestOneInput(const char *d, long n);
int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' |
    clang -x c -fsanitize=fuzzer,address - -o out/fuzzer-there >/dev/null 2>&1
