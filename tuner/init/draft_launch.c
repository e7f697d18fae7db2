// See draft_parts.h: launches of a kernel in its source, `kernel<T, 2><<<grid, block, shared>>>(x, n)`. A launch is
// used if its grid, block and shared memory can all be expressed with the job's names.
#include "tuner/init/draft_parts.h"

enum { MOST_ITEMS = 64, MOST_DEPTH = 8 };

struct items {
    size_t count;
    struct cuda_range list[MOST_ITEMS];
};

struct call {
    int line;
    struct cuda_range host;
    struct items templates, configuration, arguments;
};

// Splits [begin, end) at its commas. False if there are too many.
static bool split(const struct job_draft *d, size_t begin, size_t end, struct items *to)
{
    to->count = 0;
    while (begin < end) {
        size_t stop = draft_item_end(d, begin, end);
        if (to->count == MOST_ITEMS) return false;
        to->list[to->count++] = (struct cuda_range){begin, stop};
        begin = stop + 1;
    }
    return true;
}

// The first of `count` consecutive '>' characters outside of brackets.
static size_t find_close(const struct job_draft *d, size_t i, size_t count)
{
    size_t end = d->file->tokens.count;
    for (; i < end; i++) {
        size_t k = 0;
        if (draft_is(d, i, ";")) break;
        while (k < count && draft_is(d, i + k, ">")) k++;
        if (k == count) return i;
        if (draft_is(d, i, "(") || draft_is(d, i, "[") || draft_is(d, i, "{"))
            i = cuda_tokens_close(&d->file->tokens, i, end) - 1;
    }
    return end;
}

// Reads the launch whose kernel name is token i; false if it is not a launch.
static bool read_call(const struct job_draft *d, size_t i, struct call *c)
{
    size_t end = d->file->tokens.count, open = i + 1;
    *c = (struct call){.line = draft_token(d, i)->line};
    if (draft_is(d, open, "<")) {
        size_t close = find_close(d, open + 1, 1);
        if (close >= end || !split(d, open + 1, close, &c->templates)) return false;
        open = close + 1;
    }
    if (!draft_is(d, open, "<<") || !draft_is(d, open + 1, "<")) return false;
    size_t close = find_close(d, open + 2, 3);
    if (close + 3 >= end || !draft_is(d, close + 3, "(")) return false;
    size_t after = cuda_tokens_close(&d->file->tokens, close + 3, end);
    for (size_t h = 0; h < d->file->host_count; h++)
        if (d->file->host[h].begin < i && i < d->file->host[h].end) c->host = d->file->host[h];
    return split(d, open + 2, close, &c->configuration) && split(d, close + 4, after - 1, &c->arguments);
}

static bool find_call(const struct job_draft *d, size_t *from, struct call *c)
{
    const char *colon = strrchr(d->kernel->name, ':'), *name = colon ? colon + 1 : d->kernel->name;
    for (; *from < d->file->tokens.count; ++*from)
        if (draft_is(d, *from, name) && read_call(d, *from, c)) return ++*from, true;
    return false;
}

static bool is_name(const struct job_draft *d, struct cuda_range r)
{
    return r.end == r.begin + 1 && draft_token(d, r.begin)->kind == CUDA_NAME;
}

// A decimal number for a scalar (1.5f, -2), or the value of a host variable that is such a number. NULL if it is
// neither.
static const char *decimal(const struct job_draft *d, const struct draft_scope *s, struct cuda_range r)
{
    struct cuda_range value;
    if (is_name(d, r) && draft_host_value(d, s, draft_token(d, r.begin), &value)) r = value;
    char *text = draft_range(d, r), *end;
    double number = strtod(text, &end);
    bool plain = strspn(text, "-0123456789.eEfF") == strlen(text) && end > text;
    end += strspn(end, "fF");
    if (!plain || *end || !(number > -1e30 && number < 1e30)) return NULL;
    const char *digits = arena_format(d->memory, "%.9g", number);
    return strpbrk(digits, ".e") ? digits : arena_format(d->memory, "%s.0", digits);
}

// Takes the kernel's arguments from a launch: the numbers that are passed, and the arguments' names in host code.
static void read_arguments(struct job_draft *d, const struct call *c, struct draft_scope *s)
{
    size_t most = c->arguments.count + c->templates.count;
    s->renames = memory_new(most, sizeof *s->renames);
    for (size_t i = 0; i < c->arguments.count && i < d->argument_count; i++) {
        struct draft_argument *a = &d->arguments[i];
        struct cuda_range r = c->arguments.list[i];
        int64_t number;
        if (a->source->stars || r.begin >= r.end) continue;
        a->value = draft_number(d, s, r.begin, r.end, &number) ? arena_format(d->memory, "%" PRId64, number)
                                                               : decimal(d, s, r);
    }
    for (size_t i = 0; i < c->arguments.count && i < d->argument_count; i++)
        if (!d->arguments[i].source->stars && is_name(d, c->arguments.list[i]))
            s->renames[s->rename_count++] =
                (struct draft_rename){draft_token(d, c->arguments.list[i].begin), d->arguments[i].name};
    for (size_t i = 0; i < c->templates.count && i < d->kernel->template_count; i++) {
        const struct draft_parameter *p = draft_find_parameter(d, d->kernel->templates[i].name);
        if (p && is_name(d, c->templates.list[i]))
            s->renames[s->rename_count++] = (struct draft_rename){draft_token(d, c->templates.list[i].begin), p->name};
    }
}

// Reads the dimensions of a grid or block: expressions, dim3(x, y), {x, y}, or a variable whose value is one of these.
// False if the dimensions are unknown.
static bool read_dimensions(const struct job_draft *d, const struct draft_scope *s, struct cuda_range r,
                            const char *out[3], int depth)
{
    size_t open = r.begin + draft_is(d, r.begin, "dim3"), count = 0;
    bool list = open < r.end && (draft_is(d, open, "{") || (open > r.begin && draft_is(d, open, "(")));
    if (list && cuda_tokens_close(&d->file->tokens, open, r.end) == r.end) r = (struct cuda_range){open + 1, r.end - 1};
    struct cuda_range value;
    if (is_name(d, r) && !draft_expression(d, s, r.begin, r.end))
        return depth < MOST_DEPTH && draft_host_value(d, s, draft_token(d, r.begin), &value) &&
               read_dimensions(d, s, value, out, depth + 1);
    for (size_t i = r.begin; i < r.end;) {
        size_t stop = draft_item_end(d, i, r.end);
        if (count == 3 || !(out[count] = draft_expression(d, s, i, stop))) return false;
        count++;
        i = stop + 1;
    }
    while (count > 1 && !strcmp(out[count - 1], "1")) out[--count] = NULL;
    return count > 0;
}

static bool has_name(const char *const texts[3], const char *name)
{
    bool found = false;
    for (int k = 0; k < 3; k++) found |= texts[k] && cuda_text_has(texts[k], name);
    return found;
}

// Names a dependency that a launch's plain numbers may hide. All numbers may depend on parameters, and the grid's
// numbers also on sizes. NULL if there is no such dependency.
static const char *hidden(const struct job_draft *d)
{
    const struct draft_launch *l = &d->launch;
    bool parameters = false, sizes = false, has_parameter = false, has_size = false;
    for (size_t i = 0; i < d->parameter_count; i++) {
        parameters |= !d->parameters[i].choice;
        has_parameter |= has_name(l->grid, d->parameters[i].name) || has_name(l->block, d->parameters[i].name);
    }
    for (size_t i = 0; i < d->argument_count; i++) {
        const struct draft_argument *a = &d->arguments[i];
        bool real = a->is_known && a->known.type && a->known.type->kind == 'f';
        sizes |= !a->source->stars && !real;
        has_size |= has_name(l->grid, a->name);
    }
    return parameters && !has_parameter ? "its numbers may depend on the parameters"
           : sizes && !has_size         ? "the numbers of its grid may depend on the sizes"
                                        : NULL;
}

static void read_launch(struct job_draft *d, const struct call *c)
{
    struct draft_scope s = {.host = c->host, .parameters = true};
    struct draft_launch *l = &d->launch;
    const struct cuda_range *r = c->configuration.list;
    *l = (struct draft_launch){.line = c->line};
    read_arguments(d, c, &s);
    bool shared = c->configuration.count > 2;
    if (shared) l->shared = draft_expression(d, &s, r[2].begin, r[2].end);
    l->known = c->configuration.count > 1 && read_dimensions(d, &s, r[0], l->grid, 0) &&
               read_dimensions(d, &s, r[1], l->block, 0) && (!shared || l->shared);
    if (l->shared && !strcmp(l->shared, "0")) l->shared = NULL;
    l->reason = l->known ? hidden(d) : "its values cannot be determined from the source alone";
    l->known = !l->reason;
    free(s.renames);
}

// Adds a constraint: shared arrays whose sizes depend on parameters must fit into the shared memory that all devices
// offer.
static void limit_shared(struct job_draft *d)
{
    const struct draft_scope s = {.parameters = true};
    autorelease(text_release) struct text total = {0};
    bool known = true, parameters = false;
    for (size_t i = d->kernel->body + 1; i < d->kernel->end; i++) {
        if (!draft_is(d, i, "__shared__") || draft_is(d, i - 1, "extern")) continue;
        size_t bracket = i + 1;
        while (bracket < d->kernel->end && !draft_is(d, bracket, "[") && !draft_is(d, bracket, ";")) bracket++;
        if (!draft_is(d, bracket, "[") || bracket < i + 3) continue;
        const struct kernel_type *type = kernel_type_find(draft_range(d, (struct cuda_range){i + 1, bracket - 1}));
        known &= type != NULL;
        text_add(&total, "%s%zu", total.text ? " + " : "", type ? type->bytes : 0);
        while (bracket < d->kernel->end && draft_is(d, bracket, "[")) {
            size_t close = cuda_tokens_close(&d->file->tokens, bracket, d->kernel->end);
            const char *size = draft_expression(d, &s, bracket + 1, close - 1);
            known &= size != NULL;
            for (size_t p = 0; p < d->parameter_count && size; p++)
                parameters |= cuda_text_has(size, d->parameters[p].name);
            text_add(&total, " * (%s)", size ? size : "");
            bracket = close;
        }
    }
    if (total.text && known && parameters)
        memory_add(d->constraints, d->constraint_count) = arena_format(d->memory, "%s <= 49152", total.text);
}

void draft_read(struct job_draft *d)
{
    struct call c = {0};
    size_t from = 0;
    bool found = find_call(d, &from, &c);
    const struct draft_scope host = {.host = c.host};
    draft_parameters(d, &host, c.templates.list, c.templates.count);
    for (; found && !d->launch.known; found = find_call(d, &from, &c)) read_launch(d, &c);
    limit_shared(d);
}
