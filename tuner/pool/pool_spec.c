// See pool_spec.h.
#include "tuner/pool/pool_spec.h"

#include <ctype.h>
#include <stdarg.h>

#include "tuner/base/base.h"
#include "tuner/base/installation.h"
#include "tuner/pool/pool_file.h"
#include "tuner/pool/pool_slurm.h"

// A kind of items: "ssh:host1,host2" is `ssh` with two, "slurm" one without any.
struct pool_kind {
    const char *word;
    bool empty; // may stand alone
    int (*add)(struct node_specs *, const struct pool_request *, size_t count, char *const *items, struct error *);
};

static int add_local(struct node_specs *out, const struct pool_request *request, size_t count, char *const *items,
                     struct error *err)
{
    struct node_spec *n = node_specs_add(out, text_copy("local"));
    n->gpus_known = count > 0;
    for (size_t i = 0; i < count; i++) {
        if (!*items[i] || items[i][strspn(items[i], "0123456789")])
            return error_set(err, "--pool local: '%s' is not the number of a GPU", items[i]);
        node_spec_add_gpu(n, text_copy(items[i]));
    }
    node_spec_agent(n, request, NULL, false);
    return 0;
}

static int add_ssh(struct node_specs *out, const struct pool_request *request, size_t count, char *const *items,
                   struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!*items[i] || *items[i] == '-') return error_set(err, "--pool ssh: '%s' is not a host", items[i]);
        struct node_spec *n = node_specs_add(out, text_copy(items[i]));
        // Its own signs of life end a connection that is dead on both sides.
        node_spec_add(n, "ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=10", items[i], NULL);
        struct node_spec agent = {0};
        node_spec_agent(&agent, request, NULL, false);
        char *line = text_command((const char *const *)agent.command); // a shell there takes it apart
        node_spec_add(n, "exec", line, NULL);
        free(line);
        node_spec_release(&agent);
    }
    return 0;
}

static int add_slurm(struct node_specs *out, const struct pool_request *request, size_t count, char *const *items,
                     struct error *err)
{
    if (!count) return pool_slurm_add(out, request, NULL, err);
    for (size_t i = 0; i < count; i++)
        if (pool_slurm_add(out, request, items[i], err)) return -1;
    return 0;
}

static const struct pool_kind kinds[] = {
    {"local", true, add_local},
    {"ssh", false, add_ssh},
    {"slurm", true, add_slurm},
};

// The kind that an item begins, and the item after its word; NULL: it continues the kind before.
static const struct pool_kind *kind_of(char **item)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].word);
        if (strncmp(*item, kinds[i].word, length) || ((*item)[length] && (*item)[length] != ':')) continue;
        if (!(*item)[length] && !kinds[i].empty) continue;
        *item += length + ((*item)[length] == ':');
        return &kinds[i];
    }
    return NULL;
}

static bool is_file(const char *item)
{
    size_t length = strlen(item);
    return strchr(item, '/') || (length > 4 && !strcmp(item + length - 4, ".cfg"));
}

// One item of the list.
static int take_item(struct node_specs *out, const struct pool_request *request, const struct pool_kind **kind,
                     char ***items, size_t *count, char *item, struct error *err)
{
    bool file = is_file(item);
    const struct pool_kind *next = file ? NULL : kind_of(&item);
    if (next || file) {
        if (*kind && (*kind)->add(out, request, *count, *items, err)) return -1;
        *kind = next;
        *count = 0;
    }
    if (file) return pool_file_add(out, request, item, err);
    if (!*kind)
        return error_set(err, "--pool: '%s' is neither local, ssh:HOST, slurm nor a file (NAME.cfg, or with a /)",
                         item);
    if (!*item && next) return 0; // the word alone
    memory_add(*items, *count) = item;
    return 0;
}

static int read_text(struct node_specs *out, const struct pool_request *request, const char *text, struct error *err)
{
    const struct pool_kind *kind = NULL;
    char **items = NULL, *own = text_copy(text), *rest = own, *item;
    size_t count = 0;
    int failed = 0;
    while (!failed && (item = strsep(&rest, ","))) failed = take_item(out, request, &kind, &items, &count, item, err);
    if (!failed && kind) failed = kind->add(out, request, count, items, err);
    free(items);
    free(own);
    return failed;
}

int node_specs_read(struct node_specs *out, const struct pool_request *request, struct error *err)
{
    *out = (struct node_specs){0};
    for (size_t i = 0; i < request->text_count; i++)
        if (read_text(out, request, request->texts[i], err)) return -1;
    return 0;
}
