// See shipped_header.h.
#include "tuner/cli/shipped_header.h"

#include <time.h>

#include "tuner/cli/options.h"
#include "tuner/cli/session.h"
#include "tuner/header/header_section.h"
#include "tuner/setup/shipped_build.h"
#include "tuner/trial/trial_field.h"

// The Unix time of a date such as "2026-11-22"; NaN if it is not a date.
static double moment_of(const char *date)
{
    struct tm day = {0};
    return strptime(date, "%F", &day) ? (double)timegm(&day) : (double)NAN;
}

// The winner as a trial. All problems count as verified, because they were in its final. `problems` has room for all of
// them.
static struct trial trial_of(const struct job *job, const struct shipped_winner *w, const struct shipped_build *b,
                             struct trial_problem *problems)
{
    struct trial trial;
    trial_clear(FIELD_TRIAL, &trial);
    for (size_t p = 0; p < job->problem_count; p++) {
        struct trial_problem *to = &problems[p];
        trial_clear(FIELD_PROBLEM, to);
        to->name = job->problems[p].name;
        to->error = 0;
        for (size_t i = 0; i < w->problem_count; i++) {
            if (strcmp(w->problems[i].problem, to->name) != 0) continue;
            to->tuned = true;
            to->time = w->problems[i].time.value;
            to->low = w->problems[i].time.low;
            to->high = w->problems[i].time.high;
        }
    }
    trial.config = b->config;
    trial.status = STATUS_OK;
    trial.finished = moment_of(w->date);
    trial.problems = problems;
    trial.problem_count = job->problem_count;
    trial.stages = b->stages;
    trial.stage_count = b->stage_count;
    return trial;
}

static json_t *section_of(const struct job *job, const struct shipped_winner *w, const struct shipped_build *b,
                          struct error *err)
{
    const struct environment environment = {.source_hash = b->source,
                                            .compiler = w->compiler,
                                            .device = w->device,
                                            .arch = w->identity->arch,
                                            .driver = w->driver};
    autofree struct trial_problem *problems = memory_new(job->problem_count, sizeof *problems);
    const struct trial trial = trial_of(job, w, b, problems);
    json_t *section = header_section(job, &environment, &trial, NULL, 0, NULL, false, err);
    if (section) header_section_ship(section, w->rounds, b->compiler, !strcmp(b->code, w->identity->code));
    if (!section || !job->others.fallback.kind) return section;
    autofree char *fallback = space_text(job->space, job->others.fallback.config);
    header_section_lacks(section, fallback, "it can be verified only on a GPU");
    return section;
}

// Describes a change since the winner was measured; NULL if nothing has changed. Code from another compiler is not
// compared, because it may differ.
static const char *difference(const struct shipped_winner *w, const struct shipped_build *b)
{
    const struct shipped_identity *identity = w->identity;
    if (strcmp(b->source, identity->source) != 0) return "its sources have";
    if (strcmp(b->job, identity->job) != 0) return "the job has";
    return !strcmp(b->compiler, w->compiler) && strcmp(b->code, identity->code) ? "its code has" : NULL;
}

json_t *shipped_sections(struct job *job, const char *job_path, int *status)
{
    struct error err = {""};
    struct shipped_winners shipped;
    autorelease(arena_release) struct arena memory = {0};
    autorelease(shipped_build_release) struct shipped_build build = {0};
    autofree char *cache = results_cache(job, NULL),
                  *tune = text_command((const char *[]){"sweetspot", "tune", job_path, NULL});
    *status = 0;
    if (shipped_read(job, &shipped, &memory, &err)) return *status = session_complain(EXIT_USAGE, &err), NULL;
    const struct shipped_winner *w = shipped.winners;
    if (!shipped.winner_count) {
        *status = complain(EXIT_NOTHING, "no winner comes with %s; on a GPU: %s", job->name, tune);
        return NULL;
    }
    const char *changed = w->identity ? NULL : "the job or its sources have";
    if (!changed && (*status = shipped_build(&build, job, w, w->identity->arch, cache, &err)))
        return error_prefix(&err, "%s: the winner that comes with it", job->name), session_complain(*status, &err),
               NULL;
    if (!changed) changed = difference(w, &build);
    if (changed)
        *status = complain(EXIT_NOTHING,
                           "%s: %s changed since the winner that comes with it was measured (%s, %s); on a GPU: %s",
                           job->name, changed, w->device, w->date, tune);
    if (changed) return NULL;
    json_t *section = section_of(job, w, &build, &err), *sections = section ? json_array() : NULL;
    if (section) json_array_append_new(sections, section);
    if (!section) *status = session_complain(EXIT_USAGE, &err);
    return sections;
}
