// See message.h.
#include "tuner/protocol/message.h"

#include "tuner/base/protocol.h"

static const struct record_field head_fields[] = {
    {"status", RECORD_MEMBER(struct answer_head, status)},     {"reason", RECORD_MEMBER(struct answer_head, reason)},
    {"restart", RECORD_MEMBER(struct answer_head, restart)},   {"trial", RECORD_MEMBER(struct answer_head, trial)},
    {"baseline", RECORD_MEMBER(struct answer_head, baseline)}, {0}};
const struct record answer_head_record = {"an answer", sizeof(struct answer_head), head_fields, NULL};

json_t *request_write(const char *op, const struct record *r, const void *request)
{
    json_t *object = json_pack("{s:s}", "op", op);
    record_write_into(r, request, object);
    return object;
}

bool answer_is_ok(const struct answer_head *head)
{
    return status_find(head->status) == STATUS_OK;
}
