// The nodes of a pool: see pool_slots.h.
#include "tuner/pool/pool_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tuner/base/entropy.h"
#include "tuner/base/output_file.h"
#include "tuner/pool/node_files.h"
#include "tuner/protocol/message.h"

enum {
    TRIES_MOST = 8,   // failed starts of a node in a row
    GPUS_MOST = 4096, // GPUs of a node
    FOREIGN_MOST = 2, // this many answers to other workers' requests disable a node
};
static const double first_delay = 1, longest_delay = 60; // s before a node is tried again
static const double end_timeout = 2;                     // s that agents have to end cleanly
static const double steady = 60;                         // s after which a node's failures are forgotten

// Seconds from the environment, for tests and unusual networks.
static double seconds_of(const char *variable, double usual)
{
    double seconds;
    const char *text = getenv(variable);
    return text && !text_duration(text, &seconds) && seconds > 0 ? seconds : usual;
}

// Opening ------------------------------------------------------------------------------------------------------------

static void add_probe(struct node_link_settings *s, const char *path)
{
    char hash[HASH_TEXT_SIZE], *absolute = text_join_path(".", path);
    int64_t size;
    if (node_file_hash(absolute, hash, &size, NULL))
        free(absolute);
    else
        s->probes[s->probe_count++] = (struct node_probe){absolute, text_copy(hash)};
}

// Makes the probes: a file next to the compile cache with a unique name, and the job's source. A node that sees both is
// assumed to see the driver's files.
static int make_probes(struct worker_pool *p, struct error *err)
{
    const struct pool_settings *s = &p->settings;
    p->remote.link_settings.keep = text_join_path(".", s->keep);
    p->remote.link_settings.recorded = p->replay;
    p->remote.token = text_format("%s/token-%016llx", p->remote.link_settings.keep, (unsigned long long)entropy_draw());
    if (output_make_folders(p->remote.token, err)) return -1;
    int fd = open(p->remote.token, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    autofree char *text = text_format("%016llx\n", (unsigned long long)entropy_draw());
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (!good) error_set(err, "cannot write '%s': %s", p->remote.token, strerror(errno));
    if (fd >= 0) close(fd);
    if (!good) return -1;
    add_probe(&p->remote.link_settings, p->remote.token);
    if (s->probe_file) add_probe(&p->remote.link_settings, s->probe_file);
    return 0;
}

static void add_node(struct worker_pool *p, struct node_spec *spec)
{
    struct pool_node *n = memory_new(1, sizeof *n);
    *n = (struct pool_node){.spec = *spec, .listed = true};
    n->link = (struct node_link){.name = n->spec.name, .settings = &p->remote.link_settings, .child = CHILD_NONE};
    *spec = (struct node_spec){0};
    memory_add(p->remote.nodes, p->remote.node_count) = n;
    memory_add(p->remote.links.list, p->remote.links.count) = &n->link;
}

int pool_nodes_open(struct worker_pool *p, struct error *err)
{
    autorelease(node_specs_release) struct node_specs specs = {0};
    p->remote.link_settings = (struct node_link_settings){.heartbeat = seconds_of("SWEETSPOT_NODE_BEAT", 5),
                                                          .timeout = seconds_of("SWEETSPOT_NODE_PATIENCE", 30),
                                                          .greeting = seconds_of("SWEETSPOT_NODE_GREETING", 120),
                                                          .report = p->settings.report,
                                                          .user = p->settings.user};
    p->remote.reread = clock_now() + seconds_of("SWEETSPOT_POOL_REREAD", 10);
    int failed = node_specs_read(&specs, p->settings.nodes, err);
    if (!failed && !specs.count) failed = error_set(err, "--pool names no node");
    if (!failed) failed = make_probes(p, err);
    for (size_t i = 0; i < specs.count && !failed; i++) add_node(p, &specs.list[i]);
    if (!failed) pool_nodes_serve(p);
    return failed;
}

void pool_nodes_release(struct worker_pool *p)
{
    double limit = clock_now() + end_timeout;
    for (size_t i = 0; i < p->remote.node_count; i++) child_close(&p->remote.nodes[i]->link.child.to);
    for (size_t i = 0; i < p->remote.node_count; i++) {
        node_link_end_wait(&p->remote.nodes[i]->link, limit);
        node_link_release(&p->remote.nodes[i]->link);
        node_spec_release(&p->remote.nodes[i]->spec);
        free(p->remote.nodes[i]);
    }
    free(p->remote.nodes);
    free(p->remote.links.list);
    for (size_t i = 0; i < p->remote.link_settings.probe_count; i++) {
        free((char *)(uintptr_t)p->remote.link_settings.probes[i].path);
        free((char *)(uintptr_t)p->remote.link_settings.probes[i].hash);
    }
    if (p->remote.token) unlink(p->remote.token);
    free(p->remote.token);
    free(p->remote.link_settings.keep);
}

// One node -----------------------------------------------------------------------------------------------------------

bool pool_node_is_up(const struct worker_pool *p, size_t node)
{
    return node == POOL_HERE || (p->remote.nodes[node]->link.state == LINK_UP && p->remote.nodes[node]->joined);
}

const char *pool_node_name(const struct worker_pool *p, size_t node)
{
    return node == POOL_HERE ? NULL : p->remote.nodes[node]->spec.name;
}

static const char other_compiler[] = "its compiler differs from the others'";

static const char *node_disabled(const struct worker_pool *p, size_t node)
{
    return node != POOL_HERE && p->remote.nodes[node]->disabled ? node_link_why(&p->remote.nodes[node]->link) : NULL;
}

const char *pool_gpu_disabled(const struct worker_pool *p, size_t gpu)
{
    const struct pool_slot *slot = &p->gpus[gpu];
    return slot->disabled ? slot->disabled : node_disabled(p, slot->node);
}

const char *pool_compiler_disabled(const struct worker_pool *p, size_t compiler)
{
    size_t node = p->compilers[compiler].node;
    bool refused = node != POOL_HERE && p->remote.nodes[node]->compilers == COMPILERS_REFUSED;
    return refused ? other_compiler : node_disabled(p, node);
}

void pool_node_disable(struct worker_pool *p, size_t node, const char *why)
{
    struct pool_node *n = p->remote.nodes[node];
    if (n->disabled) return;
    n->disabled = true;
    n->began = false;
    node_link_stop(&n->link, true, "%s", why);
    pool_report(&p->settings, true, "node %s is disabled: %s", n->spec.name, why);
}

void pool_node_foreign(struct worker_pool *p, size_t node, struct pool_event *event)
{
    if (node == POOL_HERE) return;
    event->outside = true;
    pool_report(&p->settings, false, "node %s: %s", p->remote.nodes[node]->spec.name, event->why.message);
    if (++p->remote.nodes[node]->foreign < FOREIGN_MOST) return;
    event->node = true;
    pool_node_disable(p, node, event->why.message);
}

static void start(struct worker_pool *p, struct pool_node *n)
{
    struct error err;
    n->began = true;
    if (!node_link_start(&n->link, n->spec.command.list, &err)) return;
    free(n->link.why);
    n->link.why = text_copy(err.message);
    pool_report(&p->settings, false, "node %s: %s", n->spec.name, err.message);
}

static void add_gpu(struct worker_pool *p, size_t node, const char *device)
{
    pool_add_gpu(p, node, text_format("%s gpu %s", p->remote.nodes[node]->spec.name, device), text_copy(device));
}

static void join(struct worker_pool *p, size_t node)
{
    struct pool_node *n = p->remote.nodes[node];
    int64_t cores = n->spec.cores >= 0 ? n->spec.cores : n->link.identity.cores;
    if (n->spec.cores < 0 && p->settings.compilers) cores = p->settings.compilers;
    n->joined = true;
    for (size_t i = 0; i < n->spec.gpus.count; i++) add_gpu(p, node, n->spec.gpus.list[i]);
    if (!n->spec.gpus_known) add_gpu(p, node, "0");
    for (int64_t i = 0; i < cores; i++)
        pool_add_compiler(p, node, text_format("%s compiler %lld", n->spec.name, (long long)i));
}

// Handles an agent that has ended or could not be started.
static void see_to_end(struct worker_pool *p, size_t node, double now)
{
    struct pool_node *n = p->remote.nodes[node];
    const char *why = node_link_why(&n->link);
    n->began = false;
    if (n->compilers != COMPILERS_REFUSED) n->compilers = COMPILERS_UNKNOWN;
    if (now - n->up > steady && n->up > 0) n->failures = 0;
    n->up = 0;
    if (!n->listed) return;
    if (n->link.refused || ++n->failures >= TRIES_MOST) {
        pool_node_disable(p, node, why);
        return;
    }
    double delay = fmin(longest_delay, ldexp(first_delay, n->failures - 1));
    n->again = now + delay;
    pool_report(&p->settings, true, "node %s is lost: %s; it is tried again in %.0f s", n->spec.name, why, delay);
}

// Before a node gets anything to compile, one of its compilers reports its version.
static void greet_compiler(struct worker_pool *p, size_t node)
{
    struct pool_node *n = p->remote.nodes[node];
    struct error err;
    if (n->compilers != COMPILERS_UNKNOWN || !p->first.compiler) return;
    for (size_t i = 0; i < p->compiler_count; i++) {
        struct pool_slot *slot = &p->compilers[i];
        if (slot->node != node) continue;
        n->compilers = COMPILERS_GREETED;
        if (slot->queued || slot_start(p, slot, &err)) return; // its node is going down
        slot->compiler.greeting = true;
        slot_send(slot, pool_compiler_hello(p), POOL_HELLO_TIMEOUT);
        return;
    }
}

void pool_node_greeted(struct worker_pool *p, size_t node, const json_t *hello)
{
    struct pool_node *n = p->remote.nodes[node];
    const char *compiler = json_get_string(hello, "compiler", NULL);
    bool same = compiler && !strcmp(compiler, p->first.compiler);
    n->compilers = same ? COMPILERS_GOOD : COMPILERS_REFUSED;
    if (!same)
        pool_report(&p->settings, true, "node %s is not used to compile: it has %s, the run has %s", n->spec.name,
                    compiler ? compiler : answer_reason(hello, "no compiler"), p->first.compiler);
}

void pool_node_not_greeted(struct worker_pool *p, size_t node, const char *why)
{
    struct pool_node *n = p->remote.nodes[node];
    n->compilers =
        (n->greetings += pool_start_weight(false)) < POOL_FAILED_STARTS ? COMPILERS_UNKNOWN : COMPILERS_REFUSED;
    if (n->compilers == COMPILERS_REFUSED)
        pool_report(&p->settings, true, "node %s is not used to compile: %s", n->spec.name, why);
}

void pool_node_count_gpus(struct worker_pool *p, size_t gpu, const json_t *hello)
{
    size_t node = p->gpus[gpu].node;
    if (node == POOL_HERE || p->remote.nodes[node]->spec.gpus_known || p->remote.nodes[node]->gpus) return;
    int64_t count = json_get_integer(hello, "device_count", 1);
    p->remote.nodes[node]->gpus = count < 1 ? 1 : count > GPUS_MOST ? GPUS_MOST : count;
}

// Adds slots for the GPUs that the worker of the node's first GPU has counted.
static void add_counted_gpus(struct worker_pool *p, size_t node)
{
    struct pool_node *n = p->remote.nodes[node];
    for (int64_t i = 1; i < n->gpus; i++) {
        char device[32];
        snprintf(device, sizeof device, "%" PRId64, i);
        add_gpu(p, node, device);
    }
    if (n->gpus) n->spec.gpus_known = true;
}

const struct pool_slot *pool_gpu_twin(const struct worker_pool *p, size_t gpu, const json_t *hello)
{
    const char *uuid = json_get_string(json_object_get(hello, "device"), "uuid", "");
    for (size_t i = 0; i < p->gpu_count && *uuid && !p->replay; i++) {
        const struct pool_slot *slot = &p->gpus[i];
        if (i != gpu && !slot->disabled && worker_running(&slot->worker) && slot->uuid && !strcmp(slot->uuid, uuid))
            return slot;
    }
    return NULL;
}

// Why a GPU cannot be used in this run; NULL: it can. malloc'ed.
static char *unfit(const struct worker_pool *p, size_t gpu, const json_t *hello)
{
    const json_t *device = json_object_get(hello, "device");
    const char *name = json_get_string(device, "name", "?"), *driver = json_get_string(device, "driver", ""),
               *model = p->settings.nodes ? p->settings.nodes->model : NULL;
    if (model && !strcasestr(name, model)) return text_format("it is a %s, and --device is '%s'", name, model);
    if (p->gpus[gpu].node == POOL_HERE || !p->first.device_name) return NULL; // this is the first GPU
    if (strcmp(name, p->first.device_name) != 0 || strcmp(driver, p->first.driver) != 0)
        return text_format("it is a %s with driver %s, the run is on %s with driver %s", name, driver,
                           p->first.device_name, p->first.driver);
    const struct pool_slot *twin = pool_gpu_twin(p, gpu, hello);
    return twin ? text_format("it is the same GPU as %s (%s)", twin->name, twin->uuid) : NULL;
}

bool pool_gpu_differs(struct worker_pool *p, size_t gpu, const json_t *hello)
{
    autofree char *why = unfit(p, gpu, hello);
    if (!why) return false;
    pool_node_count_gpus(p, gpu, hello); // its node's other GPUs may be used
    pool_gpu_disable(p, gpu, why);
    return true;
}

bool pool_gpu_refuses_job(struct worker_pool *p, size_t gpu)
{
    struct error why;
    if (!node_files_refuse(p->gpus[gpu].worker.link, p->job_request, &why)) return false;
    pool_gpu_disable(p, gpu, why.message);
    return true;
}

char *pool_gpu_host(const struct worker_pool *p, size_t gpu)
{
    char here[256] = "";
    size_t node = p->gpus[gpu].node;
    if (node != POOL_HERE) return text_copy(p->remote.nodes[node]->link.identity.host);
    if (gethostname(here, sizeof here - 1)) *here = 0;
    return text_copy(*here ? here : "localhost");
}

json_t *pool_gpu_identity(const struct worker_pool *p, size_t gpu)
{
    const struct pool_slot *slot = &p->gpus[gpu];
    autofree char *host = pool_gpu_host(p, gpu);
    return json_pack("{s:s, s:s, s:s, s:s?}", "name", slot->name, "uuid", slot->uuid ? slot->uuid : "", "host", host,
                     "node", pool_node_name(p, slot->node));
}

double pool_timeout(void)
{
    return seconds_of("SWEETSPOT_POOL_PATIENCE", 600);
}

void pool_gpu_disable(struct worker_pool *p, size_t gpu, const char *why)
{
    struct pool_slot *slot = &p->gpus[gpu];
    slot_stop(slot);
    if (!slot->disabled) {
        pool_report(&p->settings, true, "%s is disabled: %s", slot->name, why);
        slot->disabled = text_copy(why);
    }
}

static void serve(struct worker_pool *p, size_t node, double now)
{
    struct pool_node *n = p->remote.nodes[node];
    if (n->disabled) return;
    if (n->began && n->link.state == LINK_DOWN) see_to_end(p, node, now);
    if (!n->disabled && n->listed && !n->began && now >= n->again) start(p, n);
    if (n->link.state != LINK_UP) return;
    if (n->up <= 0) {
        n->up = now;
        bool alias = strcmp(n->spec.name, n->link.identity.host) != 0;
        pool_report(&p->settings, true, "node %s joins%s%s, %" PRId64 " cores%s", n->spec.name, alias ? ": " : "",
                    alias ? n->link.identity.host : "", n->link.identity.cores,
                    n->link.files.shared ? "" : "; files are sent to it");
    }
    if (!n->joined) join(p, node);
    if (!n->spec.gpus_known && n->gpus) add_counted_gpus(p, node);
    greet_compiler(p, node);
}

// The list -----------------------------------------------------------------------------------------------------------

static struct pool_node *find(const struct worker_pool *p, const char *name)
{
    for (size_t i = 0; i < p->remote.node_count; i++)
        if (!strcmp(p->remote.nodes[i]->spec.name, name)) return p->remote.nodes[i];
    return NULL;
}

static bool same_command(const struct node_spec *a, const struct node_spec *b)
{
    size_t i = 0;
    while (a->command.list[i] && b->command.list[i] && !strcmp(a->command.list[i], b->command.list[i])) i++;
    return !a->command.list[i] && !b->command.list[i];
}

static void read_list_again(struct worker_pool *p, double now)
{
    autorelease(node_specs_release) struct node_specs specs = {0};
    struct error err;
    if (now < p->remote.reread) return;
    p->remote.reread = now + seconds_of("SWEETSPOT_POOL_REREAD", 10);
    if (node_specs_read(&specs, p->settings.nodes, &err)) {
        pool_report(&p->settings, false, "the list of nodes cannot be read again: %s", err.message);
        return;
    }
    for (size_t i = 0; i < p->remote.node_count; i++) p->remote.nodes[i]->listed = false;
    for (size_t i = 0; i < specs.count; i++) {
        struct node_spec *spec = &specs.list[i];
        struct pool_node *n = find(p, spec->name);
        if (!n) {
            pool_report(&p->settings, false, "node %s is new in the list", spec->name);
            add_node(p, spec);
            continue;
        }
        n->listed = true;
        if (same_command(&n->spec, spec)) continue;
        memory_swap(n->spec.command, spec->command); // a new node under an old name begins without failures
        n->disabled = false;
        n->failures = 0;
        n->again = 0;
        if (n->began) node_link_stop(&n->link, false, "its command has changed");
    }
    for (size_t i = 0; i < p->remote.node_count; i++) {
        struct pool_node *n = p->remote.nodes[i];
        if (n->listed || !n->began) continue;
        pool_report(&p->settings, true, "node %s leaves: it is not in the list any more", n->spec.name);
        node_link_stop(&n->link, false, "it is not in the list any more");
        n->failures = 0;
    }
}

void pool_nodes_serve(struct worker_pool *p)
{
    double now = clock_now();
    if (!p->remote.node_count) return;
    read_list_again(p, now);
    for (size_t i = 0; i < p->remote.node_count; i++) serve(p, i, now);
}

// Why a node has no GPU for the run or, with `compiler`, no compiler. Returns NULL if the node has one or may get one.
static const char *lack(const struct worker_pool *p, size_t node, bool compiler)
{
    const struct pool_node *n = p->remote.nodes[node];
    const struct pool_slot *slots = compiler ? p->compilers : p->gpus;
    size_t count = compiler ? p->compiler_count : p->gpu_count;
    if (n->disabled) return node_link_why(&n->link);
    if (compiler && n->compilers == COMPILERS_REFUSED) return other_compiler;
    for (size_t i = 0; i < count; i++)
        if (slots[i].node == node && !slots[i].disabled) return NULL;
    return !n->joined ? NULL : compiler ? "no cores" : "no GPU that can be used";
}

// Whether all nodes lack a GPU or, with `compiler`, a compiler.
static bool all_lack(const struct worker_pool *p, bool compiler, struct error *why)
{
    autorelease(text_release) struct text all = {0};
    size_t i = 0;
    for (const char *one; i < p->remote.node_count && (one = lack(p, i, compiler)); i++)
        text_add(&all, "%s%s: %s", i ? "; " : "", p->remote.nodes[i]->spec.name, one);
    if (i == p->remote.node_count) error_set(why, "no usable %s: %s", compiler ? "compiler" : "GPU", all.text);
    return i == p->remote.node_count;
}

bool pool_nodes_unusable(const struct worker_pool *p, struct error *why)
{
    return all_lack(p, false, why) || all_lack(p, true, why);
}

bool pool_nodes_give_up(const struct worker_pool *p, const char *missing, double *since, struct error *why)
{
    double now = clock_now(), timeout = pool_timeout();
    if (p->settings.patience > 0) timeout = fmin(timeout, p->settings.patience);
    if (pool_nodes_unusable(p, why)) return true;
    if (*since <= 0) *since = now;
    if (now - *since < timeout) return false;
    error_set(why, "no usable %s: no node with one came within %.3g s", missing, timeout);
    return true;
}
