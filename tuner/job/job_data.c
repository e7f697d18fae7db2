// What buffers are filled with, and what is compared of outputs: reading both, and their numbers for a problem.
#include <unistd.h>

#include "kernels/host_fill.h"
#include "tuner/job/job_parts.h"

int job_find_buffer(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->buffer_count; i++)
        if (!strcmp(job->buffers[i].name, name)) return (int)i;
    return -1;
}

void check_npy(struct reader *r, const struct node *n, const char *path)
{
    if (access(path, R_OK)) reader_mistake(r, n, "cannot read '%s'", path);
}

// Buffers are made once per job: a shape may only read problem sizes and device limits.
void check_fixed(struct reader *r, const struct job *job, const struct node *n, const struct expr *e, const char *what,
                 const char *buffer)
{
    size_t count = 0;
    const int *slots = e ? expr_slots(e, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (job_name_is_fixed(job, slots[i])) continue;
        reader_mistake(r, n, "the %s of buffer '%s' depends on '%s', which differs between configurations%s", what,
                       buffer, symbols_name(job->symbols, slots[i]),
                       strcmp(what, "shape") ? "" : "; give the largest shape it can need");
    }
}

// The settings that only some fills have.
static const struct {
    const char *name;
    unsigned fills; // 1 << kind
} parts[] = {
    {"low", 1u << FILL_UNIFORM | 1u << FILL_INTEGER | 1u << FILL_NONFINITE | 1u << FILL_ZEROS | 1u << FILL_SORTED},
    {"high", 1u << FILL_UNIFORM | 1u << FILL_INTEGER | 1u << FILL_NONFINITE | 1u << FILL_ZEROS | 1u << FILL_SORTED},
    {"total", 1u << FILL_OFFSETS},
};
enum { PARTS = sizeof parts / sizeof *parts };

// A bound of random numbers: a number, or an expression of sizes.
static void load_bound(struct reader *r, struct job *job, const struct node *group, const char *path,
                       const char *buffer, double *number, struct expr **value)
{
    const struct node *n = node_member(group, strrchr(path, '.') + 1);
    if (n && node_is_string(n)) {
        *value = reader_expression(r, n, job);
        check_fixed(r, job, n, *value, "fill", buffer);
    } else if (n) {
        *number = reader_number(r, group, path);
    }
}

// These two are written as the value itself.
static void check_value(struct reader *r, const struct node *n, enum fill_kind kind)
{
    if (kind == FILL_CONSTANT) reader_mistake(r, n, "fill \"constant\" is written as the number itself: fill = 3.0");
    if (kind == FILL_ADDRESSES)
        reader_mistake(r, n, "fill \"addresses\" is written as the addresses themselves: fill = [\"&A\", \"&B\"]");
    if (kind == FILL_NPY) reader_mistake(r, n, "fill \"npy\" is written as the path itself: fill = \"x.npy\"");
}

static void load_group(struct reader *r, struct job *job, const struct node *n, const char *buffer, enum element type,
                       struct fill *fill)
{
    reader_check_group(r, n, "'fill'", "arguments[].fill", NULL);
    if (node_member(n, "kind")) fill->kind = (enum fill_kind)reader_word(r, n, "arguments[].fill.kind");
    for (int i = 0; i < PARTS; i++) {
        bool has = parts[i].fills >> fill->kind & 1;
        if (node_member(n, parts[i].name) && !has)
            reader_mistake(r, node_member(n, parts[i].name), "fill \"%s\" has no '%s'", fill_text[fill->kind],
                           parts[i].name);
    }
    load_bound(r, job, n, "arguments[].fill.low", buffer, &fill->low, &fill->low_value);
    load_bound(r, job, n, "arguments[].fill.high", buffer, &fill->high, &fill->high_value);
    if (fill->kind == FILL_OFFSETS && !node_member(n, "total")) {
        reader_mistake(r, n, "fill \"offsets\" needs 'total'");
    } else if (fill->kind == FILL_OFFSETS) {
        fill->high_value = reader_expression(r, node_member(n, "total"), job);
        check_fixed(r, job, n, fill->high_value, "fill", buffer);
    }
    bool range = parts[0].fills >> fill->kind & 1;
    if (range && !fill->low_value && !fill->high_value && fill->low > fill->high)
        reader_mistake(r, n, "'low' is above 'high'");
    if (fill->kind == FILL_OFFSETS && element_is_float(type))
        reader_mistake(r, n, "fill \"offsets\" is for buffers of integers");
    check_value(r, n, fill->kind);
}

// A fill as one word.
static void load_word(struct reader *r, struct job *job, const struct node *argument, const struct node *n,
                      struct fill *fill)
{
    if (text_before(node_string(n), ".npy")) {
        fill->kind = FILL_NPY;
        fill->path = job_keep(job, text_join_path(job->directory, node_string(n)));
        check_npy(r, n, fill->path);
    } else {
        fill->kind = (enum fill_kind)reader_word(r, argument, "arguments[].fill");
        check_value(r, n, fill->kind);
        if (fill->kind == FILL_OFFSETS)
            reader_mistake(r, n,
                           "fill \"offsets\" must be written as a group: { kind = \"offsets\"; total = \"NNZ\"; }");
    }
}

struct fill load_fill(struct reader *r, struct job *job, const struct node *argument, const char *buffer,
                      enum element type)
{
    bool integers = !element_is_float(type);
    struct fill fill = {
        .kind = integers ? FILL_INTEGER : FILL_UNIFORM, .low = integers ? 0 : -1, .high = integers ? 9 : 1};
    const struct node *n = node_member(argument, "fill");
    if (!n) return fill;
    fill.given = true;
    if (node_is_string(n)) {
        load_word(r, job, argument, n, &fill);
    } else if (node_is_number(n)) {
        fill.kind = FILL_CONSTANT;
        fill.low = node_real(n);
    } else if (node_is_group(n)) {
        load_group(r, job, n, buffer, type, &fill);
    } else {
        reader_mistake(r, n, "'fill' must be a word, a number, the name of a .npy file, a group, or addresses");
    }
    bool range = fill.kind == FILL_INTEGER || fill.kind == FILL_UNIFORM || fill.kind == FILL_SORTED;
    double greatest = range ? fill.high : fill.low, least = (double)element_least(type);
    if (integers && (range || fill.kind == FILL_CONSTANT) &&
        ((!fill.low_value && fill.low < least) || (!fill.high_value && greatest > (double)element_greatest(type))))
        reader_mistake(r, n, "the fill has values that the type %s does not hold: it holds %" PRId64 " to %" PRId64,
                       element_name(type), element_least(type), element_greatest(type));
    if ((fill.kind == FILL_NONFINITE || fill.kind == FILL_ZEROS) && integers)
        reader_mistake(r, n, "fill \"%s\" is for floating-point buffers", fill_text[fill.kind]);
    return fill;
}

int job_buffer_shape(const struct buffer *b, const int64_t *values, struct operand *to, struct error *err)
{
    *to = (struct operand){.type = b->type, .rows = 1};
    if (expr_eval(b->cols, values, &to->cols, err) || (b->rows && expr_eval(b->rows, values, &to->rows, err)))
        return error_prefix(err, "shape of buffer '%s'", b->name);
    to->ld = to->cols;
    return b->ld && expr_eval(b->ld, values, &to->ld, err)
               ? error_prefix(err, "leading dimension of buffer '%s'", b->name)
               : 0;
}

int job_fill_numbers(const struct buffer *b, const int64_t *values, double *low, double *high, struct error *err)
{
    const struct fill *f = &b->fill;
    int64_t first = 0, last = 0;
    struct operand to;
    *low = f->low;
    *high = f->high;
    if ((f->low_value && expr_eval(f->low_value, values, &first, err)) ||
        (f->high_value && expr_eval(f->high_value, values, &last, err)) || job_buffer_shape(b, values, &to, err))
        return error_prefix(err, "fill of buffer '%s'", b->name);
    if (f->low_value) *low = (double)first;
    if (f->high_value) *high = (double)last;
    bool computed = (f->low_value || f->high_value) && f->kind != FILL_OFFSETS;
    if (computed && *low > *high)
        return error_set(err, "fill of buffer '%s': 'low' is %.0f and 'high' %.0f", b->name, *low, *high);
    if (computed && !element_is_float(b->type) &&
        (*low < (double)element_least(b->type) || *high > (double)element_greatest(b->type)))
        return error_set(err, "fill of buffer '%s': %.0f to %.0f is more than the type %s holds", b->name, *low, *high,
                         element_name(b->type));
    struct host_fill how = {f->kind, *low, *high};
    if (!fill_is_on_host(f->kind)) return 0;
    return host_fill_check(&how, &to, err) ? error_prefix(err, "buffer '%s'", b->name) : 0;
}

// What is compared ---------------------------------------------------------------------------------------------------

static void load_dimensions(struct reader *r, struct job *job, const struct node *group, const char *path, size_t rank,
                            const char *buffer, struct expr **to)
{
    const struct node *list = reader_member(r, group, path);
    if (!list) return;
    if (node_count(list) != rank) {
        reader_mistake(r, list, "'%s' of buffer '%s' must have a number for each of its %zu dimensions, not %zu",
                       node_name(list), buffer, rank, node_count(list));
        return;
    }
    for (size_t i = 0; i < rank; i++) {
        to[i] = reader_expression(r, node_at(list, i), job);
        check_fixed(r, job, node_at(list, i), to[i], "compared part", buffer);
    }
}

struct compared *load_compared(struct reader *r, struct job *job, const struct node *argument, const struct buffer *b,
                               const char *buffer)
{
    const struct node *n = reader_member(r, argument, "arguments[].compare"), *shape = node_member(argument, "shape");
    if (!n) return NULL;
    struct compared *c = job_new(job, 1, sizeof *c);
    reader_check_group(r, n, "'compare'", "arguments[].compare", NULL);
    c->rank = shape && node_is_sequence(shape) ? node_count(shape) : 0;
    if (!direction_writes(b->direction))
        reader_mistake(r, n, "buffer '%s' is not an output: 'compare' has no meaning", buffer);
    if (!node_member(n, "first") && !node_member(n, "count")) {
        reader_mistake(r, n, "'compare' needs 'first' or 'count'");
    } else if (!c->rank) {
        reader_mistake(r, n, "'first' and 'count' have no meaning for a single number, which '%s' is", buffer);
    } else if (c->rank > COMPARED_RANK_MAX) {
        reader_mistake(r, n, "'compare' is possible for at most %d dimensions", COMPARED_RANK_MAX);
    } else {
        for (size_t i = 0; i < c->rank; i++) c->size[i] = reader_expression(r, node_at(shape, i), job);
        load_dimensions(r, job, n, "arguments[].compare.first", c->rank, buffer, c->first);
        load_dimensions(r, job, n, "arguments[].compare.count", c->rank, buffer, c->count);
    }
    return c;
}

int job_compared_numbers(const struct buffer *b, size_t dimension, const int64_t *values, int64_t *size, int64_t *first,
                         int64_t *count, struct error *err)
{
    const struct compared *c = b->compared;
    *first = 0;
    if (expr_eval(c->size[dimension], values, size, err) ||
        (c->first[dimension] && expr_eval(c->first[dimension], values, first, err)))
        return error_prefix(err, "'compare' of buffer '%s'", b->name);
    bool inside = *size > 0 && *first >= 0 && *first <= *size; // then no difference overflows
    *count = inside ? *size - *first : 1;
    if (c->count[dimension] && expr_eval(c->count[dimension], values, count, err))
        return error_prefix(err, "'compare' of buffer '%s'", b->name);
    if (inside && *count > 0 && *count <= *size - *first) return 0;
    if (*count < 1)
        return error_set(
            err, "'compare' of buffer '%s' leaves nothing: %" PRId64 " of the %" PRId64 " elements in dimension %zu",
            b->name, *count, *size, dimension + 1);
    return error_set(err,
                     "'compare' of buffer '%s' is not within it: %" PRId64 " from %" PRId64 " on in dimension %zu, "
                     "which has %" PRId64,
                     b->name, *count, *first, dimension + 1, *size);
}
