// sweetspot export: writes all trials of a job as a recorded space.

#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/job_set.h"
#include "tuner/recorded/export.h"

struct exporting {
    struct job_set job_set;
    const char *output;
};

static struct exporting given = {.output = "-"};

static const struct option_spec specs[] = {
    OPTION_JOBS(&given.job_set.named),
    OPTION_STORE(&given.job_set.store),
    OPTION_RESULTS_DEVICE(&given.job_set.device, "the one used last"),
    OPTION(string, &given.output, "output", 'o', "FILE",
           "the file to write, compressed if its name ends in .gz (-: standard output); or a folder, which several "
           "jobs need: <job name>.json.gz in it"),
    OPTION_END,
};

static int write_space(const struct recorded *recorded, const struct session *session, const char *path)
{
    struct error err = {""};
    if (output_is_foreign(path)) return complain_foreign(path);
    if (session->job->search.objective == OBJECTIVE_MEAN && session->job->tuned_count > 1)
        fprintf(stderr,
                "sweetspot: %s: a recorded space does not store the objective: replays use the geometric mean\n",
                session->job->name);
    if (recorded_write(recorded, path, &err)) return session_complain(EXIT_ENVIRONMENT, &err);
    if (!output_is_stdout(path)) fprintf(stderr, "sweetspot: %zu configurations in %s\n", recorded->trial_count, path);
    return 0;
}

static int export(void *user, struct session *session)
{
    struct exporting *all = user;
    struct error err = {""};
    size_t elsewhere = 0;
    int status = session_build_space(session);
    if (status) return status;
    struct recorded *recorded =
        export_recorded(session->job, session->store, &session->environment, session->device, &elsewhere, &err);
    if (!recorded) return complain(EXIT_NOTHING, "%s: %s", session->store_path, err.message);
    if (elsewhere)
        fprintf(stderr, "sweetspot: %s: left out %zu trials that are not in the job's search space\n",
                session->job->name, elsewhere);
    autofree char *name = text_format("%s.json.gz", session->job->name), *path = job_set_file(all->output, name);
    status = write_space(recorded, session, path);
    recorded_free(recorded);
    return status;
}

static int run(void)
{
    int status;
    if (!(status = job_set_open(&given.job_set)) &&
        !(status = job_set_check_folder(&given.job_set, "--output", given.output, true)))
        status = job_set_each(&given.job_set, NEWEST_DEVICE, export, &given);
    job_set_close(&given.job_set);
    return status;
}

const struct command cmd_export = {
    .name = "export",
    .summary = "write all trials of a job as a recorded space",
    .description =
        "Writes all trials of a job as a recorded space in JSON: configurations, statuses, times, the compiler's "
        "figures, counters, baselines and finals. `tune --device replay:FILE` and `simulate` read it.",
    .options = specs,
    .run = run,
    .see = "import simulate tune",
};
