// Constraints on the compiler's result for a candidate: "compiled.registers <= 168". They are checked after a candidate
// has been compiled and before it occupies a GPU. They are not part of the search space and do not make it smaller.
#include <math.h>

#include "tuner/job/job_parts.h"

static const char prefix[] = "compiled.";
static const struct {
    const char *name;
    size_t offset; // in struct static_facts
} figures[] = {
    {"compiled.registers", offsetof(struct static_facts, registers)},
    {"compiled.spills", offsetof(struct static_facts, spill_bytes)},
    {"compiled.code", offsetof(struct static_facts, code_bytes)},
};
enum { FIGURE_COUNT = sizeof figures / sizeof *figures };

// The names are visible only here, because no other expression is evaluated after a compilation.
bool load_compiled_constraint(struct reader *r, struct job *job, const struct node *n, size_t number)
{
    struct error err;
    if (!strstr(node_string(n), prefix)) return false;
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (symbols_show(job->symbols, figures[i].name) < 0) symbols_add(job->symbols, figures[i].name, EXPR_INT, &err);
    struct compiled_constraint c = {reader_expression(r, n, job), number};
    for (size_t i = 0; i < FIGURE_COUNT; i++) symbols_hide(job->symbols, symbols_find(job->symbols, figures[i].name));
    if (!c.holds) return true;
    job->names.compiled = job_room(job, job->names.compiled, job->names.compiled_count, sizeof c);
    job->names.compiled[job->names.compiled_count++] = c;
    return true;
}

int job_check_compiled(const struct job *job, const uint16_t *config, const struct static_facts *facts,
                       struct error *reason)
{
    if (!job->names.compiled_count) return 0;
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int64_t holds;
    int failed = job_problem_values(job, config, 0, values, reason);
    for (size_t c = 0; c < job->names.compiled_count && !failed; c++) {
        const struct expr *e = job->names.compiled[c].holds;
        autorelease(text_release) struct text found = {0};
        size_t count;
        const int *slots = expr_slots(e, &count);
        for (size_t s = 0; s < count; s++)
            for (size_t i = 0; i < FIGURE_COUNT; i++) {
                if (strcmp(symbols_name(job->symbols, slots[s]), figures[i].name)) continue;
                double value = *(const double *)((const void *)((const char *)facts + figures[i].offset));
                values[slots[s]] = isfinite(value) ? (int64_t)value : -1;
                text_add(&found, "%s%s = %" PRId64, found.text ? ", " : "", figures[i].name, values[slots[s]]);
            }
        failed = expr_eval(e, values, &holds, reason);
        if (!failed && !holds)
            failed = error_set(reason, "violates the constraint \"%s\": %s", expr_text(e), found.text);
    }
    return failed;
}
