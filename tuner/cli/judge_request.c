// See judge_request.h.
#include "tuner/cli/judge_request.h"

#include <unistd.h>

#include "tuner/base/buffer_kind.h"
#include "tuner/base/input_file.h"
#include "tuner/base/record.h"

static const struct record_field request_fields[] = {
    {"id", RECORD_MEMBER(struct judge_request, id)},
    {"job", RECORD_MEMBER(struct judge_request, job), .flags = RECORD_REQUIRED},
    {"implementation", RECORD_MEMBER(struct judge_request, implementation)},
    {"source", RECORD_MEMBER(struct judge_request, source)},
    {"entry", RECORD_MEMBER(struct judge_request, entry)},
    {"set", RECORD_PAIRS(struct judge_request, set, set_count)},
    {"sanitize", RECORD_MEMBER(struct judge_request, sanitize), .fallback = true},
    {"counters", RECORD_MEMBER(struct judge_request, counters), .fallback = true},
    {"time", RECORD_MEMBER(struct judge_request, time), .low = 0.1, .high = JUDGE_SECONDS_MOST},
    {0}};
enum { MEMBERS = sizeof request_fields / sizeof *request_fields - 1 };
static const struct record request_record = {"a request", sizeof(struct judge_request), request_fields, NULL};

static int confine(const char **path, struct arena *memory, struct error *err)
{
    autofree char *here = getcwd(NULL, 0), *real = realpath(*path, NULL);
    if (!here || !real || !input_file_is_below(here, real))
        return error_set(err, "'%s' is not a file below '%s'", *path, here ? here : "?");
    *path = arena_copy(memory, real);
    return 0;
}

int judge_request_read(const json_t *message, struct judge_request *r, struct arena *memory, struct error *err)
{
    const char *names[MEMBERS + 1] = {NULL};
    for (size_t i = 0; i < MEMBERS; i++) names[i] = request_fields[i].name;
    if (record_read(&request_record, message, r, memory, err)) return -1;
    if (!isfinite(r->time)) r->time = JUDGE_SECONDS_MOST;
    json_object_each((json_t *)(uintptr_t)message, name, value) {
        autofree char *text = word_find(names, name) < 0 ? text_unknown("member", name, names) : NULL;
        if (text) return error_set(err, "%s", text);
    }
    if (*r->implementation && *r->source)
        return error_set(err, "a request has an implementation or a source, not both");
    int failed = confine(&r->job, memory, err);
    return failed || !*r->implementation ? failed : confine(&r->implementation, memory, err);
}
