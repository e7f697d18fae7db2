// Builds the index of a space (space_build, space_build_from_list), and finds which constraints are responsible if no
// configuration is valid, and how many configurations a constraint removes.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/space/space_internal.h"

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

static double diagram_size(const struct diagram *d)
{
    return d->weight ? d->weight[d->root] : (double)d->size;
}

double space_valid_size(const struct space *s)
{
    return diagram_size(&s->diagram);
}

// How many configurations are valid with only these constraints; negative if the diagram would be too large. A
// configuration for which a constraint cannot be evaluated counts as invalid.
static double count_with(const struct space *s, const int *constraints, size_t count)
{
    autorelease(diagram_release) struct diagram d;
    int order[SPACE_MAX_PARAMETERS], failed;
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (space_build_diagram(s, constraints, count, true, order, &d, &failed, config) != BUILD_FINE) return -1;
    return diagram_size(&d);
}

// Names a minimal set of constraints that leaves no valid configuration: without any one of them, some would be valid.
// Returns the number of the last constraint in the set.
static int blame(const struct space *s, struct error *err)
{
    size_t count = s->constraint_count;
    autofree int *core = memory_new(count, sizeof *core);
    autorelease(text_release) struct text text = {0};
    for (size_t i = 0; i < count; i++) core[i] = (int)i;
    for (size_t i = 0; i < count;) {
        int dropped = core[i];
        memmove(core + i, core + i + 1, (count - i - 1) * sizeof *core);
        if (count_with(s, core, count - 1) == 0) {
            count--;
        } else {
            memmove(core + i + 1, core + i, (count - i - 1) * sizeof *core);
            core[i++] = dropped;
        }
    }
    for (size_t i = 0; i < count; i++)
        text_add(&text, "%s'%s'", i == 0 ? "" : i + 1 == count ? " and " : ", ", expr_text(s->constraints[core[i]]));
    if (count == 1)
        error_set(err, "no configuration is valid: the constraint %.1800s removes all of them by itself", text.text);
    else if (count)
        error_set(err, "no configuration is valid: the constraints %.1800s contradict each other; relax one of them",
                  text.text);
    return count ? core[count - 1] : -1;
}

static int cannot_evaluate(const struct space *s, int number, const uint16_t *config, struct error *err)
{
    autofree char *text = space_text(s, config);
    autofree int64_t *values = memory_new(symbols_count(s->symbols), sizeof *values);
    int64_t result;
    error_set(err, "the evaluation failed");
    if (space_values(s, config, values, err) == 0 && (size_t)number < s->constraint_count)
        expr_eval(s->constraints[number], values, &result, err);
    error_prefix(err, "cannot evaluate the constraints for %s", text);
    return -1;
}

int space_build(struct space *s, int *bad_constraint, struct error *err)
{
    size_t count = s->constraint_count + s->derived_count;
    autofree int *numbers = memory_new(count, sizeof *numbers);
    int failed = -1;
    uint16_t config[SPACE_MAX_PARAMETERS] = {0};
    for (size_t i = 0; i < count; i++) numbers[i] = (int)i;
    if (bad_constraint) *bad_constraint = -1;
    diagram_release(&s->diagram);
    s->built = false;
    enum build_result built = space_build_diagram(s, numbers, count, false, s->order, &s->diagram, &failed, config);
    s->level_count = s->diagram.levels;
    if (built == BUILD_TOO_LARGE)
        return error_set(
            err, "the constraints connect the parameters so closely that the space cannot be indexed: simplify them");
    if (built == BUILD_FAILED) {
        if (bad_constraint && (size_t)failed < s->constraint_count) *bad_constraint = failed;
        return cannot_evaluate(s, failed, config, err);
    }
    if (s->diagram.size == 0) {
        int culprit = blame(s, err);
        if (bad_constraint) *bad_constraint = culprit;
        diagram_release(&s->diagram);
        return -1;
    }
    s->built = true;
    return 0;
}

// For qsort_r, with the number of parameters.
static int compare_rows(const void *a, const void *b, void *width)
{
    const uint16_t *x = *(const uint16_t *const *)a, *y = *(const uint16_t *const *)b;
    for (size_t i = 0; i < *(const size_t *)width; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

int space_build_from_list(struct space *s, const uint16_t *configs, size_t count, struct error *err)
{
    size_t width = (size_t)s->count;
    diagram_release(&s->diagram);
    s->built = false;
    if (count == 0) return error_set(err, "the list of configurations is empty");
    if (count >= UINT32_MAX) return error_set(err, "the list of configurations is too long");
    s->level_count = 0;
    for (int i = 0; i < s->count; i++)
        if (s->parameters[i].count > 1) s->order[s->level_count++] = i;

    int result = 0;
    const uint16_t **rows = memory_new(count, sizeof *rows);
    for (size_t r = 0; r < count && result == 0; r++) {
        rows[r] = configs + r * width;
        for (size_t i = 0; i < width; i++)
            if (rows[r][i] >= s->parameters[i].count)
                result = error_set(err, "configuration %zu of the list has an unknown value of '%s'", r,
                                   s->parameters[i].name);
    }
    if (result == 0) qsort_r(rows, count, sizeof *rows, compare_rows, &width);
    for (size_t r = 1; r < count && result == 0; r++) {
        if (compare_rows(&rows[r - 1], &rows[r], &width) != 0) continue;
        autofree char *text = space_text(s, rows[r]);
        result = error_set(err, "the configuration %s is listed twice", text);
    }
    if (result == 0) {
        // Sorted, the rows are the paths of a tree, with one state for each distinct prefix.
        struct draft_level *draft = memory_new((size_t)s->level_count + 1, sizeof *draft);
        for (size_t r = 0; r < count; r++) {
            int l = 0;
            while (r > 0 && l < s->level_count && rows[r][s->order[l]] == rows[r - 1][s->order[l]]) l++;
            for (int below = s->level_count - 1; below > l && r > 0; below--) draft_state_done(&draft[below]);
            for (; l < s->level_count; l++) {
                uint32_t child = l + 1 < s->level_count ? draft[l + 1].state_count : 0;
                draft_edge(&draft[l], rows[r][s->order[l]], child);
            }
        }
        for (int l = s->level_count - 1; l >= 0; l--) draft_state_done(&draft[l]);
        diagram_build(&s->diagram, draft, s->level_count);
        for (int l = 0; l < s->level_count; l++) draft_release(&draft[l]);
        free(draft);
        s->built = true;
        assert(s->diagram.size == count);
    }
    free(rows);
    return result;
}

double space_removed_by(const struct space *s, size_t constraint)
{
    assert(constraint < s->constraint_count);
    int number = (int)constraint;
    double kept = count_with(s, &number, 1);
    return kept < 0 ? NAN : space_raw_size(s) - kept;
}
