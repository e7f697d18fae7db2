// sweetspot import: reads a recorded space in any format of recorded.h, prints a summary, and writes it in our format.

#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/final/finals.h"
#include "tuner/recorded/recorded.h"

static const char *input, *output, *t1;

static const struct option_spec specs[] = {
    ARGUMENT(string, &input, "FILE", "Kernel Tuner cache, KTT or T4 results, or our own JSON; may be gzipped"),
    OPTION(string, &t1, "space", 0, "FILE",
           "T1 document with the parameters' values, for T4 and KTT (the measured values)"),
    OPTION(string, &output, "output", 'o', "FILE",
           "the file to write, compressed if its name ends in .gz; -: standard output (none)"),
    OPTION_END,
};

static void print_summary(FILE *f, const struct recorded *r)
{
    size_t counts[STATUS_COUNT] = {0};
    for (size_t i = 0; i < r->trial_count; i++) counts[r->trials[i].status]++;
    fprintf(f, "job             %s on %s\n", r->about.job[0] ? r->about.job : "(unnamed)",
            recorded_device_name(r)[0] ? recorded_device_name(r) : "an unknown device");
    if (r->about.licence[0]) fprintf(f, "licence         %s\n", r->about.licence);
    fprintf(f, "configurations  %zu:", r->trial_count);
    const char *separator = "";
    for (int s = 0; s < STATUS_COUNT; s++) {
        if (!counts[s]) continue;
        fprintf(f, "%s %zu %s", separator, counts[s], status_name((enum trial_status)s));
        separator = ",";
    }
    fprintf(f, "\nbest            ");
    if (r->best < 0) {
        fprintf(f, "none worked\n");
        return;
    }
    autofree char *configuration = space_text(r->space, r->configs + (size_t)r->best * r->parameter_count);
    fprintf(f, "%s  %s\n", show_time(r->trials[r->best].objective, TEXT_ROOM), configuration);
}

static int run(void)
{
    struct error err = {""};
    if (output && input_file_is_same(input, output)) return complain(EXIT_USAGE, "--output is the input itself");
    if (output && output_is_foreign(output)) return complain_foreign(output);
    struct recorded *recorded = recorded_read_with(input, t1, &err);
    if (!recorded) return complain(EXIT_USAGE, "%s", err.message);
    for (size_t i = 0; i < recorded->left_out.unknown_count; i++)
        fprintf(stderr, "sweetspot: %s: left out the unknown column '%s'\n", input,
                recorded->left_out.unknown_columns[i]);
    recorded_warn(recorded, input);
    print_summary(output && output_is_stdout(output) ? stderr : stdout,
                  recorded); // stdout never gets both the space and the summary
    int status = recorded->best < 0 ? EXIT_NOTHING : EXIT_DONE;
    if (output && recorded_write(recorded, output, &err)) {
        status = complain(EXIT_ENVIRONMENT, "%s", err.message);
    } else if (output && !output_is_stdout(output)) {
        fprintf(stderr, "sweetspot: written to %s\n", output);
    }
    recorded_free(recorded);
    return status;
}

const struct command cmd_import = {
    .name = "import",
    .summary = "convert a recorded space of another tuner",
    .description = "Converts a recorded space of another tuner into sweetspot's JSON, and prints a summary.",
    .options = specs,
    .run = run,
    .more = "The summary has the number of configurations by status, and the best one. It goes to standard error if "
            "the file is written to standard output. Without `--output` only the summary is printed.",
    .see = "export simulate",
};
