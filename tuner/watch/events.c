// See events.h.
#include "tuner/watch/events.h"

#include <errno.h>

#include "tuner/base/clock.h"

void event_write(struct event_stream *s, const char *kind, const char *job, json_t *members)
{
    if (!s || s->broken) {
        json_decref(members);
        return;
    }
    json_t *event = json_pack("{s:s, s:f}", "event", kind, "when", clock_wall());
    if (job) json_object_set_new(event, "job", json_string(job));
    if (members) json_object_update(event, members);
    json_decref(members);
    autofree char *line = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(event);
    if (fprintf(s->file, "%s\n", line) < 0 || fflush(s->file)) {
        s->broken = true;
        fprintf(stderr, "sweetspot: cannot write events (%s); tuning continues without them\n", strerror(errno));
    }
}
