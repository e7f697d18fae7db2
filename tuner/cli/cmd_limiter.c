// sweetspot limiter: times a candidate whole, with only its memory traffic and with only its arithmetic, at the same
// occupancy, and says what the three times mean.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/flat_csv.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/candidate_spec.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/results.h"
#include "tuner/cli/trial_documents.h"
#include "tuner/explain/explain.h"
#include "tuner/explain/limiter.h"
#include "tuner/explain/profile.h"

enum { VARIANTS = 3 }; // the values of SWEETSPOT_VARIANT: the kernel, only memory, only arithmetic

struct limiting {
    const char *job, *store, *trial, *device, *cache;
    int64_t problem;
    int format;
    struct candidate_source source;
    struct candidate_spec spec;
    struct single_run *single;
    json_t *profiles[VARIANTS];
};

static int check_template(const struct job *job)
{
    char *text = text_read_file(job->source, NULL);
    bool known = text && strstr(text, "SWEETSPOT_VARIANT");
    free(text);
    if (known) return 0;
    fprintf(stderr,
            "sweetspot: %s has no variants: it must leave out the arithmetic where SWEETSPOT_VARIANT is 1 and "
            "the memory traffic where it is 2 "
            "(templates/reduce.cu shows how)\n",
            job->source);
    return EXIT_NOTHING;
}

static int measure(struct limiting *l)
{
    static const char *const names[VARIANTS] = {NULL, "memory only", "math only"};
    const struct job *job = l->source.session.job;
    struct error err = {""};
    uint16_t config[SPACE_MAX_PARAMETERS];
    int64_t blocks = 0;
    if (candidate_spec_config(&l->source, &l->spec, config, &err)) return session_complain(EXIT_USAGE, &err);
    json_t *ceilings = candidate_spec_ceilings(&l->source, l->single);
    int status = 0;
    for (int v = 0; v < VARIANTS && !status; v++) {
        json_t *p = explain_variant(l->single, job, config, (size_t)l->problem - 1, v ? names[v] : l->spec.name, v,
                                    blocks, &err);
        l->profiles[v] = p;
        if (!p) {
            status = session_complain(EXIT_NOTHING, &err);
        } else if (!explain_worked(p)) {
            fprintf(stderr, "sweetspot: %s: %s: %s\n", v ? names[v] : l->spec.name, json_get_string(p, "status", "?"),
                    json_get_string(p, "reason", ""));
            status = EXIT_NOTHING;
        } else {
            json_object_set(p, "ceilings", ceilings);
            if (!v) blocks = (int64_t)profile_number(profile_main_stage(p), "blocks_per_sm");
        }
    }
    json_decref(ceilings);
    return status;
}

static int limiter(struct limiting *l)
{
    struct error err = {""};
    int status = check_template(l->source.session.job);
    if (!status) status = candidate_spec_read(&l->source, l->trial ? l->trial : "best", &l->spec);
    if (!status && l->spec.baseline) {
        fprintf(stderr, "sweetspot: %s has no source; name a trial or NAME=value,...\n", l->spec.baseline);
        status = EXIT_USAGE;
    }
    if (!status && l->problem > (int64_t)l->source.session.job->tuned_count) {
        fprintf(stderr, "sweetspot: %s has %zu problems that are tuned\n", l->job, l->source.session.job->tuned_count);
        status = EXIT_USAGE;
    }
    if (status) return status;
    char *cache = results_cache(l->source.session.job, l->cache);
    struct single_run_options options = {
        .device = l->device, .cache = cache, .metrics = "full", .rest = single_run_rest, .say = candidate_spec_say};
    status = single_run_open(&l->single, l->source.session.job, &options, &err);
    free(cache);
    if (status) return session_complain(status, &err);
    status = measure(l);
    if (status) return status;
    json_t *all = limiter_json(l->profiles[0], l->profiles[1], l->profiles[2]);
    int64_t trial = trial_documents_owner(&l->source, l->single, l->profiles[0]);
    trial_documents_put(&l->source, trial, LIMITS_DOCUMENT, json_copy(all));
    if (l->format == FORMAT_TABLE) {
        limiter_print(stdout, l->profiles[0], l->profiles[1], l->profiles[2]);
        json_decref(all);
        return 0;
    }
    static const char *const keys[VARIANTS] = {"kernel", "memory_only", "math_only"};
    for (int v = 0; v < VARIANTS; v++) json_object_set(all, keys[v], l->profiles[v]);
    flat_csv_or_json("sweetspot-limiter", 1, all, l->format == FORMAT_CSV, stdout);
    json_decref(all);
    return 0;
}

int cmd_limiter(int argc, char **argv)
{
    struct limiting l = {.device = "0", .problem = 1};
    const struct option_spec specs[] = {
        OPTION_JOB(&l.job),
        {.name = "trial",
         .letter = 't',
         .string = &l.trial,
         .shown = "WHICH",
         .help = "a trial's number, best, runner-up, or NAME=value,... with other values as in the best (best)"},
        {.name = "problem",
         .letter = 'p',
         .integer = &l.problem,
         .low = 1,
         .high = JOB_MAX_PROBLEMS,
         .shown = "N",
         .help = "which of the job's problems (1)"},
        {.name = "device", .letter = 'd', .string = &l.device, .shown = "N", .help = "the GPU (0)"},
        OPTION_STORE(&l.store),
        {.name = "cache", .string = &l.cache, .shown = "FOLDER", .help = "the compile cache (out/cache)"},
        OPTION_FORMAT(&l.format),
        OPTION_END,
    };
    int status = options_parse(specs,
                               "Says what limits a candidate: times it whole, with only its memory traffic and with "
                               "only its arithmetic, at the same occupancy.",
                               argc, argv);
    if (status >= 0) return status;
    status = candidate_spec_open(&l.source, l.job, l.store);
    if (!status) status = limiter(&l);
    single_run_close(l.single);
    for (int v = 0; v < VARIANTS; v++) json_decref(l.profiles[v]);
    free(l.spec.config);
    candidate_spec_close(&l.source);
    return status;
}
