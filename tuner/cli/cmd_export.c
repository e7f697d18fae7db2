// sweetspot export: all trials of a job as a recorded space.
#include <stdio.h>
#include <stdlib.h>

#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/several.h"
#include "tuner/recorded/export.h"

struct exporting {
    struct several several;
    const char *output;
};

static int write_space(const struct recorded *recorded, const struct session *session, const char *path)
{
    struct error err = {""};
    if (session->job->objective == OBJECTIVE_MEAN && session->job->tuned_count > 1)
        fprintf(stderr, "sweetspot: %s: recorded spaces do not record the objective: replays use the geometric mean\n",
                session->job->name);
    if (recorded_write(recorded, path, &err)) return session_complain(EXIT_ENVIRONMENT, &err);
    if (!output_is_stdout(path)) fprintf(stderr, "sweetspot: %zu configurations in %s\n", recorded->trial_count, path);
    return 0;
}

static int export(void *user, const char *job_path, struct session *session)
{
    struct exporting *all = user;
    struct error err = {""};
    struct export_left_out left_out = {0};
    (void)job_path;
    int status = session_build_space(session);
    if (status) return status;
    struct recorded *recorded =
        export_recorded(session->job, session->store, &session->environment, session->device, &left_out, &err);
    if (!recorded) {
        fprintf(stderr, "sweetspot: %s: %s\n", session->store_path, err.message);
        return EXIT_NOTHING;
    }
    if (left_out.elsewhere)
        fprintf(stderr, "sweetspot: %s: left out %zu trials that are not in the job's search space\n",
                session->job->name, left_out.elsewhere);
    char *name = text_format("%s.json.gz", session->job->name), *path = several_file(all->output, name);
    status = write_space(recorded, session, path);
    free(path);
    free(name);
    recorded_free(recorded);
    return status;
}

int cmd_export(int argc, char **argv)
{
    struct exporting all = {.output = "-"};
    const struct option_spec specs[] = {
        OPTION_JOBS(&all.several.named),
        OPTION_STORE(&all.several.store),
        OPTION_RESULTS_DEVICE(&all.several.device, "the one used last"),
        {.name = "output",
         .letter = 'o',
         .string = &all.output,
         .shown = "FILE",
         .help =
             "the file to write, compressed if its name ends in .gz (-: standard output); or a folder, which several "
             "jobs need: <job name>.json.gz in it"},
        OPTION_END,
    };
    int status = options_parse(specs,
                               "Writes all trials of a job as a recorded space in JSON: configurations, statuses, "
                               "times, the compiler's figures, counters, baselines "
                               "and finals. `tune --device replay:FILE` and `replay` read it.",
                               argc, argv);
    if (status >= 0) return status;
    if (!(status = several_open(&all.several)) &&
        !(status = several_check_folder(&all.several, "--output", all.output, true)))
        status = several_each(&all.several, NEWEST_DEVICE, export, &all);
    several_close(&all.several);
    return status;
}
