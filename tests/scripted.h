// For tests: a job with one kernel and one output, which the real program tunes on scripted workers (fake_worker.c).
#pragma once

#include "tests/e2e.h"

#define SCRIPTED "SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker "

struct scripted_job {
    const char *file, *name;             // NULL: "job.cfg", "fake"
    const char *parameters;              // "{ name = .. }, .."
    const char *problems, *grid, *block; // NULL: "{ N = 1024; }", "N", "32"
    const char *shared;                  // NULL: 0
    const char *more;                    // further settings; NULL: none
    const char *source;                  // NULL: an empty kernel
};

// Writes the job and its source, x.cu, into the folder. Line 1 has the kernel, line 2 the parameters, line 3 problems
// and launch, line 4 the argument; `more` begins at line 5.
static inline void scripted_write(const char *folder, const struct scripted_job *j)
{
    char *text = test_text(
        "name = \"%s\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
        "parameters = ( %s );\n"
        "problems = ( %s ); launch = { grid = [\"%s\"]; block = [\"%s\"]; shared = \"%s\"; };\n"
        "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } ); verification = { "
        "enabled = false; };\n%s\n",
        j->name ? j->name : "fake", j->parameters, j->problems ? j->problems : "{ N = 1024; }", j->grid ? j->grid : "N",
        j->block ? j->block : "32", j->shared ? j->shared : "0", j->more ? j->more : "");
    e2e_write(folder, j->file ? j->file : "job.cfg", text);
    e2e_write(folder, "x.cu", j->source ? j->source : "extern \"C\" __global__ void x(float *y) {}\n");
}

// SCRIPTED_JOB(folder, .parameters = "..", .more = "..");
#define SCRIPTED_JOB(folder, ...) scripted_write(folder, &(struct scripted_job){__VA_ARGS__})

// Tunes job.cfg with the store job.db. The folder is the working directory. `before` sets environment variables, "A=1
// B=2".
static inline struct e2e_result scripted_tune(const char *folder, const char *before, const char *options)
{
    return e2e_in(folder,
                  "export SWEETSPOT_NVCC=none; export " SCRIPTED "%s; $BIN/sweetspot tune job.cfg --store job.db -q %s",
                  before, options);
}
