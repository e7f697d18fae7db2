// Templates on the CPU (tests/emulation).
#pragma once

#include "tests/e2e.h"
#include "tests/testing.h"

// Compiles for emulation. The header that all programs share is precompiled once per test folder, which saves a quarter
// of each program's time.
#define EMULATED "g++ -std=c++17 -O1 -w "
#define EMULATED_COMPILER                                                                                             \
    "{ [ -e $DIR/cuda.h.gch ] || " EMULATED "-x c++-header tests/emulation/cuda.h -o $DIR/cuda.h.gch; } && " EMULATED \
    "-include cuda.h -I$DIR -Itests/emulation "

// Edits a template with a sed script, compiles it with these macros, and runs it. `what` is the base name of its files
// in tests/emulation.
static struct e2e_result emulate(const char *folder, const char *template, const char *what, const char *script,
                                 const char *macros)
{
    return e2e_run(
        folder,
        "for file in $(cd templates && find %s.cu %s device -type f 2>/dev/null); do mkdir -p $(dirname $DIR/$file) && "
        "sed -f tests/emulation/ptx.sed -f tests/emulation/%s.sed templates/$file | sed '%s' >$DIR/$file || exit 9; "
        "done; " EMULATED_COMPILER
        "-DUNROLL_K= %s tests/emulation/%s.cpp -o $DIR/emulated && timeout 120 $DIR/emulated",
        template, template, what, script, macros, what);
}

// If `mistake` is NULL, fails unless the program succeeded. Otherwise fails unless the program failed with this
// message.
static void expect(struct e2e_result r, const char *what, const char *mistake)
{
    if (mistake ? r.status != 1 || !strstr(r.out, mistake) : r.status || strcmp(r.out, "ok\n") != 0)
        fail_msg("%s: status %d: %s%.2000s", what, r.status, r.out, r.err);
}
