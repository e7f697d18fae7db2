// sweetspot init: writes a job file for a kernel, as far as its source and the compiler determine it (tuner/init).
#include "tuner/cli/commands.h"
#include "tuner/cli/draft_job.h"

static struct draft_request given;
static const char *output;

static const struct option_spec specs[] = {
    ARGUMENT(string, &given.path, "SOURCE", "CUDA C++ source with the kernel"),
    OPTION(string, &given.kernel, "kernel", 'k', "NAME", "the kernel to tune (the source's only kernel)"),
    OPTION(string, &output, "output", 'o', "FILE",
           "the job file to write; -: standard output (SOURCE with the ending .cfg)"),
    OPTION_END,
};

static int run(void)
{
    autofree char *path = output ? text_copy(output) : NULL;
    return draft_job(&given, &path);
}

const struct command cmd_init = {
    .name = "init",
    .summary = "draft a job file for a kernel from its source",
    .description = "Writes a draft of a job file for a kernel from its source.",
    .options = specs,
    .run = run,
    .more =
        "Parameters are macros that the source does not define, macros with a default after an `#ifndef`, and "
        "parameters of a C++ template. The compiler reports the kernel's arguments. The launch is taken from a "
        "`<<<...>>>` in the source if all of it can be determined. Unknown values become blanks: strings that begin "
        "with `?` and describe the missing value. `check` lists the blanks, and all commands refuse the job until "
        "they are filled in. Without a compiler there are more blanks. All conditional parts of the source are read.",
    .see = "check tune",
};
