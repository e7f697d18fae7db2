// Stages that run several times: their loops, and the buffers whose names are exchanged after every run.
//
// Every name must refer to its own buffer when the candidate ends. To achieve this, the driver counts the runs in
// advance, and may let a buffer begin under the name of its partner.
#include "tuner/job/job_parts.h"

// Loops that take more steps than this without a run are considered endless.
enum { STEPS_MAX = 1 << 16 };

static bool is_identifier(const char *name)
{
    return *name && !strchr(name, '.') && !strchr(name, ' ');
}

// Removes blanks at both ends, in place.
static char *trim(char *text)
{
    text += strspn(text, " \t");
    for (char *end = text + strlen(text); end > text && (end[-1] == ' ' || end[-1] == '\t');) *--end = 0;
    return text;
}

// Splits "NAME = value": returns the value, and `text` becomes the name. Returns NULL if it is not an assignment.
static char *assigned(char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals[1] == '=') return NULL;
    *equals = 0;
    return trim(equals + 1);
}

static struct expr *load_part(struct reader *r, struct job *job, const struct node *n, const char *text)
{
    struct error err;
    struct expr *e = job_parse(job, text, &err);
    if (!e) reader_mistake(r, n, "%s", err.message);
    return e;
}

// Reads a loop such as "STEP = 1; STEP < N; STEP = 2*STEP".
static void load_loop(struct reader *r, struct job *job, const struct node *n, struct stage_repeat *repeat)
{
    struct error err;
    struct stage_loop *l = &repeat->loops[repeat->loop_count];
    char *rest, *parts[4] = {node_is_string(n) ? job_copy(job, node_string(n)) : NULL};
    *l = (struct stage_loop){.slot = -1};
    for (int i = 0; i < 4 && parts[0]; i++) parts[i] = strtok_r(i ? NULL : parts[0], ";", &rest);
    char *from = parts[2] && !parts[3] ? assigned(parts[0]) : NULL, *next = from ? assigned(parts[2]) : NULL,
         *name = next ? trim(parts[0]) : "";
    if (!next || strcmp(trim(parts[2]), name) != 0) {
        reader_mistake(r, n, "a loop is written as in C: \"STEP = 1; STEP < N; STEP = 2*STEP\"");
        return;
    }
    l->from = load_part(r, job, n, from);       // before the name exists
    l->slot = symbols_show(job->symbols, name); // if another stage's loop already has the name
    if (l->slot < 0 && is_identifier(name))
        l->slot = symbols_add(job->symbols, name, EXPR_INT, &err);
    else if (l->slot < 0)
        error_set(&err, "'%s' must be a name without dots", name);
    if (l->slot < 0) {
        reader_mistake(r, n, "%s", err.message);
        return;
    }
    l->holds = load_part(r, job, n, trim(parts[1]));
    l->next = load_part(r, job, n, next);
    repeat->loop_count++;
}

void load_repeat(struct reader *r, struct job *job, const struct node *stage, struct stage_repeat *repeat)
{
    const struct node *n = node_member(stage, "repeat");
    if (!n) return;
    if (!node_is_sequence(n)) {
        load_loop(r, job, n, repeat);
        return;
    }
    if (!node_count(n) || node_count(n) > JOB_MAX_LOOPS) {
        reader_mistake(r, n, "'repeat' must be a loop or a list of one to %d loops", JOB_MAX_LOOPS);
        return;
    }
    for (size_t i = 0; i < node_count(n); i++) load_loop(r, job, node_at(n, i), repeat);
}

void hide_loops(struct job *job, const struct stage_repeat *repeat)
{
    for (size_t i = 0; i < repeat->loop_count; i++) symbols_hide(job->symbols, repeat->loops[i].slot);
}

static bool same_text(const struct expr *a, const struct expr *b)
{
    return a && b ? !strcmp(expr_text(a), expr_text(b)) : a == b;
}

static bool same_shape(const struct buffer *a, const struct buffer *b)
{
    return a->type == b->type && same_text(a->rows, b->rows) && same_text(a->cols, b->cols) && same_text(a->ld, b->ld);
}

static int find_swapped(struct reader *r, const struct job *job, const struct node *n,
                        const struct stage_repeat *repeat)
{
    const char *name = node_is_string(n) ? node_string(n) : NULL;
    int i = name ? job_find_buffer(job, name) : -1;
    if (i < 0)
        return reader_mistake(r, n, "'swap' must name buffers that this stage or an earlier one declares%s%s",
                              name ? ", not " : "", name ? name : "");
    if (job->buffers[i].direction == DIRECTION_IN)
        return reader_mistake(r, n, "'%s' is an input, which the kernel may not write: let an earlier stage copy it",
                              name);
    if (job->buffers[i].symbol || job->buffers[i].image)
        return reader_mistake(r, n, "'%s' is a %s, which has its own memory: only buffers in memory can be exchanged",
                              name, job->buffers[i].symbol ? "variable of the module" : "texture or surface");
    for (size_t k = 0; k < job->buffer_count; k++)
        for (size_t a = 0; a < job->buffers[k].fill.address_count; a++)
            if (job->buffers[k].fill.addresses[a].buffer == i)
                return reader_mistake(r, n, "'%s' cannot be exchanged, because '%s' holds its address", name,
                                      job->buffers[k].name);
    for (size_t k = 0; k < repeat->swap_count; k++)
        if (repeat->swaps[k][0] == i || repeat->swaps[k][1] == i)
            return reader_mistake(r, n, "'%s' is exchanged twice", name);
    return i;
}

void load_swaps(struct reader *r, const struct job *job, const struct node *stage, struct stage_repeat *repeat)
{
    const struct node *list = reader_member(r, stage, "stages[].swap");
    if (!list) return;
    if (!repeat->loop_count && !node_member(stage, "repeat"))
        reader_mistake(r, list, "'swap' needs 'repeat': the buffers are exchanged after every run");
    if (!node_count(list) || node_count(list) % 2 || node_count(list) > 2 * JOB_MAX_SWAPS) {
        reader_mistake(r, list, "'swap' must name one to %d pairs of buffers, e.g. [\"A\", \"B\"]", JOB_MAX_SWAPS);
        return;
    }
    for (size_t i = 0; i < node_count(list); i += 2) {
        int first = find_swapped(r, job, node_at(list, i), repeat),
            second = find_swapped(r, job, node_at(list, i + 1), repeat);
        if (first < 0 || second < 0) continue;
        const struct buffer *a = &job->buffers[first], *b = &job->buffers[second];
        if (first == second)
            reader_mistake(r, node_at(list, i), "'%s' cannot be exchanged with itself", a->name);
        else if (!same_shape(a, b))
            reader_mistake(r, node_at(list, i),
                           "'%s' and '%s' cannot be exchanged: type, shape and ld must be the same", a->name, b->name);
        else
            memcpy(repeat->swaps[repeat->swap_count++], (int[]){first, second}, 2 * sizeof(int));
    }
}

// Starts the loops from number `first` on. Returns 1, or 0 if the condition of loop number *ended does not hold.
static int start(const struct stage_repeat *repeat, size_t first, int64_t *values, size_t *ended, struct error *err)
{
    for (size_t i = first; i < repeat->loop_count; i++) {
        const struct stage_loop *l = &repeat->loops[i];
        int64_t holds;
        if (expr_eval(l->from, values, &values[l->slot], err) || expr_eval(l->holds, values, &holds, err)) return -1;
        *ended = i;
        if (!holds) return 0;
    }
    return 1;
}

// Continues after a run of the body of `loop`.
static int advance(const struct stage_repeat *repeat, size_t loop, int64_t *values, struct error *err)
{
    for (int steps = 0; steps < STEPS_MAX; steps++) {
        const struct stage_loop *l = &repeat->loops[loop];
        int64_t holds, next;
        if (expr_eval(l->next, values, &next, err)) return -1;
        values[l->slot] = next;
        if (expr_eval(l->holds, values, &holds, err)) return -1;
        if (!holds) {
            if (!loop) return 0;
            loop--;
            continue;
        }
        int started = start(repeat, loop + 1, values, &loop, err);
        if (started) return started;
        if (loop) loop--; // an inner loop does not run
    }
    return error_set(err, "the loops do not end");
}

int job_first_run(const struct stage *s, int64_t *values, struct error *err)
{
    int64_t used = 1;
    size_t ended = 0;
    if (s->when && expr_eval(s->when, values, &used, err)) return error_prefix(err, "stage '%s'", s->name);
    if (!used || !s->repeat.loop_count) return used != 0;
    int more = start(&s->repeat, 0, values, &ended, err);
    if (!more && ended) more = advance(&s->repeat, ended - 1, values, err);
    return more < 0 ? error_prefix(err, "stage '%s': repeat", s->name) : more;
}

int job_next_run(const struct stage *s, int64_t *values, struct error *err)
{
    if (!s->repeat.loop_count) return 0;
    int more = advance(&s->repeat, s->repeat.loop_count - 1, values, err);
    return more < 0 ? error_prefix(err, "stage '%s': repeat", s->name) : more;
}

int64_t job_count_runs(const struct stage *s, int64_t *values, struct error *err)
{
    int64_t count = 0;
    int more = job_first_run(s, values, err);
    for (; more > 0; more = job_next_run(s, values, err))
        if (++count > JOB_MAX_LAUNCHES)
            return error_set(err, "stage '%s' runs more than %d times", s->name, JOB_MAX_LAUNCHES);
    return more < 0 ? -1 : count;
}

void job_swap_names(const struct stage *s, int *names)
{
    for (size_t i = 0; i < s->repeat.swap_count; i++)
        memory_swap(names[s->repeat.swaps[i][0]], names[s->repeat.swaps[i][1]]);
}

int job_first_names(const struct job *job, int64_t *values, int *names, struct error *err)
{
    for (size_t i = 0; i < job->buffer_count; i++) names[i] = (int)i;
    for (size_t s = job->stage_count; s-- > 0;) {
        const struct stage *stage = &job->stages[s];
        if (!stage->repeat.swap_count) continue;
        int64_t runs = job_count_runs(stage, values, err);
        if (runs < 0) return -1;
        for (int64_t i = 0; i < runs; i++) job_swap_names(stage, names);
    }
    for (size_t i = 0; i < job->buffer_count; i++) {
        const struct buffer *b = &job->buffers[i];
        bool data = b->direction == DIRECTION_INOUT || (b->direction == DIRECTION_SCRATCH && b->fill.given);
        if (!data || names[i] == (int)i) continue;
        return error_set(err,
                         "buffer '%s' holds data at the start, but after all exchanges, '%s' would be in its place: "
                         "let an earlier stage copy it",
                         b->name, job->buffers[names[i]].name);
    }
    return 0;
}
