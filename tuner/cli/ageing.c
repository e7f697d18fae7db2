// See ageing.h.
#include "tuner/cli/ageing.h"

#include "tuner/base/protocol.h"
#include "tuner/setup/probe.h"
#include "tuner/setup/request.h"

struct environment ageing_now(const struct session *s)
{
    int gpu = session_gpu(s);
    if (gpu < 0) return (struct environment){0};
    return probe_environment(gpu, s->job->code.compiler == JOB_NVCC ? PROTOCOL_NVCC : PROTOCOL_NVRTC);
}

void ageing_find(struct ageing *a, const struct session *s, const struct environment *now)
{
    const struct environment *e = &s->environment;
    bool known = now->device != NULL;
    *a = (struct ageing){.count = 0};
    if (request_source_hash(s->job, a->source, NULL)) *a->source = '\0';
    for (size_t i = 0; i < s->device_count && known; i++)
        if (strcmp(now->device, e->device) != 0) known = strcmp(now->device, s->devices[i].device) != 0;
    const struct change facts[] = {{"source", e->source_hash, a->source},
                                   {"GPU", e->device, now->device},
                                   {"driver", e->driver, now->driver},
                                   {"compiler", e->compiler, now->compiler}};
    for (size_t i = 0; i < (known ? sizeof facts / sizeof *facts : 1); i++)
        if (*facts[i].then && *facts[i].now && strcmp(facts[i].then, facts[i].now) != 0)
            a->changes[a->count++] = facts[i];
}

char *ageing_text(struct session *s, const struct ageing *a)
{
    double when = NAN;
    if (!a->count) return NULL;
    if (s->replayed) return text_copy("these trials were recorded with another version of the template");
    autojson json_t *final = session_document(s, "final", &when);
    autofree char *tune = session_command(s, "tune");
    autorelease(text_release) struct text text = {0};
    text_add(&text, "changed since %s%s:", final ? "the final of " : "these trials",
             final ? show_moment(when, TEXT_ROOM) : "");
    for (size_t i = 0; i < a->count; i++) {
        text_add(&text, "%s %s", i ? "," : "", a->changes[i].what);
        if (strcmp(a->changes[i].what, "source") != 0)
            text_add(&text, " (%s instead of %s)", a->changes[i].now, a->changes[i].then);
    }
    return text_format("%s; to measure the best again: %s --refresh", text.text, tune);
}
