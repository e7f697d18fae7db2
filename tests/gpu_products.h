// Shared by the tests of matrix products on a GPU.
#pragma once

#include "tests/gpu.h"

#include "tuner/base/clock.h"

// Edits a job with a sed script, tunes it with further options, and requires that every candidate is correct.
static inline void all_right(const char *what, const char *job, const char *script, const char *options)
{
    char *folder = e2e_folder("gemm");
    struct e2e_result r = e2e_run(
        folder,
        "sed -e 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|; "
        "s|\"\\([a-z]*_shifted.cu\\)|\"'$PWD'/tests/jobs/\\1|; s|\"\\.\\./templates|\"'$PWD'/templates|' -e "
        "'%s' %s >$DIR/job.cfg && $BIN/sweetspot tune $DIR/job.cfg --store $DIR/g.db --cache $CACHE -q --no-counters "
        "--no-final %s && "
        "$BIN/sweetspot status $DIR/job.cfg --store $DIR/g.db && { grep -aE ' trial [0-9]+ [a-z_]+: ' $DIR/g.log; :; }",
        script, job, options);
    if (r.status) fail_msg("%s: status %d: %.3000s", what, r.status, r.err);
    static const char *const bad[] = {" wrong",         " out_of_bounds", " nondeterministic", " crashed", " timeout",
                                      " compile_error", " launch_error",  " implausible",      " pruned"};
    // In a random sample, some candidates may be pruned.
    for (size_t i = 0; i < sizeof bad / sizeof *bad - (*options != 0); i++)
        if (strstr(r.out, bad[i])) {
            puts(r.out); // longer than cmocka's messages can be
            fail_msg("%s: %s", what, bad[i]);
        }
    assert_contains(r.out, " ok");
}

// sed scripts for the jobs.
#define C_NOT_READ "s/value = 0.75/value = 0.0/; s/direction = \"inout\"/direction = \"out\"/"
#define FEW_LAUNCHES "s/^search/measure = { cache = \"warm\"; warmup = 0; min_samples = 3; max_samples = 3; }; search/"
// Fills the inputs, whose lines end with `ld`, with infinities and NaN among finite numbers.
#define NOT_FINITE "s/\\(buffer = \"[AB]\".*ld = [^;]*\\); }/\\1; fill = \"nonfinite\"; }/"

struct product {
    const char *what, *job, *script, *options; // options "": the job's strategy is exhaustive
};

static inline void products_right(const struct product *products, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double begin = clock_now();
        all_right(products[i].what, products[i].job, products[i].script, products[i].options);
        print_message("  %5.1f s  %s\n", clock_now() - begin, products[i].what);
    }
}
