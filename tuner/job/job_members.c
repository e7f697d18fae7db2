// Arguments that are passed by value as bytes: structs, described by their members, and vectors. This file reads them,
// and computes their layout (the same as in C) and their bytes for a problem.
#include "kernels/vector_type.h"
#include "tuner/job/job_parts.h"

// The layout of a struct, a member or a vector.
struct layout {
    size_t size, alignment;
};

// Adds a number to an argument's members. `name` is the last part of the number's path. If there is no value, the
// number is the size with that name.
static void add_number(struct reader *r, struct job *job, const struct node *owner, const struct node *value,
                       const char *path, const char *name, enum element type, size_t offset, struct argument *a)
{
    if (a->member_count == ARGUMENT_MEMBERS_MAX) {
        reader_mistake(r, owner, "'%s' has more than %d members", a->name, ARGUMENT_MEMBERS_MAX);
        return;
    }
    a->members = job_room(job, a->members, a->member_count, sizeof *a->members);
    struct value_member *m = &a->members[a->member_count++];
    *m = (struct value_member){.name = job_copy(job, path), .type = type, .offset = offset};
    m->is_address = is_address(value);
    if (m->is_address)
        m->address = load_address(r, job, value, path, type);
    else
        load_number(r, job, owner, value, "member", value ? path : name, type, &m->value, &m->real);
}

// Reads `count` elements of a type, which may be a vector type; each component is then a number.
static struct layout load_numbers(struct reader *r, struct job *job, const struct node *n, const char *path,
                                  int64_t count, struct argument *a)
{
    static const char *const lanes[] = {"x", "y", "z", "w"};
    const struct node *value = node_member(n, "value"), *type = node_member(n, "type");
    const char *word = type && node_is_string(type) ? node_string(type) : NULL, *last = strrchr(path, '.');
    const struct vector_type *v = vector_type_find(word);
    enum element element = v ? v->element : (enum element)reader_word(r, n, "arguments[].type");
    size_t lane_count = v ? (size_t)v->lanes : 1, total = (size_t)count * lane_count, size = element_size(element);
    bool list = value && node_is_sequence(value), alone = !v && !node_member(n, "shape");
    if (list && alone)
        reader_mistake(r, value, "'%s' is one number, so its 'value' cannot be a list; an array has a 'shape'", path);
    else if (list && node_count(value) != total)
        reader_mistake(r, value, "'value' of '%s' has %zu numbers, but there are %zu", path, node_count(value), total);
    if (!value && (v || count > 1)) reader_mistake(r, n, "'%s' needs 'value' with its %zu numbers", path, total);
    bool sound = value ? !list || (!alone && node_count(value) == total) : total == 1;
    for (size_t i = 0; i < total && sound; i++) {
        autofree char *at = count > 1 ? text_format("%s[%zu]", path, i / lane_count) : text_copy(path);
        autofree char *full = v ? text_format("%s.%s", at, lanes[i % lane_count]) : text_copy(at);
        add_number(r, job, n, list ? node_at(value, i) : value, full, last ? last + 1 : path, element, i * size, a);
    }
    return (struct layout){total * size, v ? vector_type_alignment(v) : size};
}

static struct layout load_members(struct reader *r, struct job *job, const struct node *owner, const char *path,
                                  struct argument *a, int depth);

// Reads one member, which may be an array, as if it began at offset 0.
static struct layout load_member(struct reader *r, struct job *job, const struct node *n, const char *path,
                                 struct argument *a, int depth)
{
    const struct node *shape = reader_member(r, n, "arguments[].shape"),
                      *size = shape && node_count(shape) == 1 ? node_at(shape, 0) : NULL;
    int64_t count = size && node_is_integer(size) ? node_integer(size) : !shape;
    struct layout all = {0, 1};
    if (count < 1 || count > ARGUMENT_MEMBERS_MAX) {
        reader_mistake(r, n, "'shape' of member '%s' must be one integer from 1 to %d", path, ARGUMENT_MEMBERS_MAX);
        return all;
    }
    if (!node_member(n, "members")) {
        if (!node_member(n, "type")) reader_mistake(r, n, "member '%s' lacks 'type', or 'members'", path);
        return load_numbers(r, job, n, path, count, a);
    }
    for (size_t i = 0; i < 2; i++) {
        static const char *const plain[] = {"type", "value"};
        if (node_member(n, plain[i]))
            reader_mistake(r, node_member(n, plain[i]), "'%s' has members, so it has no '%s' of its own", path,
                           plain[i]);
    }
    for (int64_t i = 0; i < count && a->member_count < ARGUMENT_MEMBERS_MAX; i++) {
        autofree char *each = count > 1 ? text_format("%s[%" PRId64 "]", path, i) : text_copy(path);
        size_t first = a->member_count;
        struct layout one = load_members(r, job, n, each, a, depth + 1);
        for (size_t k = first; k < a->member_count; k++) a->members[k].offset += all.size;
        all.size += one.size;
        all.alignment = one.alignment;
    }
    return all;
}

// Reads the members of a group and places them as in C: from offset 0, each at the next multiple of its alignment.
static struct layout load_members(struct reader *r, struct job *job, const struct node *owner, const char *path,
                                  struct argument *a, int depth)
{
    enum { DEPTH_MAX = 8 };
    const struct node *list = node_member(owner, "members");
    struct layout all = {0, 1};
    size_t count = node_is_sequence(list) ? node_count(list) : 0;
    if (!count || depth > DEPTH_MAX) {
        reader_mistake(r, list, "'members' of '%s' must be a list ( { scalar = ...; type = ...; }, ... )", path);
        return all;
    }
    for (size_t i = 0; i < count; i++) {
        const struct node *n = node_at(list, i);
        const char *name = node_is_group(n) ? reader_string(r, n, "arguments[].scalar") : NULL;
        if (!name || !*name || i == ARGUMENT_MEMBERS_MAX) {
            static const char *const words[] = {"scalar", NULL};
            if (!node_is_group(n) || name || !reader_suggest(r, n, "a member", words))
                reader_mistake(r, n, "a member must be { scalar = \"width\"; type = \"i32\"; }, at most %d of them",
                               ARGUMENT_MEMBERS_MAX);
            return all;
        }
        reader_check_group(r, n, "a member", "arguments[]", "member");
        autofree char *full = text_format("%s.%s", path, name);
        size_t first = a->member_count;
        struct layout own = load_member(r, job, n, full, a, depth);
        size_t at = round_up(all.size, own.alignment);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(node_string(node_member(node_at(list, k), "scalar")), name))
                reader_mistake(r, n, "there are two members '%s'", full);
        for (size_t k = first; k < a->member_count; k++) a->members[k].offset += at;
        all.size = at + own.size;
        if (own.alignment > all.alignment) all.alignment = own.alignment;
    }
    all.size = round_up(all.size, all.alignment);
    return all;
}

bool load_value_argument(struct reader *r, struct job *job, const struct node *n, struct argument *a)
{
    const struct node *type = node_member(n, "type"), *members = node_member(n, "members");
    const struct vector_type *v = type && node_is_string(type) ? vector_type_find(node_string(type)) : NULL;
    struct layout all = {0, 1};
    if (members && (type || node_member(n, "value"))) {
        reader_mistake(r, n, "'%s' has 'members', so it has no 'type' or 'value' of its own", a->name);
    } else if (members) {
        all = load_members(r, job, n, a->name, a, 0);
        if (all.size > ARGUMENT_BYTES_MAX)
            reader_mistake(r, n, "'%s' has %zu bytes; an argument has at most %d", a->name, all.size,
                           ARGUMENT_BYTES_MAX);
    } else if (v) {
        all = load_numbers(r, job, n, a->name, 1, a);
        a->vector = v->name;
    }
    a->bytes = all.size;
    a->alignment = all.alignment;
    return members || v;
}

// Writes a number (an expression's value or a real number) as an element of a type.
static int job_number(enum element type, const struct expr *value, double real, const int64_t *values, void *to,
                      struct error *err)
{
    int64_t whole;
    if (!value) {
        element_store(type, real, to);
        return 0;
    }
    if (expr_eval(value, values, &whole, err)) return -1;
    if (!element_is_float(type) && (whole < element_least(type) || whole > element_greatest(type)))
        return error_set(err, "%" PRId64 " is more than an %s holds", whole, element_name(type));
    if (element_size(type) == 8 && !element_is_float(type))
        memcpy(to, &whole, sizeof whole);
    else
        element_store(type, (double)whole, to);
    return 0;
}

int job_argument_bytes(const struct argument *a, const int64_t *values, unsigned char *to, struct error *err)
{
    memset(to, 0, a->bytes);
    for (size_t i = 0; i < a->member_count; i++) {
        const struct value_member *m = &a->members[i];
        if (m->is_address) continue; // written by the GPU worker
        if (job_number(m->type, m->value, m->real, values, to + m->offset, err))
            return error_prefix(err, "member '%s'", m->name);
    }
    return 0;
}

char *job_argument_layout(const struct argument *a)
{
    struct text text = {0};
    for (size_t i = 0; i < a->member_count; i++)
        text_add(&text, "%s%s at %zu", i ? ", " : "", a->members[i].name + strlen(a->name) + 1, a->members[i].offset);
    return text.text;
}

struct job_number *job_numbers(const struct job *job)
{
    struct job_number *list = NULL;
    size_t count = 0;
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].argument_count; i++) {
            const struct argument *a = &job->stages[s].arguments[i];
            if (a->buffer < 0 && !a->member_count)
                memory_add(list, count) = (struct job_number){a->name, a->value, a->real};
            for (size_t k = 0; k < a->member_count; k++)
                if (!a->members[k].is_address)
                    memory_add(list, count) =
                        (struct job_number){a->members[k].name, a->members[k].value, a->members[k].real};
        }
    memory_add(list, count) = (struct job_number){0};
    return list;
}
