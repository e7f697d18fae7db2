// sweetspot export: all trials of a job as a recorded space.
#include <stdio.h>

#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/session.h"
#include "tuner/output/export.h"

int cmd_export(int argc, char **argv)
{
    const char *job = NULL, *store = NULL, *output = "-";
    const struct option_spec specs[] = {
        OPTION_JOB(&job),
        OPTION_STORE(&store),
        {.name = "output",
         .letter = 'o',
         .string = &output,
         .shown = "FILE",
         .help = "the file to write, packed when its name ends in .gz (-: standard output)"},
        OPTION_END,
    };
    int status = options_parse(specs,
                               "Writes all trials of a job as a recorded space in JSON: configurations, statuses, "
                               "times, the compiler's figures, counters, baselines "
                               "and finals. `tune --device replay:FILE` and `replay` read it.",
                               argc, argv);
    if (status >= 0) return status;
    struct session session = {0};
    struct recorded *recorded = NULL;
    struct error err = {""};
    struct export_left_out left_out = {0};
    if ((status = session_open(&session, job, store)) || (status = session_build_space(&session))) goto out;
    recorded = export_recorded(session.job, session.store, &session.environment, session.device, &left_out, &err);
    if (!recorded) {
        fprintf(stderr, "sweetspot: %s: %s\n", session.store_path, err.message);
        status = EXIT_NOTHING;
        goto out;
    }
    if (left_out.elsewhere)
        fprintf(stderr, "sweetspot: %zu trials are not of the job's search space as it is now, and left out\n",
                left_out.elsewhere);
    if (left_out.screened)
        fprintf(stderr, "sweetspot: %zu trials were screened out by a guide and never measured: left out\n",
                left_out.screened);
    if (session.job->objective == OBJECTIVE_MEAN && session.job->tuned_count > 1)
        fprintf(stderr,
                "sweetspot: a recorded space knows no mean over problems: it is replayed with the geometric mean\n");
    if (recorded_write(recorded, output, &err)) {
        status = session_complain(EXIT_ENVIRONMENT, &err);
    } else if (!output_is_stdout(output)) {
        fprintf(stderr, "sweetspot: %zu configurations in %s\n", recorded->trial_count, output);
    }
out:
    recorded_free(recorded);
    session_close(&session);
    return status;
}
