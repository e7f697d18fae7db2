// See node_spec.h.
#include "tuner/pool/node_spec.h"

#include <stdarg.h>

#include "tuner/base/installation.h"

static bool is_taken(const struct node_specs *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->list[i].name, name)) return true;
    return false;
}

struct node_spec *node_specs_add(struct node_specs *s, char *name)
{
    char *own = text_copy(name);
    for (int i = 2; is_taken(s, own); i++) {
        free(own);
        own = text_format("%s-%d", name, i);
    }
    free(name);
    memory_add(s->list, s->count) = (struct node_spec){.name = own, .cores = -1};
    return &s->list[s->count - 1];
}

void node_spec_add_gpu(struct node_spec *n, char *device)
{
    memory_add(n->gpus, n->gpu_count) = device;
}

static void add_word(struct node_spec *n, const char *word)
{
    size_t count = 0;
    while (n->command && n->command[count]) count++;
    n->command = memory_grow(n->command, count + 2, sizeof(char *));
    n->command[count] = text_copy(word);
    n->command[count + 1] = NULL;
}

void node_spec_add(struct node_spec *n, ...)
{
    va_list words;
    const char *word;
    va_start(words, n);
    while ((word = va_arg(words, const char *))) add_word(n, word);
    va_end(words);
}

void node_spec_agent(struct node_spec *n, const struct pool_request *request, const char *program, bool is_private)
{
    char *own = program ? text_copy(program) : installation_worker("SWEETSPOT_NODE_PROGRAM", "sweetspot-node");
    add_word(n, own);
    free(own);
    if (request->cache) node_spec_add(n, "--cache", request->cache, NULL);
    if (is_private) add_word(n, "--private");
}

void node_spec_release(struct node_spec *n)
{
    for (size_t i = 0; n->command && n->command[i]; i++) free(n->command[i]);
    for (size_t i = 0; i < n->gpu_count; i++) free(n->gpus[i]);
    free(n->command);
    free(n->gpus);
    free(n->name);
    *n = (struct node_spec){0};
}

void node_specs_release(struct node_specs *s)
{
    for (size_t i = 0; i < s->count; i++) node_spec_release(&s->list[i]);
    free(s->list);
    *s = (struct node_specs){0};
}
