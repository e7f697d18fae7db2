// See pool_file.h. The file:
//
//     nodes = (
//       { name = "gpu01"; command = "ssh gpu01"; gpus = [0, 1]; cores = 32; },
//       { name = "old";   command = "srun --jobid=4711 --nodelist=n7 --overlap"; },     // all that it has
//       { name = "box";   command = "docker exec -i box"; count = 2; gpus = 4; program = "/opt/sweetspot-node"; }
//     );
#include "tuner/pool/pool_file.h"

#include "tuner/base/base.h"
#include "tuner/job/reader.h"

enum { MOST_OF_A_NODE = 4096, MOST_ALIKE = 4096 };

static const char *const node_members[] = {"name", "command", "count", "gpus", "cores", "program", "private", NULL};

static const char *text_member(struct reader *r, const struct node *group, const char *name)
{
    const struct node *n = node_member(group, name);
    if (n && !node_is_string(n)) reader_mistake(r, n, "'%s' must be a text", name);
    return n && node_is_string(n) ? node_string(n) : NULL;
}

static int64_t number_member(struct reader *r, const struct node *group, const char *name, int64_t low, int64_t high,
                             int64_t fallback)
{
    const struct node *n = node_member(group, name);
    if (!n) return fallback;
    if (node_is_integer(n) && node_integer(n) >= low && node_integer(n) <= high) return node_integer(n);
    reader_mistake(r, n, "'%s' must be an integer from %d to %d", name, (int)low, (int)high);
    return fallback;
}

// "gpus": how many, or which.
static void read_gpus(struct reader *r, const struct node *group, struct node_spec *out)
{
    const struct node *n = node_member(group, "gpus");
    if (!n) return;
    out->gpus_known = true;
    if (!node_is_sequence(n)) {
        int64_t count = number_member(r, group, "gpus", 0, MOST_OF_A_NODE, 0);
        for (int64_t i = 0; i < count; i++) node_spec_add_gpu(out, text_format("%lld", (long long)i));
        return;
    }
    for (size_t i = 0; i < node_count(n); i++) {
        const struct node *one = node_at(n, i);
        if (node_is_integer(one) && node_integer(one) >= 0)
            node_spec_add_gpu(out, text_format("%lld", (long long)node_integer(one)));
        else
            reader_mistake(r, one, "'gpus' must be numbers of GPUs");
    }
}

static void read_node(struct reader *r, const struct node *group, const struct pool_request *request,
                      struct node_specs *out)
{
    if (!node_is_group(group)) {
        reader_mistake(r, group, "a node must be a group: { name = \"..\"; command = \"..\"; }");
        return;
    }
    reader_check_members(r, group, "a node", node_members);
    const char *name = text_member(r, group, "name"), *command = text_member(r, group, "command"),
               *program = text_member(r, group, "program");
    const struct node *is_private = node_member(group, "private");
    if (!name || !*name) reader_mistake(r, group, "a node needs a 'name'");
    if (is_private && !node_is_bool(is_private)) reader_mistake(r, is_private, "'private' must be true or false");
    int64_t count = number_member(r, group, "count", 1, MOST_ALIKE, 1);
    for (int64_t i = 0; i < count; i++) {
        struct node_spec *n = node_specs_add(out, text_copy(name ? name : "?"));
        if (command && *command) { // a shell takes the prefix apart, the agent's words are handed over as they are
            char *line = text_format("exec %s \"$@\"", command);
            node_spec_add(n, "/bin/sh", "-c", line, "sh", NULL);
            free(line);
        }
        n->cores = number_member(r, group, "cores", 0, MOST_OF_A_NODE, -1);
        read_gpus(r, group, n);
        node_spec_agent(n, request, program, is_private && node_is_bool(is_private) && node_bool(is_private));
    }
}

int pool_file_add(struct node_specs *out, const struct pool_request *request, const char *path, struct error *err)
{
    static const char *const members[] = {"nodes", NULL};
    struct mistakes mistakes = {0};
    struct reader *r = reader_open(path, &mistakes);
    if (r) {
        const struct node *root = reader_root(r), *nodes = node_member(root, "nodes");
        reader_check_members(r, root, "a file of nodes", members);
        if (!nodes || !node_is_sequence(nodes))
            reader_mistake(r, nodes, "'nodes' must be a list: nodes = ( { name = \"..\"; command = \"..\"; } );");
        for (size_t i = 0; nodes && node_is_sequence(nodes) && i < node_count(nodes); i++)
            read_node(r, node_at(nodes, i), request, out);
    }
    mistakes_sort(&mistakes);
    int failed = 0;
    if (mistakes.count) {
        const char *file = mistakes.list[0].file ? mistakes.list[0].file : path;
        failed = mistakes.list[0].line ? error_set(err, "%s:%d: %s", file, mistakes.list[0].line, mistakes.list[0].text)
                                       : error_set(err, "%s: %s", file, mistakes.list[0].text);
    }
    mistakes_release(&mistakes);
    if (r) reader_close(r);
    return failed;
}
