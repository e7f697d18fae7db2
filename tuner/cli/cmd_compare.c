// sweetspot compare: compares the winner of the newest final with every baseline in it, using the paired times of the
// rounds.
//
// Nothing is measured here; everything comes from the store. If the store has a "ceilings" document with the device's
// measured limits, percentages are shown: the time that the problem's work would take at these ceilings
// (tuner/setup/work_bounds.h), divided by the measured time.

#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/compare.h"
#include "tuner/cli/job_set.h"
#include "tuner/final/builds_summary.h"
#include "tuner/final/gate.h"
#include "tuner/store/builds.h"

static int read_work(struct comparison *c)
{
    const struct job *job = c->session->job;
    struct error err = {""};
    c->ceilings = session_document(c->session, "ceilings", NULL);
    c->work = memory_new(job->tuned_count, sizeof *c->work);
    for (size_t p = 0; p < job->tuned_count; p++) {
        if (!work_bounds(job, p, c->ceilings, &c->work[p], &err)) continue;
        fprintf(stderr, "%s: %s\n", job->path, err.message);
        return EXIT_USAGE;
    }
    return 0;
}

// Prints a note if a final newer than the one shown has no winner.
static void mention_open_final(struct comparison *c, double decided)
{
    double when = 0;
    autojson json_t *document = session_document(c->session, "open_final", &when);
    if (document && when > decided)
        fprintf(stderr, "sweetspot: %s: the newest final (%s) has no winner: %s\n", c->session->job->name,
                show_moment(when, TEXT_ROOM), json_get_string(document, "reason", ""));
}

static int read_final(struct comparison *c)
{
    struct error err = {""};
    struct trial trial;
    double when = 0;
    autojson json_t *document = session_document(c->session, "final", &when);
    mention_open_final(c, when);
    if (!document)
        return session_advise(c->session, "a run resumes where it stopped, and ends with a final",
                              "no final of %s has decided a winner yet", c->session->job->name);
    int status = final_read(&c->final, document, c->session->job->tuned_count, &err);
    if (!status) status = store_get(c->session->store, c->final.winner, &trial, &err);
    if (status)
        return complain(EXIT_NOTHING, "%s: %s", c->session->store_path,
                        status > 0 ? "the final's winner is not among the trials; tune again" : err.message);
    for (size_t p = 0; p < c->session->job->tuned_count; p++) {
        const char *name = c->session->job->problems[p].name;
        if (p < trial.problem_count && trial.problems[p].tuned && !strcmp(trial.problems[p].name, name)) continue;
        return complain(EXIT_NOTHING, "the final of %s did not have the problem %s: tune it again",
                        c->session->job->path, name);
    }
    c->config = text_copy(trial.config);
    autojson json_t *builds = session_document(c->session, BUILDS_DOCUMENT, NULL);
    c->builds = builds_summary(builds, &c->final, c->session->job);
    return 0;
}

static void warn_work(struct comparison *c)
{
    struct error warning;
    for (size_t p = 0; p < c->session->job->tuned_count; p++) {
        const struct final_entry *entry = final_choice(&c->final, p);
        if (!work_is_doubtful(c->session->job, p, entry->problems[p].time.value, c->ceilings, &warning)) continue;
        fprintf(stderr, "sweetspot: %s: warning: %s\n", c->session->job->name, warning.message);
        break;
    }
}

static void warn_failed(const struct comparison *c)
{
    for (size_t i = 0; i < c->final.entry_count; i++) {
        const struct final_entry *entry = &c->final.entries[i];
        if (is_baseline(entry) && !entry->ok)
            fprintf(stderr, "sweetspot: %s: %s has no time: %s\n", c->session->job->name, entry->name,
                    entry->reason[0] ? entry->reason : "it failed in the final");
    }
}

struct comparing {
    struct job_set job_set;
    int format;
    double least; // the smallest ratio that passes the gate; NaN: there is no gate
    size_t below; // problems below the gate
    bool printed;
    json_t *documents; // one for each comparison, to print them together
};

static struct comparing given = {.least = NAN};

static const struct option_spec specs[] = {
    OPTION_JOBS(&given.job_set.named),
    OPTION_STORE(&given.job_set.store),
    OPTION_RESULTS_DEVICE(&given.job_set.device, "all of them"),
    OPTION(real, &given.least, "fail-below", 0, "RATIO",
           "exit status 4 if the ratio to the fastest baseline may be below this on any problem, by the lower bound of "
           "its interval, or if no winner was decided (no gate)",
           .low = 0, .high = 1000),
    OPTION_FORMAT(&given.format),
    OPTION_END,
};

static void hold_gate(struct comparing *all, const struct comparison *c)
{
    autofree char *where = c->session->device_count > 1
                               ? text_format("%s on %s", c->session->job->name, c->session->environment.device)
                               : text_copy(c->session->job->name);
    if (!isnan(all->least)) all->below += gate_check(all->least, &c->final, c->session->job, where, stderr);
}

static void show(struct comparing *all, const struct comparison *c)
{
    if (all->format != FORMAT_TABLE || all->job_set.many) {
        json_array_append_new(all->documents, compare_json(c));
    } else {
        if (all->printed) putchar('\n');
        compare_print(c);
        all->printed = true;
    }
}

static int compare(void *user, struct session *session)
{
    struct comparing *all = user;
    struct comparison c = {.session = session};
    int status;
    if (!(status = session_build_space(session)) && !(status = read_final(&c)) && !(status = read_work(&c))) {
        warn_failed(&c);
        warn_work(&c);
        show(all, &c);
        hold_gate(all, &c);
    }
    free(c.work);
    json_decref(c.ceilings);
    free(c.config);
    json_decref(c.builds);
    final_release(&c.final);
    return status;
}

static void print_all(const struct comparing *all)
{
    if (all->format == FORMAT_JSON)
        job_set_print(&all->job_set, "sweetspot-compare", 1, all->documents);
    else if (all->format == FORMAT_CSV)
        compare_print_csv(all->documents);
    else if (json_array_size(all->documents))
        compare_print_all(all->documents);
}

// Counts the jobs that do not pass the gate because they have no comparison.
static size_t count_undecided(const struct comparing *all)
{
    size_t count = 0;
    json_array_each(all->job_set.failed, i, failed) {
        if (json_get_integer(failed, "exit_status", 0) != EXIT_NOTHING) continue;
        fprintf(stderr, "sweetspot: gate: %s: no final has decided a winner; tune the job first\n",
                json_get_string(failed, "path", "?"));
        count++;
    }
    return count;
}

static int run(void)
{
    int status = job_set_open(&given.job_set);
    given.documents = json_array();
    if (!status) {
        status = job_set_each(&given.job_set, EVERY_DEVICE, compare, &given);
        print_all(&given);
        if (!isnan(given.least) && given.below + count_undecided(&given)) status = EXIT_GATE;
    }
    json_decref(given.documents);
    job_set_close(&given.job_set);
    return status;
}

const struct command cmd_compare = {
    .name = "compare",
    .summary = "the winner against the baselines, with confidence intervals",
    .description = "Compares the winner with the baselines that ran with it in the newest final: times, ratios with "
                   "their 95% intervals, rates, and errors against a computation in double precision. Several jobs, "
                   "or a folder of jobs, share one table. Exit status 1 if there is no final yet.",
    .options = specs,
    .run = run,
    .more =
        "The baselines of a matrix product are cuBLAS and the three fastest of cublasLt's heuristics. A ratio above 1 "
        "means that the tuned kernel is faster. If the device's ceilings were measured, a time's share of them is "
        "shown, for memory and for the "
        "execution unit of the job's arithmetic at the sustained clock. Entries whose time depends on the process "
        "that runs them are listed (in json: `by_process`). A newer final without a winner is reported on standard "
        "error.\n\n"
        "With `--fail-below` each failure is a line on standard error. A job without a final, or a problem without a "
        "library, also fails. `docs/json.md` describes csv and json.",
    .see = "tune report status",
};
