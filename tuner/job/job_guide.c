// The guide of a job file: a cheaper problem that candidates may be timed on before the problems that count
// (tuner/run/guide.h). Either its sizes (missing ones are the first problem's), or "auto": the
// sizes of the first problem that a grid depends on, halved until the problem is an eighth of it.
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/job/job_parts.h"

// Halving keeps the remainder by this, so that a guide is as aligned, or as ragged, as its problem.
enum { ALIGNMENT = 256, AUTO_SHRINK = 8 };

static bool reads(const struct expr *e, int slot)
{
    size_t count;
    const int *slots = e ? expr_slots(e, &count) : NULL;
    for (size_t i = 0; slots && i < count; i++)
        if (slots[i] == slot) return true;
    return false;
}

// Whether a grid depends on a name, directly or through derived names, which only read names before them.
static bool grid_depends_on(const struct job *job, int slot)
{
    for (size_t s = 0; s < job->stage_count; s++) {
        const struct stage_repeat *repeat = &job->stages[s].repeat;
        for (int i = 0; i < 3; i++)
            if (reads(job->stages[s].grid[i], slot)) return true;
        for (size_t i = 0; i < repeat->loop_count; i++) // more launches are more work
            if (reads(repeat->loops[i].from, slot) || reads(repeat->loops[i].holds, slot)) return true;
    }
    for (size_t i = 0; i < job->derived_count; i++)
        if (job->derived[i].slot != slot && reads(job->derived[i].value, slot) &&
            grid_depends_on(job, job->derived[i].slot))
            return true;
    return false;
}

// Half of a size, or the size itself where it is too small for a half with the same remainder.
static int64_t half_of(int64_t size)
{
    return size >= 4 * ALIGNMENT ? size / 2 / ALIGNMENT * ALIGNMENT + size % ALIGNMENT : size;
}

// Returns the factor by which all sizes together were shrunk.
static int shrink(const struct job *job, int64_t *sizes)
{
    int by = 1;
    for (;;) {
        size_t largest = job->size_count;
        for (size_t i = 0; i < job->size_count; i++) {
            int slot = symbols_find(job->symbols, job->size_names[i]);
            if (slot < 0 || half_of(sizes[i]) == sizes[i] || !grid_depends_on(job, slot)) continue;
            if (largest == job->size_count || sizes[i] > sizes[largest]) largest = i;
        }
        if (by >= AUTO_SHRINK || largest == job->size_count) return by;
        sizes[largest] = half_of(sizes[largest]);
        by *= 2;
    }
}

static int64_t largest_tuned(const struct job *job, size_t size)
{
    int64_t largest = 0;
    for (size_t p = 0; p < job->tuned_count; p++)
        if (job->problems[p].sizes[size] > largest) largest = job->problems[p].sizes[size];
    return largest;
}

static void read_sizes(struct reader *r, const struct job *job, const struct node *guide, int64_t *sizes)
{
    const char **known = memory_new(job->size_count + 1, sizeof *known);
    bool smaller = false, larger = false;
    for (size_t i = 0; i < job->size_count; i++) known[i] = job->size_names[i];
    reader_check_members(r, guide, "the guide", known);
    free(known);
    for (size_t i = 0; i < job->size_count; i++) {
        const struct node *n = node_member(guide, job->size_names[i]);
        if (n && !node_is_integer(n))
            reader_mistake(r, n, "size '%s' must be an integer", job->size_names[i]);
        else if (n)
            sizes[i] = node_integer(n);
        if (sizes[i] > largest_tuned(job, i)) {
            reader_mistake(
                r, n, "the guide must be cheaper, but its %s is larger than that of every tuned problem: reduce it",
                job->size_names[i]);
            larger = true;
        }
        smaller |= sizes[i] < largest_tuned(job, i);
    }
    if (!smaller && !larger)
        reader_mistake(r, guide, "the guide is as large as the tuned problem: reduce one of its sizes");
}

void load_guide(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *n = node_member(root, "guide");
    if (!n || !job->tuned_count) return;
    bool chosen = node_is_string(n) && !strcmp(node_string(n), "auto");
    if (!chosen && !node_is_group(n)) {
        reader_mistake(r, n, "'guide' must be a group { M = 1024; ... } or \"auto\"");
        return;
    }
    if (job->objective == OBJECTIVE_EACH) {
        reader_mistake(r, n, "a guide cannot be combined with objective = \"each\": remove one of them");
        return;
    }
    int64_t *sizes = memory_new(job->size_count, sizeof *sizes);
    for (size_t i = 0; i < job->size_count; i++) sizes[i] = job->problems[0].sizes[i];
    if (chosen && shrink(job, sizes) == 1) {
        mistakes_add(&job->notes, node_line(n),
                     "guide = \"auto\" has no effect: no size that a grid depends on is %d or more", 4 * ALIGNMENT);
        free(sizes);
        return;
    }
    if (!chosen) read_sizes(r, job, n, sizes);
    job->problems = memory_grow(job->problems, job->problem_count + 1, sizeof *job->problems);
    job->problems[job->problem_count] = (struct problem){.name = problem_label(job, sizes),
                                                         .line = node_line(n),
                                                         .tune = true,
                                                         .weight = 1,
                                                         .size_count = job->size_count,
                                                         .sizes = sizes};
    job->has_guide = true;
    job->auto_guide = chosen;
}
