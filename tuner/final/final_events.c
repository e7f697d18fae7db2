// The events of a final (docs/events.md).
#include <string.h>

#include "tuner/final/final.h"

void final_event(const struct final_run *f, const char *kind, json_t *members)
{
    event_write(f->with.events, kind, f->with.job->name, members);
}

void final_event_outcome(const struct final_run *f, enum final_outcome outcome, const char *reason)
{
    static const char *const texts[] = {"decided", "again", "open", "failed"};
    if (f->with.events)
        final_event(f, "final",
                    json_pack("{s:s, s:o}", "outcome", texts[outcome], "reason", json_text(reason, strlen(reason))));
}
