// See node_identity.h.
#include "tuner/node/node_identity.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/installation.h"

void node_identity_programs(char hash[HASH_TEXT_SIZE])
{
    static const char *const programs[] = {"sweetspot-node", "sweetspot-compile", "sweetspot-gpu", "sweetspot-replay"};
    static char bytes[1 << 16], known[HASH_TEXT_SIZE];
    struct hash *h = *known ? NULL : hash_new();
    for (size_t i = 0; h && i < sizeof programs / sizeof *programs; i++) {
        char *path = installation_program(programs[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n;
        hash_text(h, fd < 0 ? NULL : programs[i]); // one that is missing makes another installation
        while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0) hash_bytes(h, bytes, (size_t)n);
        if (fd >= 0) close(fd);
        free(path);
    }
    if (h) hash_finish(h, known);
    memcpy(hash, known, sizeof known);
}

// The cores that this process may use.
static int64_t node_identity_cores(void)
{
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set)) return CPU_COUNT(&set);
    long cores = sysconf(_SC_NPROCESSORS_ONLN); // more than the set has room for
    return cores < 1 ? 1 : cores;
}

#define IDENTITY(member) RECORD_MEMBER(struct node_identity, member)
static const struct record_field identity_fields[] = {{"version", IDENTITY(version)},
                                                      {"program", IDENTITY(program)},
                                                      {"host", IDENTITY(host)},
                                                      {"cores", IDENTITY(cores), .fallback = -1},
                                                      {0}};
static const struct record identity_record = {"the greeting", sizeof(struct node_identity), identity_fields, NULL};

char *node_identity_line(void)
{
    char programs[HASH_TEXT_SIZE], host[256] = "";
    node_identity_programs(programs);
    gethostname(host, sizeof host - 1);
    json_t *object = record_write(&identity_record,
                                  &(struct node_identity){SWEETSPOT_VERSION, programs, host, node_identity_cores()});
    char *text = json_dumps(object, JSON_COMPACT), *line = text_format(NODE_GREETING "%d %s", NODE_PROTOCOL, text);
    free(text);
    json_decref(object);
    return line;
}

int node_identity_read(const char *line, const char *node, struct node_identity *out, struct arena *memory,
                       struct error *err)
{
    char *end, own[HASH_TEXT_SIZE];
    long protocol = strtol(line + strlen(NODE_GREETING), &end, 10);
    if (protocol != NODE_PROTOCOL)
        return error_set(err, "node %s speaks version %ld of the protocol, this program speaks version %d", node,
                         protocol, NODE_PROTOCOL);
    json_t *object = json_parse(end, err);
    int failed = object ? record_read(&identity_record, object, out, memory, err) : -1;
    json_decref(object);
    if (failed) return error_prefix(err, "node %s", node);
    node_identity_programs(own);
    if (strcmp(out->version, SWEETSPOT_VERSION) || strcmp(out->program, own))
        return error_set(err,
                         "node %s runs sweetspot %s (program %.8s), this is sweetspot %s (program %.8s): install the "
                         "same there, or name its program",
                         node, *out->version ? out->version : "?", *out->program ? out->program : "?",
                         SWEETSPOT_VERSION, own);
    if (out->cores >= 1 && out->cores <= NODE_MOST_CORES) return 0;
    return error_set(err, "node %s says that it has %" PRId64 " cores: 1 to %d are possible", node, out->cores,
                     NODE_MOST_CORES);
}
