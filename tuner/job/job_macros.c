// Derived names that are macros of the template (kernel.macros): their value belongs to the configuration.
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/job/header_names.h"
#include "tuner/job/job_parts.h"

static int find_derived(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->derived_count; i++)
        if (!strcmp(symbols_name(job->symbols, job->derived[i].slot), name)) return (int)i;
    return -1;
}

// The size that a derived name depends on, directly or through others; NULL: none. One compilation serves all problems.
static const char *size_of(const struct job *job, size_t derived)
{
    size_t count;
    const int *slots = expr_slots(job->derived[derived].value, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = symbols_name(job->symbols, slots[i]), *inner;
        for (size_t k = 0; k < job->size_count; k++)
            if (!strcmp(name, job->size_names[k])) return name;
        for (size_t d = 0; d < derived; d++)
            if (job->derived[d].slot == slots[i] && (inner = size_of(job, d))) return inner;
    }
    return NULL;
}

static void add_macro(struct reader *r, struct job *job, const struct node *n)
{
    int found = find_derived(job, node_string(n));
    const char *size = found < 0 ? NULL : size_of(job, (size_t)found);
    if (found < 0) {
        const char **names = memory_new(job->derived_count + 1, sizeof *names);
        for (size_t i = 0; i < job->derived_count; i++) names[i] = symbols_name(job->symbols, job->derived[i].slot);
        char *text = text_unknown("derived name", node_string(n), names);
        reader_mistake(r, n, "%s", text);
        free(text);
        free(names);
        return;
    }
    if (size) {
        reader_mistake(r, n,
                       "'%s' cannot be a macro: it depends on the size '%s', and one compilation serves all problems",
                       node_string(n), size);
        return;
    }
    char *refused = header_refuse_macro(job, node_string(n));
    if (refused) reader_mistake(r, n, "macro '%s' %s", node_string(n), refused);
    free(refused);
    for (size_t i = 0; i < job->macro_count; i++)
        if (job->macros[i] == (size_t)found) reader_mistake(r, n, "'%s' is listed twice", node_string(n));
    job->macros = memory_grow(job->macros, job->macro_count + 1, sizeof *job->macros);
    job->macros[job->macro_count++] = (size_t)found;
}

void load_macros(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *kernel = node_member(root, "kernel");
    if (!kernel || !node_is_group(kernel)) return;
    const struct node *list = reader_sequence(r, kernel, "kernel.macros");
    for (size_t i = 0; list && i < node_count(list); i++) {
        if (node_is_string(node_at(list, i)))
            add_macro(r, job, node_at(list, i));
        else
            reader_mistake(r, node_at(list, i), "'macros' must hold strings");
    }
}
