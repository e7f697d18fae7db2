// The job's present kernel in the final. It is a baseline, so it cannot win as such; but the search may have found it
// too. Then it races once, as a candidate, and has two entries: the candidate's, and one of the same rounds under its
// own name.
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/protocol/final_message.h"
#include "tuner/run/run.h"

static bool is_current(const struct run *r, const struct final_candidate *c)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    return !strcmp(c->binary, PROTOCOL_NVRTC) && !space_parse(r->job->space, c->candidate.config, config, NULL) &&
           !memcmp(config, r->job->current.own.config, space_parameter_count(r->job->space) * sizeof *config);
}

bool run_final_has_current(struct run *r, const struct final_request *request)
{
    size_t sure = request->candidate_count;
    if (!r->job->current.own.given || r->job->current.source) return false;
    if (r->final_process || r->pool.replay) return r->final_current != 0; // as in the first process
    if (request->places >= 0 && (size_t)request->places < sure) sure = (size_t)request->places;
    for (size_t i = 0; i < sure; i++)
        if (is_current(r, &request->candidates[i])) r->final_current = request->candidates[i].trial;
    return r->final_current != 0;
}

void run_final_add_current(struct run *r)
{
    json_t *entries = json_object_get(r->final_answer, "entries"), *one;
    size_t i;
    json_array_foreach(entries, i, one)
    {
        if (!r->final_current || json_get_integer(one, "trial", 0) != r->final_current ||
            strcmp(json_get_string(one, "binary", PROTOCOL_NVRTC), PROTOCOL_NVRTC) != 0)
            continue;
        json_t *entry = json_deep_copy(one);
        json_object_set_new(entry, "name", json_string(CURRENT_KERNEL));
        json_object_set_new(entry, "trial", json_null());
        json_object_set_new(entry, "same_as", json_integer(r->final_current));
        json_object_del(entry, "binary");
        json_object_del(entry, "cubin_hash");
        json_array_append_new(entries, entry);
        return;
    }
}
