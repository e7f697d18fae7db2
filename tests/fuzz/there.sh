#!/bin/sh
# Whether clang and its libFuzzer are there.
mkdir -p out
printf 'int LLVMFuzzerTestOneInput(const char *d, long n);\nint LLVMFuzzerTestOneInput(const char *d, long n)\n{\n%s\n}\n' \
    '    return d && n < 0;' | clang -x c -fsanitize=fuzzer,address - -o out/fuzzer-there >/dev/null 2>&1
