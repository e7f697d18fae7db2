// The job's present kernel in the final. It is a baseline, so it cannot win as such; but the search may have found it
// too. Then it races once, as a candidate, and has two entries: the candidate's, and one of the same rounds under its
// own name.
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/final/final.h"

static bool is_current(const struct final_run *f, const struct final_candidate *c)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    return !strcmp(c->binary, PROTOCOL_NVRTC) && !space_parse(f->with.job->space, c->candidate.config, config, NULL) &&
           !memcmp(config, job_current(f->with.job)->config,
                   space_parameter_count(f->with.job->space) * sizeof *config);
}

bool final_has_current(struct final_run *f, const struct final_request *request)
{
    size_t sure = request->candidate_count;
    const struct implementation *current = job_current(f->with.job);
    if (!current || current->kind != IMPLEMENTATION_CONFIGURATION) return false;
    if (f->process || f->with.pool->replay) return f->current != 0; // as in the first process
    if (request->places >= 0 && (size_t)request->places < sure) sure = (size_t)request->places;
    for (size_t i = 0; i < sure; i++)
        if (is_current(f, &request->candidates[i])) f->current = request->candidates[i].trial;
    return f->current != 0;
}

void final_add_current(struct final_run *f, struct final_entries *entries)
{
    for (size_t i = 0; i < entries->count && f->current; i++) {
        const struct final_entry_answer *e = &entries->list[i].answer;
        if (e->trial != f->current || !final_is_of(e, PROTOCOL_NVRTC)) continue;
        struct final_entry_document *entry = &entries->list[entries->count++];
        *entry = (struct final_entry_document){.answer = *e, .same_as = f->current};
        entry->answer.name = CURRENT_KERNEL;
        entry->answer.trial = 0;
        entry->answer.binary = entry->answer.cubin_hash = "";
        return;
    }
}
