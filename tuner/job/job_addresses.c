// Addresses as data: "&NAME" or "&NAME[at]" as the value of a struct member, and lists of addresses as the fill of a
// buffer. The GPU worker writes them into every copy of the memory (tuner/gpu/addresses.h).
#include "tuner/job/job_parts.h"

bool is_address(const struct node *n)
{
    return n && node_is_string(n) && *node_string(n) == '&';
}

static void check_target(struct reader *r, const struct job *job, const struct node *n, const char *name,
                         const char *owner, int buffer)
{
    if (!strcmp(name, owner))
        reader_mistake(r, n, "'%s' cannot hold its own address", owner);
    else if (buffer < 0)
        reader_mistake(r, n, "no buffer '%s' is declared before this; 'buffers' can declare it", name);
    else if (job->buffers[buffer].symbol || job->buffers[buffer].image)
        reader_mistake(r, n, "'%s' is a %s, and only buffers in memory have an address here", name,
                       job->buffers[buffer].symbol ? "variable of the module" : "texture or surface");
}

struct address load_address(struct reader *r, struct job *job, const struct node *n, const char *owner,
                            enum element type)
{
    const char *name = node_string(n) + 1, *bracket = strchr(name, '['), *end = name + strlen(name);
    struct address a = {.buffer = -1, .text = job_copy(job, node_string(n))};
    struct error err;
    autofree char *target = text_format("%.*s", (int)strcspn(name, "["), name);
    if (type != ELEMENT_U64) reader_mistake(r, n, "an address has the type u64, not %s", element_name(type));
    a.buffer = job_find_buffer(job, target);
    check_target(r, job, n, target, owner, a.buffer);
    if (!bracket) return a;
    autofree char *at = text_format("%.*s", (int)(end - bracket) - 2, bracket + 1);
    if (end[-1] != ']' || !*at) {
        reader_mistake(r, n, "'%s' must be \"&BUFFER\" or \"&BUFFER[expression]\"", node_string(n));
    } else {
        a.at = job_parse(job, at, &err);
        if (!a.at) reader_mistake(r, n, "%s", err.message);
    }
    return a;
}

struct fill load_addresses(struct reader *r, struct job *job, const struct node *n, const char *owner,
                           enum element type)
{
    const bool list = node_is_sequence(n);
    const size_t count = list ? node_count(n) : 1;
    struct fill fill = {.kind = FILL_ADDRESSES, .given = true, .address_count = count};
    fill.addresses = job_new(job, count, sizeof *fill.addresses);
    for (size_t i = 0; i < count; i++) {
        const struct node *one = list ? node_at(n, i) : n;
        struct address *a = &fill.addresses[i];
        *a = (struct address){.buffer = -1, .text = "0"};
        if (is_address(one))
            *a = load_address(r, job, one, owner, type);
        else if (!node_is_integer(one) || node_integer(one))
            reader_mistake(r, one, "a list as 'fill' has addresses, \"&BUFFER\" or \"&BUFFER[expression]\", or 0");
        check_fixed(r, job, one, a->at, "fill", owner);
    }
    if (!count) reader_mistake(r, n, "'fill' is an empty list");
    return fill;
}

// Finds, for a problem, the buffer that an address points into, and the index of the element, *at.
static int target(const struct job *job, const struct address *a, const int64_t *values, struct operand *to,
                  int64_t *at, struct error *err)
{
    *at = 0;
    if (job_buffer_shape(&job->buffers[a->buffer], values, to, err)) return -1;
    if (a->at && expr_eval(a->at, values, at, err)) return -1;
    if (*at >= 0 && *at < to->rows * to->ld) return 0;
    return error_set(err, "element %" PRId64 " is not within buffer '%s', which has %" PRId64, *at,
                     job->buffers[a->buffer].name, to->rows * to->ld);
}

int job_address(const struct job *job, const struct address *a, const int64_t *values, int64_t *bytes,
                struct error *err)
{
    struct operand to;
    if (target(job, a, values, &to, bytes, err)) return -1;
    *bytes *= (int64_t)element_size(to.type);
    return 0;
}

// Computes the addresses of `count` equal pieces of a buffer.
static int pieces(const struct job *job, const struct address *a, int64_t count, const int64_t *values,
                  struct address_run *run, struct error *err)
{
    struct operand to;
    *run = (struct address_run){.buffer = a->buffer, .count = count};
    if (a->buffer < 0) return 0;
    if (target(job, a, values, &to, &run->at, err)) return -1;
    const char *name = job->buffers[a->buffer].name;
    if (a->at && count > 1)
        return error_set(err, "%" PRId64 " addresses share one '&%s[..]': give one for each", count, name);
    if (to.rows % count && (to.rows > 1 || to.cols % count))
        return error_set(
            err, "'&%s' stands for %" PRId64 " addresses, but its %" PRId64 " %s cannot be divided into as many pieces",
            name, count, to.rows > 1 ? to.rows : to.cols, to.rows > 1 ? "rows" : "elements");
    if (count > 1) run->step = to.rows % count ? to.cols / count : to.rows / count * to.ld;
    run->at *= (int64_t)element_size(to.type);
    run->step *= (int64_t)element_size(to.type);
    return 0;
}

int job_addresses(const struct job *job, const struct buffer *b, const int64_t *values, struct address_run *runs,
                  struct error *err)
{
    const int64_t lists = (int64_t)b->fill.address_count;
    struct operand own;
    if (job_buffer_shape(b, values, &own, err)) return -1;
    const int64_t count = own.rows * own.cols;
    if (count % lists)
        return error_set(err, "fill of buffer '%s': its %" PRId64 " elements cannot have %" PRId64 " addresses",
                         b->name, count, lists);
    for (int64_t i = 0; i < lists; i++)
        if (pieces(job, &b->fill.addresses[i], count / lists, values, &runs[i], err))
            return error_prefix(err, "fill of buffer '%s'", b->name);
    return 0;
}
