// sweetspot list space: how large is the search space of a job, and how much do the constraints remove?
#include "tuner/cli/list_space.h"

#include "tuner/base/protocol.h"
#include "tuner/cli/session.h"

static void print_table(const struct job *job)
{
    const struct space *s = job->space;
    static const char *const kinds[] = {"", "  (no order)", "  (unroll: 0 no pragma, 1 full, n)", "  (real)"};
    printf("parameters\n");
    for (size_t i = 0; i < space_parameter_count(s); i++) {
        const struct parameter *p = space_parameter(s, i);
        printf("  %-18s %3zu  ", p->name, p->count);
        for (size_t k = 0; k < p->count; k++) printf("%s%s", k ? " " : "", space_value_text(s, i, k, (char[32]){0}));
        printf("%s\n", kinds[p->kind]);
    }
    double raw = space_raw_size(s);
    autofree char *valid = job_valid_text(job);
    printf("raw size    %.0f\nvalid size  %s  (%.3g%%)\n", raw, valid, 100 * space_valid_size(s) / raw);
    if (space_constraint_count(s)) printf("constraints, and how much of the raw size each one removes by itself\n");
    for (size_t i = 0; i < space_constraint_count(s); i++) {
        double removed = space_removed_by(s, i);
        struct location at = job_location(job, "constraints[%zu]", i);
        if (isnan(removed))
            printf("   %14s  %6s  ", "not counted", "");
        else
            printf("   %14.0f  %5.1f%%  ", removed, 100 * removed / raw);
        printf("%s%sline %d: %s\n", at.file ? at.file : "", at.file ? ", " : "", at.line, space_constraint_text(s, i));
    }
}

static void print_json(const struct job *job)
{
    const struct space *s = job->space;
    json_t *parameters = json_array(), *constraints = json_array();
    for (size_t i = 0; i < space_parameter_count(s); i++) {
        const struct parameter *p = space_parameter(s, i);
        json_t *values = json_array();
        for (size_t k = 0; k < p->count; k++)
            json_array_append_new(values, p->kind == PARAMETER_STRING || p->kind == PARAMETER_REAL
                                              ? json_string(symbols_text(job->symbols, p->values[k]))
                                              : json_integer(p->values[k]));
        json_array_append_new(parameters, json_pack("{s:s, s:o}", "name", p->name, "values", values));
    }
    for (size_t i = 0; i < space_constraint_count(s); i++) {
        struct location at = job_location(job, "constraints[%zu]", i);
        json_array_append_new(constraints, json_pack("{s:s, s:s, s:i, s:o}", "text", space_constraint_text(s, i),
                                                     "file", at.file ? at.file : job->path, "line", at.line, "removes",
                                                     json_real(space_removed_by(s, i))));
    }
    json_print_document("sweetspot-job-space", 1,
                        json_pack("{s:s, s:o, s:f, s:o, s:o}", "job", job->name, "parameters", parameters, "raw",
                                  space_raw_size(s), "valid", job_valid_count(job), "constraints", constraints),
                        stdout);
}

int list_space_of(const char *path, bool table)
{
    struct job *job;
    struct error err;
    int status = session_load_job(path, &job);
    if (status) return status;
    if (job_build_space(job, &device_limits_h200, &err)) {
        fprintf(stderr, "%s\n", err.message);
        status = EXIT_USAGE;
    } else if (table) {
        print_table(job);
    } else {
        print_json(job);
    }
    job_free(job);
    return status;
}
