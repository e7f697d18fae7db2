// Reads the fills of buffers and the compared parts of outputs, and computes the numbers in them for a problem.
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

// Buffers are allocated once per job, so a shape may only read problem sizes and device limits.
void check_fixed(struct reader *r, const struct job *job, const struct node *n, const struct expr *e, const char *what,
                 const char *buffer)
{
    size_t count = 0;
    const int *slots = e ? expr_slots(e, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (job_name_is_fixed(job, slots[i])) continue;
        reader_mistake(r, n, "the %s of buffer '%s' depends on '%s', which differs between configurations%s", what,
                       buffer, symbols_name(job->symbols, slots[i]),
                       strcmp(what, "shape") ? "" : "; give the largest shape that any configuration needs");
    }
}

enum {
    RANGES = 1u << FILL_UNIFORM | 1u << FILL_INTEGER | 1u << FILL_NONFINITE | 1u << FILL_ZEROS | 1u << FILL_SORTED,
};

// A bound for random numbers: a number, or an expression of sizes.
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

// For these kinds, `fill` is the value itself and not a group.
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
    bool range = RANGES >> fill->kind & 1, offsets = fill->kind == FILL_OFFSETS;
    const struct node *low = node_member(n, "low"), *high = node_member(n, "high");
    if (low && !range) reader_mistake(r, low, "fill \"%s\" has no 'low'", fill_text[fill->kind]);
    if (high && !range && !offsets) reader_mistake(r, high, "fill \"%s\" has no 'high'", fill_text[fill->kind]);
    load_bound(r, job, n, "arguments[].fill.low", buffer, &fill->low, &fill->low_value);
    load_bound(r, job, n, "arguments[].fill.high", buffer, &fill->high, &fill->high_value);
    if (offsets && !high) reader_mistake(r, n, "fill \"offsets\" needs 'high', the last offset");
    if (range && !fill->low_value && !fill->high_value && fill->low > fill->high)
        reader_mistake(r, n, "'low' is above 'high'");
    if (offsets && element_is_float(type)) reader_mistake(r, n, "fill \"offsets\" is for buffers of integers");
    check_value(r, n, fill->kind);
}

// Reads a fill that is one word, or an expression of sizes.
static void load_word(struct reader *r, struct job *job, const struct node *argument, const struct node *n,
                      const char *buffer, struct fill *fill)
{
    struct error err;
    if (text_before(node_string(n), ".npy")) {
        fill->kind = FILL_NPY;
        fill->path = job_keep(job, text_join_path(job->file.directory, node_string(n)));
        check_npy(r, n, fill->path);
    } else if (word_find(fill_text, node_string(n)) < 0 && (fill->low_value = job_parse(job, node_string(n), &err))) {
        fill->kind = FILL_CONSTANT;
        check_fixed(r, job, n, fill->low_value, "fill", buffer);
    } else {
        fill->kind = (enum fill_kind)reader_word(r, argument, "arguments[].fill");
        check_value(r, n, fill->kind);
        if (fill->kind == FILL_OFFSETS)
            reader_mistake(r, n,
                           "fill \"offsets\" must be written as a group: { kind = \"offsets\"; high = \"NNZ\"; }");
    }
}

// Whether a double can represent the value exactly. Fills are stored as doubles.
static bool is_exact(int64_t value)
{
    return (double)value < 0x1p63 && (int64_t)(double)value == value;
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
        load_word(r, job, argument, n, buffer, &fill);
    } else if (node_is_number(n)) {
        fill.kind = FILL_CONSTANT;
        fill.low = node_real(n);
        if (node_is_integer(n) && !is_exact(node_integer(n)))
            reader_mistake(r, n, "the fill %" PRId64 " of '%s' cannot be represented exactly", node_integer(n), buffer);
        else if (!node_is_integer(n) && !(integers && fill.low == floor(fill.low)))
            load_number(r, job, n, n, "fill of buffer", buffer, type, &fill.low_value, &fill.low);
    } else if (node_is_group(n)) {
        load_group(r, job, n, buffer, type, &fill);
    } else {
        reader_mistake(
            r, n, "'fill' must be a word, a number, an expression, the name of a .npy file, a group, or addresses");
    }
    bool range = fill.kind == FILL_INTEGER || fill.kind == FILL_UNIFORM || fill.kind == FILL_SORTED;
    double greatest = range ? fill.high : fill.low, least = (double)element_least(type);
    if (integers && (range || fill.kind == FILL_CONSTANT) &&
        ((!fill.low_value && fill.low < least) || (!fill.high_value && greatest > (double)element_greatest(type))))
        reader_mistake(r, n, "the fill has values that the type %s cannot hold: it holds %" PRId64 " to %" PRId64,
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
    if (f->kind == FILL_CONSTANT && f->low_value) {
        bool fits =
            element_is_float(b->type) || (first >= element_least(b->type) && first <= element_greatest(b->type));
        *high = *low;
        if (!fits || !is_exact(first))
            return error_set(err, "fill of buffer '%s' is %" PRId64 ", more than an %s holds%s", b->name, first,
                             element_name(b->type), fits ? " exactly" : "");
    }
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

// Compared parts -----------------------------------------------------------------------------------------------------

struct compared *load_compared(struct reader *r, struct job *job, const struct node *argument, const struct buffer *b,
                               const char *buffer)
{
    const struct node *n = reader_member(r, argument, "arguments[].compare"), *shape = node_member(argument, "shape");
    if (!n) return NULL;
    struct compared *c = job_new(job, 1, sizeof *c);
    c->rank = shape && node_is_sequence(shape) ? node_count(shape) : 0;
    if (!direction_writes(b->direction))
        reader_mistake(r, n, "buffer '%s' is not an output: 'compare' has no meaning", buffer);
    if (c->rank > COMPARED_RANK_MAX) {
        reader_mistake(r, n, "'compare' is possible for at most %d dimensions", COMPARED_RANK_MAX);
    } else if (!c->rank || node_count(n) != 2 * c->rank) {
        reader_mistake(r, n,
                       "'compare' of buffer '%s' must have two numbers, first index and count, for each of its %zu "
                       "dimensions, not %zu",
                       buffer, c->rank, node_count(n));
        c->rank = 0;
    }
    for (size_t i = 0; i < c->rank && c->rank <= COMPARED_RANK_MAX; i++) {
        c->size[i] = reader_expression(r, node_at(shape, i), job);
        c->first[i] = reader_expression(r, node_at(n, 2 * i), job);
        c->count[i] = reader_expression(r, node_at(n, 2 * i + 1), job);
        check_fixed(r, job, n, c->first[i], "compared part", buffer);
        check_fixed(r, job, n, c->count[i], "compared part", buffer);
    }
    return c;
}

int job_compared_numbers(const struct buffer *b, size_t dimension, const int64_t *values, int64_t *size, int64_t *first,
                         int64_t *count, struct error *err)
{
    const struct compared *c = b->compared;
    if (expr_eval(c->size[dimension], values, size, err) || expr_eval(c->first[dimension], values, first, err) ||
        expr_eval(c->count[dimension], values, count, err))
        return error_prefix(err, "'compare' of buffer '%s'", b->name);
    bool inside = *size > 0 && *first >= 0 && *first <= *size; // if so, differences cannot overflow
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
