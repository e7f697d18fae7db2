// See node_identity.h.
#include "tuner/node/node_identity.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/installation.h"
#include "tuner/base/text.h"

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

char *node_identity_line(const char *cache)
{
    char programs[HASH_TEXT_SIZE], host[256] = "";
    struct statvfs disk = {0};
    node_identity_programs(programs);
    gethostname(host, sizeof host - 1);
    bool known = !statvfs(cache, &disk);
    json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:f}", "version", SWEETSPOT_VERSION, "program", programs, "host",
                               host, "cores", (json_int_t)node_identity_cores(), "clock", clock_wall());
    if (known) json_object_set_new(object, "free", json_integer((json_int_t)(disk.f_bavail * disk.f_frsize)));
    char *text = json_dumps(object, JSON_COMPACT), *line = text_format(NODE_GREETING "%d %s", NODE_PROTOCOL, text);
    free(text);
    json_decref(object);
    return line;
}

json_t *node_identity_read(const char *line, const char *node, struct error *err)
{
    char *end, own[HASH_TEXT_SIZE];
    const char *at = line + strlen(NODE_GREETING);
    long protocol = strtol(at, &end, 10);
    json_t *object = protocol == NODE_PROTOCOL ? json_parse(end, err) : NULL;
    if (protocol != NODE_PROTOCOL) {
        error_set(err, "node %s speaks version %ld of the protocol, this program speaks version %d", node, protocol,
                  NODE_PROTOCOL);
        return NULL;
    }
    if (!object) return error_prefix(err, "node %s", node), NULL;
    node_identity_programs(own);
    const char *version = json_get_string(object, "version", "?"), *program = json_get_string(object, "program", "?");
    int64_t cores = json_get_integer(object, "cores", -1);
    bool same = !strcmp(version, SWEETSPOT_VERSION) && !strcmp(program, own);
    if (same && cores >= 1 && cores <= NODE_MOST_CORES) return object;
    if (same) {
        error_set(err, "node %s says that it has %" PRId64 " cores: 1 to %d are possible", node, cores,
                  NODE_MOST_CORES);
        json_decref(object);
        return NULL;
    }
    error_set(
        err,
        "node %s runs sweetspot %s (program %.8s), this is sweetspot %s (program %.8s): install the same there, or "
        "name its program",
        node, version, program, SWEETSPOT_VERSION, own);
    json_decref(object);
    return NULL;
}
