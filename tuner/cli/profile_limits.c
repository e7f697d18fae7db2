// See profile_limits.h.
#include "tuner/cli/profile_limits.h"

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/options.h"
#include "tuner/cli/trial_documents.h"
#include "tuner/explain/explain.h"
#include "tuner/explain/limiter.h"
#include "tuner/explain/profile.h"

enum { VARIANTS = 3 }; // the values of SWEETSPOT_VARIANT: the kernel, only memory, only arithmetic

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

int profile_limits_check(const struct job *job, const struct candidate_spec *spec)
{
    int status = check_template(job);
    if (status || !spec->baseline) return status;
    fprintf(stderr, "sweetspot: %s has no source; name a trial or NAME=value,...\n", spec->baseline);
    return EXIT_USAGE;
}

static int measure(struct candidate_source *source, const struct candidate_spec *spec, struct single_run *single,
                   size_t problem, json_t *profiles[VARIANTS])
{
    static const char *const names[VARIANTS] = {NULL, "memory only", "math only"};
    const struct job *job = source->session.job;
    struct error err = {""};
    uint16_t config[SPACE_MAX_PARAMETERS];
    int64_t blocks = 0;
    if (candidate_spec_config(source, spec, config, &err)) return session_complain(EXIT_USAGE, &err);
    json_t *ceilings = candidate_spec_ceilings(source, single);
    int status = 0;
    for (int v = 0; v < VARIANTS && !status; v++) {
        const char *name = v ? names[v] : spec->name;
        json_t *p = profiles[v] = explain_variant(single, job, config, problem, name, v, blocks, &err);
        if (!p) {
            status = session_complain(EXIT_NOTHING, &err);
        } else if (!explain_worked(p)) {
            fprintf(stderr, "sweetspot: %s: %s: %s\n", name, json_get_string(p, "status", "?"),
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

static void print(json_t *all, json_t *const profiles[VARIANTS], int format)
{
    static const char *const keys[VARIANTS] = {"kernel", "memory_only", "math_only"};
    if (format == FORMAT_TABLE) {
        limiter_print(stdout, profiles[0], profiles[1], profiles[2]);
        return;
    }
    for (int v = 0; v < VARIANTS; v++) json_object_set(all, keys[v], profiles[v]);
    json_print_document("sweetspot-limiter", 1, all, stdout);
}

int profile_limits(struct candidate_source *source, const struct candidate_spec *spec, struct single_run *single,
                   size_t problem, int format)
{
    json_t *profiles[VARIANTS] = {NULL};
    int status = measure(source, spec, single, problem, profiles);
    if (!status) {
        json_t *all = limiter_json(profiles[0], profiles[1], profiles[2]);
        int64_t trial = trial_documents_owner(source, single, profiles[0]);
        trial_documents_put(source, trial, LIMITS_DOCUMENT, json_copy(all));
        print(all, profiles, format);
        json_decref(all);
    }
    for (int v = 0; v < VARIANTS; v++) json_decref(profiles[v]);
    return status;
}
