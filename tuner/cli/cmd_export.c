// sweetspot export: all trials of a job as a recorded space.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/session.h"
#include "tuner/output/export.h"

// A recorded space is written whole or not at all, hence to a file; standard output gets a copy of it.
static int write_to_stdout(const struct recorded *recorded, struct error *err)
{
    const char *folder = getenv("TMPDIR");
    char *path = text_format("%s/sweetspot-export-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path), result = -1;
    char *text = NULL;
    size_t size = 0;
    if (fd < 0) {
        error_set(err, "cannot write '%s': %s", path, strerror(errno));
        goto out;
    }
    close(fd);
    if (recorded_write(recorded, path, err)) goto remove;
    text = text_read_file(path, &size);
    if (!text)
        error_set(err, "cannot read '%s': %s", path, strerror(errno));
    else if (fwrite(text, 1, size, stdout) != size)
        error_set(err, "cannot write the output: %s", strerror(errno));
    else
        result = 0;
remove:
    unlink(path);
out:
    free(text);
    free(path);
    return result;
}

int cmd_export(int argc, char **argv)
{
    const char *job = NULL, *store = NULL, *output = NULL;
    const struct option_spec specs[] = {
        OPTION_JOB(&job),
        OPTION_STORE(&store),
        {.name = "output",
         .letter = 'o',
         .string = &output,
         .shown = "FILE",
         .help = "the file to write, packed when its name ends in .gz (standard output)"},
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
    size_t skipped = 0;
    if ((status = session_open(&session, job, store)) || (status = session_build_space(&session))) goto out;
    recorded = export_recorded(session.job, session.store, &session.environment, session.device, &skipped, &err);
    if (!recorded) {
        fprintf(stderr, "sweetspot: %s: %s\n", session.store_path, err.message);
        status = EXIT_NOTHING;
        goto out;
    }
    if (skipped)
        fprintf(stderr, "sweetspot: %zu trials are not of the job's search space as it is now, and left out\n",
                skipped);
    if (session.job->objective == OBJECTIVE_MEAN && session.job->tuned_count > 1)
        fprintf(stderr,
                "sweetspot: a recorded space knows no mean over problems: it is replayed with the geometric mean\n");
    if (output ? recorded_write(recorded, output, &err) : write_to_stdout(recorded, &err)) {
        status = session_complain(EXIT_ENVIRONMENT, &err);
    } else if (output) {
        fprintf(stderr, "sweetspot: %zu configurations in %s\n", recorded->trial_count, output);
    }
out:
    recorded_free(recorded);
    session_close(&session);
    return status;
}
