// See node_message.h.
#include "tuner/node/node_message.h"

#include <fcntl.h>
#include <unistd.h>

#include "tuner/base/installation.h"

// The greeting --------------------------------------------------------------------------------------------------------

void node_identity_programs(char hash[HASH_TEXT_SIZE])
{
    static const char *const programs[] = {"sweetspot-node", "sweetspot-compile", "sweetspot-gpu", "sweetspot-replay"};
    static char bytes[1 << 16], known[HASH_TEXT_SIZE];
    struct hash *h = *known ? NULL : hash_new();
    for (size_t i = 0; h && i < sizeof programs / sizeof *programs; i++) {
        autofree char *path = installation_program(programs[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n;
        hash_text(h, fd < 0 ? NULL : programs[i]); // a missing one gives a different hash
        while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0) hash_bytes(h, bytes, (size_t)n);
        if (fd >= 0) close(fd);
    }
    if (h) hash_finish(h, known);
    memcpy(hash, known, sizeof known);
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
    autojson json_t *object = record_write(
        &identity_record, &(struct node_identity){SWEETSPOT_VERSION, programs, host, installation_cores()});
    autofree char *text = json_dumps(object, JSON_COMPACT);
    return text_format(NODE_GREETING "%d %s", NODE_PROTOCOL, text);
}

int node_identity_read(const char *line, const char *node, struct node_identity *out, struct arena *memory,
                       struct error *err)
{
    char *end, own[HASH_TEXT_SIZE];
    long protocol = strtol(line + strlen(NODE_GREETING), &end, 10);
    if (protocol != NODE_PROTOCOL)
        return error_set(err, "node %s uses version %ld of the protocol, this program uses version %d", node, protocol,
                         NODE_PROTOCOL);
    autojson json_t *object = json_parse(end, err);
    if (!object || record_read(&identity_record, object, out, memory, err)) return error_prefix(err, "node %s", node);
    node_identity_programs(own);
    if (strcmp(out->version, SWEETSPOT_VERSION) || strcmp(out->program, own))
        return error_set(err,
                         "node %s runs sweetspot %s (program %.8s), this is sweetspot %s (program %.8s): install the "
                         "same version there, or name its program",
                         node, *out->version ? out->version : "?", *out->program ? out->program : "?",
                         SWEETSPOT_VERSION, own);
    if (out->cores >= 1 && out->cores <= NODE_MOST_CORES) return 0;
    return error_set(err, "node %s reports %" PRId64 " cores: 1 to %d are possible", node, out->cores, NODE_MOST_CORES);
}

// Messages ------------------------------------------------------------------------------------------------------------

enum { LONGEST_SECONDS = 1000000 };

#define MEMBER(type, member) RECORD_MEMBER(struct type, member)
static const struct record_field probe_fields[] = {
    {"path", MEMBER(node_probe, path)}, {"hash", MEMBER(node_probe, hash)}, {0}};
static const struct record probe = {"a probe file", sizeof(struct node_probe), probe_fields, NULL};

static const struct record_field welcome_fields[] = {
    {"folder", MEMBER(node_welcome, folder)},
    {"env", RECORD_PAIRS(struct node_welcome, env, env_count)},
    {"beat", MEMBER(node_welcome, heartbeat), .low = 1e-3, .high = LONGEST_SECONDS},
    {"patience", MEMBER(node_welcome, timeout), .low = 1e-3, .high = LONGEST_SECONDS},
    {"probes", RECORD_RECORDS(struct node_welcome, probes, probe_count, probe)},
    {0}};
static const struct record_field start_fields[] = {
    {"argv", RECORD_VALUES(struct node_start, argv, argv_count), .flags = RECORD_REQUIRED}, {0}};
static const struct record_field ready_fields[] = {
    {"shared", MEMBER(node_ready, shared), .flags = RECORD_ALWAYS},
    {"cache", MEMBER(node_ready, cache), .flags = RECORD_REQUIRED},
    {"have", RECORD_VALUES(struct node_ready, have, have_count), .flags = RECORD_ALWAYS},
    {0}};
static const struct record_field exit_fields[] = {
    {"status", MEMBER(node_exit, status), .high = 65535, .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"killed", MEMBER(node_exit, killed), .flags = RECORD_ALWAYS},
    {0}};
static const struct record_field state_fields[] = {{"stopped", MEMBER(node_state, stopped), .flags = RECORD_ALWAYS},
                                                   {0}};
static const struct record_field trouble_fields[] = {{"reason", MEMBER(node_trouble, reason)}, {0}};
static const struct record_field file_fields[] = {
    {"name", MEMBER(node_file, name)},
    {"path", MEMBER(node_file, path)},
    {"hash", MEMBER(node_file, hash)},
    {"size", MEMBER(node_file, size), .low = -1, .high = 1e15, .fallback = -1},
    {0}};
#undef MEMBER

static const struct {
    enum frame_type type;
    struct record record;
} messages[] = {
    {FRAME_WELCOME, {"the welcome", sizeof(struct node_welcome), welcome_fields, NULL}},
    {FRAME_START, {"a start", sizeof(struct node_start), start_fields, NULL}},
    {FRAME_READY, {"the answer to the welcome", sizeof(struct node_ready), ready_fields, NULL}},
    {FRAME_EXIT, {"the end of a worker", sizeof(struct node_exit), exit_fields, NULL}},
    {FRAME_STATE, {"the state of a worker", sizeof(struct node_state), state_fields, NULL}},
    {FRAME_TROUBLE, {"a trouble", sizeof(struct node_trouble), trouble_fields, NULL}},
    {FRAME_FILE, {"a file", sizeof(struct node_file), file_fields, NULL}},
    {FRAME_USE, {"a file", sizeof(struct node_file), file_fields, NULL}},
};

static const struct record *record_of(enum frame_type type)
{
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (messages[i].type == type) return &messages[i].record;
    return NULL;
}

void node_message_put(struct frame_writer *w, enum frame_type type, uint32_t channel, const void *message)
{
    autojson json_t *object = record_write(record_of(type), message);
    autofree char *text = json_dumps(object, JSON_COMPACT);
    frame_put(w, type, channel, text, strlen(text));
}

int node_message_read(const struct frame *f, union node_message *out, struct arena *memory, struct error *err)
{
    const struct record *record = record_of(f->type);
    if (!record) return 0;
    autojson json_t *object = json_parse(f->data, err);
    return object ? record_read(record, object, out, memory, err) : -1;
}
