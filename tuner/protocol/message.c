// See message.h.
#include "tuner/protocol/message.h"

#include "tuner/base/limits.h"
#include "tuner/base/protocol.h"

static const struct record_field head_fields[] = {
    {"status", RECORD_MEMBER(struct answer_head, status)},     {"reason", RECORD_MEMBER(struct answer_head, reason)},
    {"restart", RECORD_MEMBER(struct answer_head, restart)},   {"trial", RECORD_MEMBER(struct answer_head, trial)},
    {"baseline", RECORD_MEMBER(struct answer_head, baseline)}, {0}};
const struct record answer_head_record = {"an answer", sizeof(struct answer_head), head_fields, NULL};

static const struct record_field progress_fields[] = {
    {"progress", RECORD_MEMBER(struct progress_message, share), .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"what", RECORD_MEMBER(struct progress_message, what)},
    {"trial", RECORD_MEMBER(struct progress_message, trial)},
    {0}};
const struct record progress_record = {"a progress message", sizeof(struct progress_message), progress_fields, NULL};

json_t *request_write(const char *op, const struct record *r, const void *request)
{
    json_t *object = json_pack("{s:s}", "op", op);
    record_write_into(r, request, object);
    return object;
}

json_t *answer_refuse(const char *status, const char *reason)
{
    return json_pack("{s:s, s:o}", "status", status, "reason", json_text(reason, strlen(reason)));
}

bool answer_is_ok(const struct answer_head *head)
{
    return status_find(head->status) == STATUS_OK;
}

void message_set_id(json_t *message, int64_t id)
{
    json_object_set_new(message, "id", json_integer(id));
}

int64_t message_id(const json_t *message)
{
    return json_get_integer(message, "id", -1);
}

bool message_is_progress(const json_t *message)
{
    return json_object_get(message, "progress");
}

int answer_status(const json_t *answer)
{
    return status_find(json_get_string(answer, "status", ""));
}

const char *answer_reason(const json_t *answer, const char *otherwise)
{
    return json_get_string(answer, "reason", otherwise);
}

int answer_check_problems(const void *list, size_t size, size_t count, struct error *err)
{
    bool seen[JOB_MAX_PROBLEMS] = {false};
    for (size_t i = 0; i < count; i++) {
        int problem = *(const int *)(const void *)((const char *)list + i * size);
        if (seen[problem]) return error_set(err, "problem %d is reported twice", problem);
        seen[problem] = true;
    }
    return 0;
}

struct greeting {
    struct answer_head head;
    int protocol;
};
static const struct record_field greeting_fields[] = {
    {"head", RECORD_IN_PLACE(struct greeting, head, answer_head_record)},
    {"protocol", RECORD_MEMBER(struct greeting, protocol)},
    {0}};
static const struct record greeting_record = {"the greeting", sizeof(struct greeting), greeting_fields, NULL};

int greeting_check(const json_t *answer, struct error *err)
{
    struct greeting g;
    autorelease(arena_release) struct arena memory = {NULL};
    int failed = record_read(&greeting_record, answer, &g, &memory, err);
    if (!failed && (!*g.head.status || answer_is_ok(&g.head)) && g.protocol != PROTOCOL_VERSION)
        failed = error_set(
            err,
            "the worker uses version %d of the protocol, this program uses version %d: install programs of one build",
            g.protocol, PROTOCOL_VERSION);
    return failed;
}
