// See pool_spec.h.
#include "tuner/pool/pool_spec.h"

#include "tuner/base/installation.h"
#include "tuner/base/run_program.h"
#include "tuner/job/reader.h"

enum {
    MOST_OF_A_NODE = 4096,
    MOST_ALIKE = 4096,
    ANSWER_TIMEOUT = 5, // s, for Slurm's programs
};

static bool is_taken(const struct node_specs *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->list[i].name, name)) return true;
    return false;
}

// Adds a node. From the second of identical nodes on (`number`), or if its name is taken, a number is appended.
static struct node_spec *new_node(struct node_specs *s, const char *name, int number)
{
    char *own = number > 1 ? text_format("%s-%d", name, number) : text_copy(name);
    while (is_taken(s, own)) {
        free(own);
        own = text_format("%s-%d", name, ++number);
    }
    memory_add(s->list, s->count) = (struct node_spec){.name = own, .cores = -1};
    return &s->list[s->count - 1];
}

// Appends words to the command, up to a NULL.
__attribute__((sentinel)) static void add_words(struct node_spec *n, ...)
{
    va_list words;
    const char *word;
    va_start(words, n);
    while ((word = va_arg(words, const char *))) text_list_add(&n->command, text_copy(word));
    va_end(words);
}

// Adds the agent with its options. `program` is the agent's path on the node. If it is NULL, the path is the one from
// the environment, or the same as on this machine.
static void add_agent(struct node_spec *n, const struct pool_request *request, const char *program, bool is_private)
{
    text_list_add(&n->command,
                  program ? text_copy(program) : installation_worker("SWEETSPOT_NODE_PROGRAM", "sweetspot-node"));
    if (request->cache) add_words(n, "--cache", request->cache, NULL);
    if (is_private) add_words(n, "--private", NULL);
}

void node_spec_release(struct node_spec *n)
{
    text_list_release(&n->command);
    text_list_release(&n->gpus);
    free(n->name);
    *n = (struct node_spec){0};
}

void node_specs_release(struct node_specs *s)
{
    for (size_t i = 0; i < s->count; i++) node_spec_release(&s->list[i]);
    free(s->list);
    *s = (struct node_specs){0};
}

// A file --------------------------------------------------------------------------------------------------------------

static const char *const node_members[] = {"name", "command", "count", "gpus", "cores", "program", "private", NULL};

static const char *text_member(struct reader *r, const struct node *group, const char *name)
{
    const struct node *n = node_member(group, name);
    if (n && !node_is_string(n)) reader_mistake(r, n, "'%s' must be a string", name);
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

// Reads "gpus", which is a count or a list.
static void read_gpus(struct reader *r, const struct node *group, struct node_spec *out)
{
    const struct node *n = node_member(group, "gpus");
    if (!n) return;
    out->gpus_known = true;
    if (!node_is_sequence(n)) {
        int64_t count = number_member(r, group, "gpus", 0, MOST_OF_A_NODE, 0);
        for (int64_t i = 0; i < count; i++) text_list_add(&out->gpus, text_format("%lld", (long long)i));
        return;
    }
    for (size_t i = 0; i < node_count(n); i++) {
        const struct node *one = node_at(n, i);
        if (node_is_integer(one) && node_integer(one) >= 0)
            text_list_add(&out->gpus, text_format("%lld", (long long)node_integer(one)));
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
        struct node_spec *n = new_node(out, name ? name : "?", (int)i + 1);
        if (command && *command) { // a shell splits the prefix; the agent's words are passed unchanged
            autofree char *line = text_format("exec %s \"$@\"", command);
            add_words(n, "/bin/sh", "-c", line, "sh", NULL);
        }
        n->cores = number_member(r, group, "cores", 0, MOST_OF_A_NODE, -1);
        read_gpus(r, group, n);
        add_agent(n, request, program, is_private && node_is_bool(is_private) && node_bool(is_private));
    }
}

static int add_file(struct node_specs *out, const struct pool_request *request, const char *path, struct error *err)
{
    static const char *const members[] = {"nodes", NULL};
    autorelease(mistakes_release) struct mistakes mistakes = {0};
    struct reader *r = reader_open(path, &mistakes);
    if (r) {
        const struct node *root = reader_root(r), *nodes = node_member(root, "nodes");
        reader_check_members(r, root, "a file of nodes", members);
        if (!nodes || !node_is_sequence(nodes))
            reader_mistake(r, nodes, "'nodes' must be a list: nodes = ( { name = \"..\"; command = \"..\"; } );");
        for (size_t i = 0; nodes && node_is_sequence(nodes) && i < node_count(nodes); i++)
            read_node(r, node_at(nodes, i), request, out);
        reader_close(r);
    }
    mistakes_sort(&mistakes);
    if (!mistakes.count) return 0;
    const char *file = mistakes.list[0].file ? mistakes.list[0].file : path;
    return mistakes.list[0].line ? error_set(err, "%s:%d: %s", file, mistakes.list[0].line, mistakes.list[0].text)
                                 : error_set(err, "%s: %s", file, mistakes.list[0].text);
}

// Slurm ---------------------------------------------------------------------------------------------------------------

long pool_slurm_count(const char *list, size_t node)
{
    for (const char *at = list; at && *at;) {
        char *end;
        long count = strtol(at, &end, 10), times = 1;
        if (end == at) return 0;
        if (!strncmp(end, "(x", 2)) times = strtol(end + 2, &end, 10);
        if ((long)node < times) return count;
        node -= (size_t)times;
        at = strchr(end, ',');
        if (at) at++;
    }
    return 0;
}

// The output of a program, malloc'ed. NULL if the program fails or Slurm does not answer in time. The time is limited
// because the driver waits.
static char *ask(const char *const *words)
{
    autofree char *command = text_command(words), *quiet = text_format("exec %s 2>/dev/null", command);
    char *argv[] = {"/bin/sh", "-c", quiet, NULL};
    struct program_end end;
    int failed = run_program(&(struct program_run){.argv = argv, .deadline = ANSWER_TIMEOUT}, &end, NULL);
    if (!failed && !end.late && !end.status) return end.output;
    free(end.output);
    return NULL;
}

static void add_node(struct node_specs *out, const struct pool_request *request, const char *job, const char *host,
                     long cores)
{
    struct node_spec *n = new_node(out, host, 1);
    autofree char *id = text_format("--jobid=%s", job), *where = text_format("--nodelist=%s", host);
    // --overlap: may share resources with other steps of the job. A step that fails must not end the others.
    add_words(n, "srun", id, where, "--nodes=1", "--ntasks=1", "--overlap", "--kill-on-bad-exit=0", "--export=ALL",
              "--unbuffered", "--mpi=none", NULL);
    if (cores > 0) text_list_add(&n->command, text_format("--cpus-per-task=%ld", cores));
    add_agent(n, request, NULL, false);
}

static int add_slurm(struct node_specs *out, const struct pool_request *request, bool first, const char *job,
                     struct error *err)
{
    (void)first;
    const char *own = getenv("SLURM_JOB_ID"), *cpus = job ? NULL : getenv("SLURM_JOB_CPUS_PER_NODE"),
               *list = getenv("SLURM_JOB_NODELIST");
    if (!job && (!own || !list))
        return error_set(err,
                         "--pool slurm: this is not in a Slurm allocation. Get one, `salloc --nodes=2 "
                         "--gpus-per-node=8 --exclusive --time=8:00:00`, and run the same command there; or submit "
                         "a script as docs/slurm.sbatch; or name a running job: --pool slurm:JOBID");
    autofree char *found = NULL;
    if (job) {
        found =
            ask((const char *const[]){"squeue", "--noheader", "--states=RUNNING", "--format=%N", "--jobs", job, NULL});
        if (found) found[strcspn(found, "\n")] = 0;
        if (!found)
            return error_set(err, "--pool slurm: `squeue --jobs %s` failed: no such job, or no Slurm here", job);
        if (!*found) return error_set(err, "--pool slurm: squeue knows no running job %s", job);
        list = found;
    }
    autofree char *hosts = ask((const char *const[]){"scontrol", "show", "hostnames", list, NULL});
    if (!hosts) return error_set(err, "--pool slurm: `scontrol show hostnames %s` failed", list);
    size_t count = 0;
    for (char *rest = hosts, *host; (host = strsep(&rest, "\n"));)
        if (*host) add_node(out, request, job ? job : own, host, pool_slurm_count(cpus, count++));
    return count ? 0 : error_set(err, "--pool slurm: no nodes in '%s'", list);
}

// The items of --pool -------------------------------------------------------------------------------------------------

// A kind of item: "ssh:host1,host2" is the kind `ssh` with two items; "slurm" is a kind without items, and `item` is
// NULL.
struct pool_kind {
    const char *word;
    bool empty; // allowed without an item
    int (*add)(struct node_specs *, const struct pool_request *, bool first, const char *item, struct error *);
};

// All GPUs of this kind are in one node.
static int add_local(struct node_specs *out, const struct pool_request *request, bool first, const char *item,
                     struct error *err)
{
    struct node_spec *n = first ? new_node(out, "local", 1) : &out->list[out->count - 1];
    if (first) add_agent(n, request, NULL, false);
    if (!item) return 0;
    if (!*item || item[strspn(item, "0123456789")])
        return error_set(err, "--pool local: '%s' is not the number of a GPU", item);
    n->gpus_known = true;
    text_list_add(&n->gpus, text_copy(item));
    return 0;
}

static int add_ssh(struct node_specs *out, const struct pool_request *request, bool first, const char *item,
                   struct error *err)
{
    (void)first;
    if (!item || !*item || *item == '-') return error_set(err, "--pool ssh: '%s' is not a host", item ? item : "");
    struct node_spec *n = new_node(out, item, 1);
    autorelease(node_spec_release) struct node_spec agent = {0};
    // ssh's own heartbeats end a dead connection on both sides.
    add_words(n, "ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=10", item, NULL);
    add_agent(&agent, request, NULL, false);
    autofree char *line = text_command((const char *const *)agent.command.list); // a shell on the host splits it
    add_words(n, "exec", line, NULL);
    return 0;
}

static const struct pool_kind kinds[] = {
    {"local", true, add_local},
    {"ssh", false, add_ssh},
    {"slurm", true, add_slurm},
};

// Returns the kind that an item begins with, and moves *item past the kind's word. NULL: the item belongs to the
// previous kind.
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

static int read_text(struct node_specs *out, const struct pool_request *request, const char *text, struct error *err)
{
    const struct pool_kind *kind = NULL;
    autofree char *own = text_copy(text);
    char *rest = own, *item;
    size_t count = 0; // items of the current kind
    int failed = 0;
    while (!failed && (item = strsep(&rest, ","))) {
        bool file = strchr(item, '/') || text_before(item, ".cfg");
        const struct pool_kind *next = file ? NULL : kind_of(&item);
        if (next || file) {
            if (kind && !count) failed = kind->add(out, request, true, NULL, err);
            kind = next;
            count = 0;
        }
        if (failed) break;
        if (file)
            failed = add_file(out, request, item, err);
        else if (!kind)
            failed = error_set(err, "--pool: '%s' is neither local, ssh:HOST, slurm nor a file (NAME.cfg, or with a /)",
                               item);
        else if (*item || !next)
            failed = kind->add(out, request, !count++, item, err);
    }
    return !failed && kind && !count ? kind->add(out, request, true, NULL, err) : failed;
}

int node_specs_read(struct node_specs *out, const struct pool_request *request, struct error *err)
{
    *out = (struct node_specs){0};
    for (size_t i = 0; i < request->text_count; i++)
        if (read_text(out, request, request->texts[i], err)) return -1;
    return 0;
}
