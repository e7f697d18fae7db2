// See events.h.
#include "tuner/watch/events.h"

#include <errno.h>

#include "tuner/base/clock.h"

void event_write(struct event_stream *s, const char *kind, const char *job, json_t *members)
{
    autojson json_t *taken = members;
    if (!s || s->broken) return;
    autojson json_t *event = json_pack("{s:s, s:f}", "event", kind, "when", clock_wall());
    if (job) json_object_set_new(event, "job", json_string(job));
    if (taken) json_object_update(event, taken);
    autofree char *line = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (fprintf(s->file, "%s\n", line) < 0 || fflush(s->file)) {
        s->broken = true;
        fprintf(stderr, "sweetspot: cannot write events (%s); tuning continues without them\n", strerror(errno));
    }
}
