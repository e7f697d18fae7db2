// Configurations that a search begins with, at most TUNE_STARTS: the job's current kernel and its fallback, and winners
// of earlier jobs for another device, problem or version of the source. They are measured like any proposal; their old
// results are not trusted. Their results are reported to the strategy although it did not propose them.
#include "tuner/job/shipped.h"
#include "tuner/run/search.h"

// Adapts a configuration of a job that may have had other parameters. Parameters that this space lacks are left out;
// those that `text` lacks get their first value. Returns 0, or -1 when the result is not in this space.
static int adapt(const struct space *space, const char *text, uint16_t *config)
{
    memset(config, 0, space_parameter_count(space) * sizeof *config);
    for (const char *at = text, *next; at; at = next) {
        size_t length, name = strcspn(at, "="), value = 0;
        next = text_next_item(at, &length);
        int parameter = name < length ? space_find(space, at, name) : -1;
        if (parameter < 0) continue;
        for (; value < space_parameter(space, (size_t)parameter)->count; value++) {
            const char *own = space_value_text(space, (size_t)parameter, value, (char[32]){0});
            if (strlen(own) == length - name - 1 && !memcmp(own, at + name + 1, length - name - 1)) break;
        }
        if (value == space_parameter(space, (size_t)parameter)->count) return -1;
        config[parameter] = (uint16_t)value;
    }
    return space_index(space, config) < 0 ? -1 : 0;
}

static int add_start(void *user, const char *text, const char *device)
{
    struct search *s = user;
    const struct space *space = s->job->space;
    struct start_list *starts = &s->starts;
    size_t bytes = space_parameter_count(space) * sizeof(uint16_t);
    uint16_t config[SPACE_MAX_PARAMETERS];
    (void)device;
    if (adapt(space, text, config)) return 0;
    for (size_t i = 0; i < starts->count; i++)
        if (!memcmp(starts->configs[i], config, bytes)) return 0;
    if (starts->count == TUNE_STARTS)
        starts->left_out++;
    else
        memcpy(starts->configs[starts->count++], config, bytes);
    return 0;
}

static void add_named(struct search *s, const struct implementation *c)
{
    size_t bytes = space_parameter_count(s->job->space) * sizeof *c->config;
    if (!c || c->kind != IMPLEMENTATION_CONFIGURATION) return;
    if (s->starts.count && !memcmp(s->starts.configs[0], c->config, bytes)) return;
    memcpy(s->starts.configs[s->starts.count++], c->config, sizeof c->config);
}

static int add_shipped(struct search *s, struct error *err)
{
    autorelease(arena_release) struct arena memory = {0};
    struct shipped_winners shipped;
    if (shipped_read(s->job, &shipped, &memory, err)) return -1;
    for (size_t i = 0; i < shipped.winner_count; i++) add_start(s, shipped.winners[i].configuration, NULL);
    return 0;
}

int search_collect_starts(struct search *s, const struct tune_options *o, bool shipped, struct error *err)
{
    // The configurations that the job names come first, so that even a short run measures them.
    add_named(s, job_current(s->job));
    add_named(s, &s->job->others.fallback);
    s->starts.named = s->starts.count;
    for (size_t i = 0; i < o->earlier.start_count; i++) add_start(s, o->earlier.starts[i], NULL);
    if (shipped && add_shipped(s, err)) return -1;
    return store_each_elsewhere(s->store, 4 * TUNE_STARTS, add_start, s, err) < 0 ? -1 : 0;
}
