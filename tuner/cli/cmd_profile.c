// sweetspot profile: explains why a candidate is fast or slow, or why it differs from another candidate.
//
// The candidate's configuration comes from the store. It is compiled, verified and timed again, and its counters are
// read. The store keeps the device's ceilings, and the findings as documents of the trial.

#include "tuner/base/protocol.h"
#include "tuner/cli/candidate_spec.h"
#include "tuner/cli/commands.h"
#include "tuner/explain/explain.h"
#include "tuner/explain/findings.h"
#include "tuner/explain/limiter.h"
#include "tuner/explain/profile.h"

struct profile_options {
    const char *job, *store, *trial, *against, *device, *cache;
    int64_t problem;
    bool limits;
    int format;
};

struct profiling {
    struct profile_options o;
    struct candidate_source source;
    struct candidate_spec spec, other;
    struct single_run *single;
};

static struct profiling given = {.o = {.device = "0", .problem = 1}};

static const struct option_spec specs[] = {
    OPTION_JOB(&given.o.job),
    OPTION(string, &given.o.trial, "trial", 0, "WHICH",
           "a trial's number, best, runner-up, a baseline, or NAME=value,..., where other parameters have the best's "
           "values (best)"),
    OPTION(string, &given.o.against, "against", 'a', "WHICH", "compare with another candidate, named in the same way"),
    OPTION(integer, &given.o.problem, "problem", 'p', "N", "which of the job's problems (1)", .low = 1,
           .high = JOB_MAX_PROBLEMS),
    OPTION_GPU(&given.o.device),
    FLAG(&given.o.limits, "limits", 0,
         "instead, find out whether memory, arithmetic or latency is the limit: time the kernel, only its memory "
         "traffic and only its arithmetic, at the same occupancy"),
    OPTION_STORE(&given.o.store),
    OPTION_CACHE(&given.o.cache),
    OPTION_DOCUMENT_FORMAT(&given.o.format),
    OPTION_END,
};

// The values of SWEETSPOT_VARIANT for --limits: the whole kernel, only its memory traffic, and only its arithmetic.
enum { VARIANTS = 3 };

// `blocks`: how many blocks may run at once on a multiprocessor; 0: as many as fit.
static int make_profile(struct profiling *p, const struct candidate_spec *s, int variant, int64_t blocks,
                        json_t *ceilings, json_t **out)
{
    static const char *const variants[VARIANTS] = {NULL, "memory only", "math only"};
    const char *name = variant ? variants[variant] : s->name;
    const struct job *job = p->source.session.job;
    struct error err = {""};
    uint16_t config[SPACE_MAX_PARAMETERS];
    size_t problem = (size_t)p->o.problem - 1;
    if (!s->baseline && candidate_spec_config(&p->source, s, config, &err)) return session_complain(EXIT_USAGE, &err);
    *out = s->baseline ? explain_baseline(p->single, job, s->baseline, problem, &err)
                       : explain_candidate(p->single, job, config, problem, name, variant, blocks, &err);
    if (!*out) return session_complain(EXIT_NOTHING, &err);
    json_object_set(*out, "ceilings", ceilings);
    if (explain_worked(*out)) return 0;
    return complain(EXIT_NOTHING, "%s (%s) cannot be profiled: %s: %s", name, json_get_string(*out, "config", ""),
                    json_get_string(*out, "status", "?"), json_get_string(*out, "reason", ""));
}

static void add_text(json_t *profile, const char *source)
{
    json_t *stages = json_object_get(profile, "stages");
    json_array_each(stages, i, stage) {
        json_array_each(json_object_get(stage, "lines"), k, line) {
            autofree char *text = profile_source(source, line);
            json_object_set_new(line, "text", json_string(text));
        }
    }
}

static int64_t not_kept(struct candidate_source *c, const char *why)
{
    if (!c->reported) fprintf(stderr, "sweetspot: the findings are not stored: %s\n", why);
    c->reported = true;
    return 0;
}

// Returns the trial that a profile (tuner/explain/explain.h) belongs to: the trial of the profile's configuration in
// the store's environment. If that environment does not match this device and the current source, returns 0 with a note
// on stderr.
static int64_t owner_of(struct candidate_source *c, const struct single_run *single, const json_t *profile)
{
    const struct session *s = &c->session;
    const json_t *device = json_object_get(single->pool.first.hello, "device");
    struct trial trial;
    struct error err;
    if (!s->store) return 0;
    if (strcmp(s->environment.device, json_get_string(device, "name", "")) != 0)
        return not_kept(c, "the store is for another device");
    if (strcmp(s->environment.source_hash, single->setup.source_hash) != 0)
        return not_kept(c, "the source has changed since the store's last run");
    int missing = store_find(s->store, json_get_string(profile, "config", ""), &trial, &err);
    if (missing < 0) return not_kept(c, err.message);
    return missing ? 0 : trial.id;
}

// Stores a document with a trial, for `report`; docs/json.md describes the shapes. Takes the document; the newest
// document of a kind counts. Does nothing for trial 0. If the store cannot be written, a note is printed on stderr,
// once.
static void put_document(struct candidate_source *c, int64_t trial, const char *kind, json_t *document)
{
    enum { DOCUMENT_VERSION = 1 };
    struct error err;
    json_object_set_new(document, "version", json_integer(DOCUMENT_VERSION));
    if (trial && store_put_document(c->session.store, trial, kind, document, &err)) not_kept(c, err.message);
    json_decref(document);
}

// Stores both documents for `report`, unless the candidate is a baseline: a baseline is not a trial.
static void keep(struct profiling *p, const struct candidate_spec *spec, json_t *profile, json_t *findings)
{
    int64_t trial = spec->baseline ? 0 : owner_of(&p->source, p->single, profile);
    put_document(&p->source, trial, "profile", json_pack("{s:O}", "profile", profile));
    put_document(&p->source, trial, "findings",
                 json_pack("{s:O, s:O}", "problem", json_object_get(profile, "problem"), "findings", findings));
}

// Adds facts that are not in the document because they are computed while tables are printed: source lines and the
// position under the roofline.
static void complete(const struct profiling *p, json_t *profile)
{
    if (!profile) return;
    add_text(profile, p->source.session.job->code.source);
    json_object_set_new(profile, "roofline", profile_roofline(profile));
}

static int show(struct profiling *p, json_t *profile, json_t *against)
{
    struct finding findings[FINDINGS_MAX];
    const struct job *job = p->source.session.job;
    size_t count = findings_make(profile, job, &p->single->pool.first.limits, findings);
    autojson json_t *found = findings_json(findings, count, job);
    if (p->o.format == FORMAT_TABLE) {
        profile_print(stdout, profile, against, job->code.source);
        findings_print(stdout, findings, count);
    }
    complete(p, profile);
    complete(p, against);
    if (p->o.format != FORMAT_TABLE) {
        json_print_document("sweetspot-profile", 1,
                            json_pack("{s:O, s:O?, s:O}", "profile", profile, "against", against, "findings", found),
                            stdout);
    }
    keep(p, &p->spec, profile, found);
    if (against) {
        count = findings_make(against, job, &p->single->pool.first.limits, findings);
        autojson json_t *others = findings_json(findings, count, job);
        keep(p, &p->other, against, others);
    }
    if (!p->single->counts || json_object_get(profile_main_stage(profile), "counters")) return EXIT_DONE;
    const json_t *notes = json_object_get(profile, "notes");
    return complain(EXIT_ENVIRONMENT, "no hardware counters: %s",
                    json_array_size(notes) ? json_string_value(json_array_get(notes, 0)) : "unknown reason");
}

static int explain(struct profiling *p)
{
    autojson json_t *ours = NULL, *theirs = NULL, *ceilings = candidate_spec_ceilings(&p->source, p->single);
    int status = make_profile(p, &p->spec, 0, 0, ceilings, &ours);
    if (!status && p->o.against) status = make_profile(p, &p->other, 0, 0, ceilings, &theirs);
    if (!status) status = show(p, ours, theirs);
    return status;
}

static int check_limits(const struct job *job, const struct candidate_spec *spec)
{
    autofree char *text = text_read_file(job->code.source, NULL);
    bool known = text && strstr(text, "SWEETSPOT_VARIANT");
    if (!known)
        return complain(EXIT_NOTHING,
                        "%s has no variants: it must leave out the arithmetic where SWEETSPOT_VARIANT is 1 and "
                        "the memory traffic where it is 2 (templates/reduce.cu shows how)",
                        job->code.source);
    if (spec->baseline) return complain(EXIT_USAGE, "%s has no source; name a trial or NAME=value,...", spec->baseline);
    return 0;
}

// For --limits: times all variants at the same occupancy and explains the three times.
static int limits(struct profiling *p)
{
    static const char *const keys[VARIANTS] = {"kernel", "memory_only", "math_only"};
    json_t *profiles[VARIANTS] = {NULL};
    autojson json_t *ceilings = candidate_spec_ceilings(&p->source, p->single);
    int64_t blocks = 0;
    int status = 0;
    for (int v = 0; v < VARIANTS && !status; v++) {
        status = make_profile(p, &p->spec, v, blocks, ceilings, &profiles[v]);
        if (!status && !v) blocks = (int64_t)profile_number(profile_main_stage(profiles[0]), "blocks_per_sm");
    }
    if (!status) {
        autojson json_t *all = limiter_json(profiles[0], profiles[1], profiles[2]);
        put_document(&p->source, owner_of(&p->source, p->single, profiles[0]), "limits", json_copy(all));
        for (int v = 0; v < VARIANTS; v++) json_object_set(all, keys[v], profiles[v]);
        if (p->o.format == FORMAT_TABLE)
            limiter_print(stdout, profiles[0], profiles[1], profiles[2]);
        else
            json_print_document("sweetspot-limiter", 1, json_incref(all), stdout);
    }
    for (int v = 0; v < VARIANTS; v++) json_decref(profiles[v]);
    return status;
}

static int profile(struct profiling *p)
{
    struct error err = {""};
    const struct job *job = p->source.session.job;
    if (p->o.problem > (int64_t)job->tuned_count)
        return complain(EXIT_USAGE, "%s has no problem %lld that is tuned; the last is %zu", p->o.job,
                        (long long)p->o.problem, job->tuned_count);
    int status = candidate_spec_read(&p->source, p->o.trial ? p->o.trial : "best", &p->spec);
    if (!status && p->o.against) status = candidate_spec_read(&p->source, p->o.against, &p->other);
    if (!status && p->o.limits) status = check_limits(job, &p->spec);
    if (status) return status;
    autofree char *cache = results_cache(job, p->o.cache);
    struct single_run_options options = {.device = p->o.device,
                                         .cache = cache,
                                         .metrics = "full",
                                         .baselines = p->spec.baseline || p->other.baseline,
                                         .rest = single_run_rest,
                                         .say = candidate_spec_say};
    status = single_run_open(&p->single, p->source.session.job, &options, &err);
    if (status) return session_complain(status, &err);
    return p->o.limits ? limits(p) : explain(p);
}

static int run(void)
{
    if (given.o.limits && given.o.against) return command_refuse("--limits excludes --against");
    int status = candidate_spec_open(&given.source, given.o.job, given.o.store);
    if (!status) status = profile(&given);
    single_run_close(given.single);
    free(given.spec.config);
    free(given.other.config);
    candidate_spec_close(&given.source);
    return status;
}

const struct command cmd_profile = {
    .name = "profile",
    .summary = "why a candidate is fast or slow: counters, source lines, limits, findings",
    .description = "Shows why a candidate is fast or slow: hardware counters by section, the most expensive source "
                   "lines, and findings.",
    .options = specs,
    .run = run,
    .more = "The candidate is compiled, verified, timed and counted again, with the metric set `full` and the job's "
            "`metrics`. The profile and the findings are stored in the job's database with the trial, if there is one "
            "(`docs/json.md`). Without permission for hardware counters the rest is printed and the exit status "
            "is 3. With SWEETSPOT_COUNTERS=none, no counters are read and the status is 0.\n\n"
            "The sections are speed of light, execution units, launch, occupancy, instruction cache, shared memory, "
            "global memory, divergence, registers and spills, balance of the multiprocessors, stalls, the most "
            "expensive source lines, and findings. A finding has an observation, the reason why it costs time, a "
            "proposal among the job's parameters, and an upper limit of the gain. Ceilings are measured on this "
            "device and stored in the database. Notes report metrics that the chip lacks, a kernel that is not "
            "reproducible between passes, and a kernel so short that its launch dominates. For a kernel that takes "
            "seconds, the command first prints how many minutes counting takes, because every pass launches the "
            "kernel twice.\n\n"
            "For a failed trial, the reason is printed. If nothing was measured yet, parameters that `--trial` does "
            "not set have the values of the first valid configuration. With `--against`, the profile shows the cause "
            "of the difference.\n\n"
            "With `--limits`, all variants are timed and counted at the occupancy of the whole kernel. If the whole "
            "kernel takes as long as the longer part, that part is the limit; if it takes as long as both parts "
            "together, latency is the limit. The template must support the macro `SWEETSPOT_VARIANT` (0 whole, 1 "
            "memory, 2 arithmetic); otherwise the exit status is 1. The result is stored like a profile.",
    .see = "list judge",
};
