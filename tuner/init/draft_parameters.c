// See draft_parts.h: finds the parameters that can be tuned. These are macros that the source does not define, macros
// with a default after #ifndef, and template parameters. Their values come from a default, from values that #if
// compares a name with, or from the type bool of a template parameter. Otherwise they are left blank.
#include <ctype.h>

#include "tuner/init/draft_parts.h"
#include "tuner/job/header_names.h"

// Prefixes of names that are not parameters. These are the program's own macros and names from the toolkit's headers
// (the headers are not read).
static const char *const of_headers[] = {"CUDA", "CU_", "NULL", "EOF", "TRUE", "FALSE", "RAND_MAX", "SWEETSPOT_", NULL};
// Prefixes of Kernel Tuner's names for sizes. Users of Kernel Tuner write them in lower case.
static const char *const of_kernel_tuner[] = {"block_size_", "tile_size_", "tile_stride_", "loop_unroll_factor_", NULL};

static bool in_capitals(const char *name)
{
    bool letter = false;
    for (const char *c = name; *c; c++) {
        if (islower((unsigned char)*c)) return false;
        letter |= isupper((unsigned char)*c) != 0;
    }
    // A name that ends in _ is usually the first part of another name (GRID_##x).
    return letter && name[0] != '_' && name[1] && name[strlen(name) - 1] != '_';
}

// Whether the name comes before a loop, as in `UNROLL for (...)`, and therefore stands for a whole pragma.
static bool before_loop(const struct job_draft *d, const char *name)
{
    for (size_t i = d->kernel->body + 1; i < d->kernel->end; i++)
        if (draft_is(d, i, name) &&
            (draft_is(d, i + 1, "for") || draft_is(d, i + 1, "while") || draft_is(d, i + 1, "do")))
            return true;
    return false;
}

// Reads a macro's or template parameter's value, which must be a 32-bit integer, possibly in brackets. Returns false if
// it is not.
static bool whole_number(const char *text, int64_t *value)
{
    char *end;
    while (*text == '(' || *text == ' ') text++;
    *value = strtoll(text, &end, 0);
    if (end == text) return false;
    end += strspn(end, "uUlL) ");
    return !*end && *value >= INT32_MIN && *value <= INT32_MAX;
}

// What preprocessor directives show about a name.
struct tested {
    bool unroll, choice; // used by a #pragma unroll; used by #if as a condition
    int64_t values[8];   // values that it is compared with by ==
    size_t count;
};

static struct tested read_tests(const struct cuda_file *f, const char *name)
{
    struct tested t = {.count = 0};
    for (size_t i = 0; i < f->line_name_count; i++) {
        const struct cuda_line_name *n = &f->line_names[i];
        int64_t value;
        if (strcmp(n->name, name) != 0) continue;
        t.unroll |= n->kind == NAME_UNROLL;
        t.choice |= n->kind == NAME_TESTED && !n->ordered;
        if (!n->value || !whole_number(n->value, &value) || t.count == sizeof t.values / sizeof *t.values) continue;
        bool known = false;
        for (size_t k = 0; k < t.count; k++) known |= t.values[k] == value;
        if (!known) t.values[t.count++] = value;
    }
    return t;
}

// Sets the values of a name according to its uses. `value`: its default, or NULL.
static void set_values(const struct job_draft *d, struct draft_parameter *p, const int64_t *value)
{
    struct tested tests = read_tests(d->file, p->source);
    autorelease(text_release) struct text list = {0};
    p->pragma = before_loop(d, p->source);
    bool on_or_off = tests.choice && (value ? *value == 0 || *value == 1 : tests.count < 2) &&
                     (!tests.count || tests.values[0] == 0 || tests.values[0] == 1);
    p->choice = p->pragma || tests.unroll || on_or_off;
    if (p->pragma) {
        p->values = "[0, 1, 2, 4, 8]";
    } else if (on_or_off) {
        p->values = "[0, 1]";
    } else if (value && *value > 0 && *value <= 1024 && !(*value & (*value - 1))) {
        for (int64_t v = *value < 4 ? 1 : *value / 4; v <= *value || (v <= 1024 && v <= *value * 4); v *= 2)
            text_add(&list, "%s%" PRId64, list.text ? ", " : "[", v);
    } else if (value) {
        p->values = arena_format(d->memory, "[%" PRId64 "]", *value);
    } else if (tests.unroll) {
        p->values = "[1, 2, 4, 8]";
    } else if (tests.count > 1) {
        for (size_t i = 0; i < tests.count; i++) text_add(&list, "%s%" PRId64, i ? ", " : "[", tests.values[i]);
    }
    if (list.text) p->values = arena_format(d->memory, "%s]", list.text);
    p->first = value ? *value : p->values ? strtoll(p->values + 1, NULL, 10) : 0;
}

static void add(struct job_draft *d, const char *name, const char *source, const int64_t *value, const char *why)
{
    struct draft_parameter *p = &memory_add(d->parameters, d->parameter_count);
    *p = (struct draft_parameter){.name = name, .source = source, .why = why};
    set_values(d, p, value);
}

// A name for a parameter that is not in the source and that the job's header allows.
static const char *free_name(const struct job_draft *d, const char *wanted)
{
    autofree char *upper = header_upper(wanted);
    const char *name = arena_copy(d->memory, upper);
    for (int i = 0;; i++) {
        bool taken = cuda_file_uses(d->file, name) || header_macro_taken(name);
        for (size_t p = 0; p < d->parameter_count; p++) taken |= !strcmp(d->parameters[p].name, name);
        if (!taken) break;
        name = i ? arena_format(d->memory, "TUNE_%s_%d", upper, i + 1) : arena_format(d->memory, "TUNE_%s", upper);
    }
    return name;
}

static void add_macro(struct job_draft *d, const char *name, const int64_t *value, const char *why)
{
    if (draft_plain_name(name) && !header_macro_taken(name))
        add(d, name, name, value, why);
    else
        draft_note(d, "%s could be tuned, but no job can have a parameter of that name: rename it in the source", name);
}

// Adds a name that the source does not define: as a parameter, or as a fixed macro if only another kernel uses it
// (`other`). `line`: the name occurs in a preprocessor directive, so it is a macro even if it is in lower case.
static void undefined_name(struct job_draft *d, const struct cuda_token *t, bool called, bool other, bool line)
{
    const char *name = draft_copy(d, t);
    bool macro = in_capitals(name) || text_begins(name, of_kernel_tuner) || (line && name[0] != '_');
    bool known =
        !macro || text_begins(name, of_headers) || draft_find_parameter(d, name) || cuda_file_declares(d->file, name);
    for (size_t i = 0; i < d->included_count && !known; i++) known = cuda_file_declares(&d->included[i], name);
    for (size_t i = 0; i < d->define_count && !known; i++) known = !strcmp(d->defines[i].name, name);
    if (!known && called) {
        draft_note(d, "line %d uses %s(), which the source does not define: kernel.defines or kernel.include", t->line,
                   name);
    } else if (!known && other && draft_plain_name(name)) {
        memory_add(d->defines, d->define_count) = (struct draft_parameter){.name = name};
    } else if (!known && !other) {
        add_macro(d, name, NULL,
                  arena_format(d->memory, "line %d uses it, and the source does not define it", t->line));
    }
}

static void undefined_names(struct job_draft *d, const struct cuda_token *first, size_t count, int line, bool other)
{
    for (size_t i = 0; i < count; i++) {
        struct cuda_token t = first[i];
        bool member = i && (cuda_token_is(&first[i - 1], "::") || cuda_token_is(&first[i - 1], ".") ||
                            cuda_token_is(&first[i - 1], "->"));
        bool scope = i + 1 < count && cuda_token_is(&first[i + 1], "::");
        if (line) t.line = line;
        if (t.kind == CUDA_NAME && !member && !scope)
            undefined_name(d, &t, i + 1 < count && cuda_token_is(&first[i + 1], "("), other, false);
    }
}

bool draft_of_another_kernel(const struct job_draft *d, const struct cuda_range *range)
{
    const struct cuda_file *f = d->file;
    for (size_t k = 0; k < f->kernel_count; k++)
        if (f->kernels[k].head == range->begin && strcmp(f->kernels[k].name, d->kernel->name) != 0) return true;
    return false;
}

static void undefined(struct job_draft *d)
{
    const struct cuda_file *f = d->file;
    for (int other = 0; other < 2; other++)
        for (size_t r = 0; r < f->device_count; r++)
            if (draft_of_another_kernel(d, &f->device[r]) == other)
                undefined_names(d, f->tokens.items + f->device[r].begin, f->device[r].end - f->device[r].begin, 0,
                                other);
    for (size_t i = 0; i < f->macro_count; i++) {
        if (f->macros[i].function) continue; // the names may be its own parameters
        autorelease(cuda_tokens_release) struct cuda_tokens words;
        cuda_tokens_init(&words, f->macros[i].value);
        undefined_names(d, words.items, words.count, f->macros[i].line, false);
    }
    for (size_t i = 0; i < f->line_name_count; i++) {
        const char *name = f->line_names[i].name;
        struct cuda_token t = {CUDA_NAME, f->line_names[i].line, strlen(name), name};
        if (f->line_names[i].kind != NAME_USED) undefined_name(d, &t, false, false, true);
    }
}

// Whether the macro is used anywhere except in other kernels.
static bool used(const struct job_draft *d, const char *name)
{
    const struct cuda_file *f = d->file;
    for (size_t r = 0; r < f->device_count; r++)
        for (size_t t = f->device[r].begin; t < f->device[r].end && !draft_of_another_kernel(d, &f->device[r]); t++)
            if (cuda_token_is(&f->tokens.items[t], name)) return true;
    for (size_t i = 0; i < f->macro_count; i++)
        if (strstr(f->macros[i].value, name)) return true;
    for (size_t i = 0; i < f->line_name_count; i++)
        if (!strcmp(f->line_names[i].name, name)) return true;
    return false;
}

// A definition as written in the source, up to and including the value. A definition on several lines becomes a #define
// of the name and the value.
static const char *definition(const struct job_draft *d, const struct cuda_macro *m)
{
    const char *at = d->file->source;
    for (int i = 1; i < m->line && at; i++) at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    autofree char *line = text_format("%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
    const char *begin = strchr(line, '#'), *name = begin ? strstr(begin, m->name) : NULL,
               *value = name ? strstr(name + strlen(m->name), m->value) : NULL;
    return value ? arena_format(d->memory, "%.*s%s", (int)(value - begin), begin, m->value)
                 : arena_format(d->memory, "#define %s %s", m->name, m->value);
}

static void defaults(struct job_draft *d)
{
    for (size_t i = 0; i < d->file->macro_count; i++) {
        const struct cuda_macro *m = &d->file->macros[i];
        int64_t value;
        if (m->function || draft_find_parameter(d, m->name) || !used(d, m->name) || text_begins(m->name, of_headers))
            continue;
        bool number = whole_number(m->value, &value), guarded = cuda_file_guards(d->file, m->name, m->line);
        if (number && guarded)
            add_macro(d, m->name, &value, arena_format(d->memory, "line %d has the default", m->line));
        else if (number && in_capitals(m->name))
            draft_note(d,
                       "%s is defined in line %d; to tune it, make it a parameter, and add `edits = ( { find = "
                       "\"%s\"; replace = \"\"; } );` to kernel",
                       m->name, m->line, definition(d, m));
        else if (!number && guarded && m->value[0])
            draft_note(d, "%s is '%s' by default (line %d); to tune it, make it a parameter with such words as values",
                       m->name, m->value, m->line);
    }
}

// The type for a type parameter of the template: the type in a launch, or the default. NULL if it is unknown.
static const char *type_of(struct job_draft *d, const struct cuda_template_parameter *t, const struct cuda_range *given)
{
    const char *type = given ? draft_range(d, *given) : t->value;
    d->code.entry_known &= type && (!given || kernel_type_find(type)); // in host code, it may be a template parameter
    return type;
}

// Turns a value parameter of the template into a tuning parameter and returns its name.
static const char *add_value(struct job_draft *d, const struct cuda_template_parameter *t, size_t number,
                             const struct draft_scope *s, const struct cuda_range *given)
{
    int64_t value = 0;
    bool known = given ? draft_number(d, s, given->begin, given->end, &value) && value == (int32_t)value
                       : t->value && whole_number(t->value, &value);
    const char *name = free_name(d, t->name[0] ? arena_format(d->memory, "TUNE_%s", t->name)
                                               : arena_format(d->memory, "TUNE_%zu", number));
    add(d, name, t->name, known ? &value : NULL, arena_format(d->memory, "the template's, in line %d", t->line));
    struct draft_parameter *p = &d->parameters[d->parameter_count - 1];
    if (t->is_bool) p->values = "[0, 1]";
    p->choice |= t->is_bool;
    return name;
}

// Reads the template's parameters and writes the entry with them.
static void templates(struct job_draft *d, const struct draft_scope *s, const struct cuda_range *given,
                      size_t given_count)
{
    const struct cuda_kernel *k = d->kernel;
    d->code.entry = d->code.sample = k->name;
    d->code.entry_known = true;
    for (size_t i = 0; i < k->template_count; i++) {
        const struct cuda_template_parameter *t = &k->templates[i];
        const struct cuda_range *value = i < given_count ? &given[i] : NULL;
        const char *word = t->is_pack   ? NULL
                           : t->is_type ? type_of(d, t, value)
                                        : add_value(d, t, i + 1, s, value),
                   *before = i ? ", " : "<", *end = i + 1 < k->template_count ? "" : ">";
        d->code.entry_known &= !t->is_pack;
        d->code.entry = arena_format(d->memory, "%s%s%s%s%s", d->code.entry, before, word ? word : t->name,
                                     t->is_pack ? "..." : "", end);
        d->code.sample = arena_format(d->memory, "%s%s%s%s", d->code.sample, before, word ? word : "float", end);
    }
}

void draft_parameters(struct job_draft *d, const struct draft_scope *s, const struct cuda_range *given,
                      size_t given_count)
{
    templates(d, s, given, given_count);
    defaults(d);
    undefined(d);
}
