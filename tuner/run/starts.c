// Where a search may begin: the job's present kernel and its fallback, and winners of earlier jobs, for another device,
// problem or version of the source, TUNE_STARTS in all. They are measured like any proposal, never trusted; the
// strategy gets their results without having asked for them.
#include "tuner/base/base.h"
#include "tuner/run/search.h"

// The value of a name in "A=1,B=x", and its length; NULL when it is not there.
static const char *value_of(const char *text, const char *name, size_t *length)
{
    size_t n = strlen(name);
    for (const char *at = text; at; at = text_next_item(at, NULL)) {
        if (strncmp(at, name, n) || at[n] != '=') continue;
        text_next_item(at + n + 1, length);
        return at + n + 1;
    }
    return NULL;
}

// A configuration of a job that may have had other parameters: parameters that this space lacks are left out, those
// that the text lacks get their first value. Returns 0, or -1 when the result is not in this space.
static int adapt(const struct space *space, const char *text, uint16_t *config)
{
    memset(config, 0, space_parameter_count(space) * sizeof *config);
    char *first = space_text(space, config);
    struct text adapted = {0};
    text_add(&adapted, "%s", "");
    for (size_t i = 0; i < space_parameter_count(space); i++) {
        size_t length;
        const char *name = space_parameter(space, i)->name, *value = value_of(text, name, &length);
        if (!value) value = value_of(first, name, &length);
        text_add(&adapted, "%s%s=%.*s", i ? "," : "", name, value ? (int)length : 0, value ? value : "");
    }
    int failed = space_parse(space, adapted.text, config, NULL) || space_index(space, config) < 0 ? -1 : 0;
    free(first);
    free(adapted.text);
    return failed;
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

int search_collect_starts(struct search *s, const struct tune_options *o, struct error *err)
{
    // Those that the job names come first, so that a short run has them too.
    add_named(s, job_current(s->job));
    add_named(s, &s->job->fallback);
    s->starts.named = s->starts.count;
    for (size_t i = 0; i < o->start_count; i++) add_start(s, o->starts[i], NULL);
    return store_each_elsewhere(s->store, 4 * TUNE_STARTS, add_start, s, err) < 0 ? -1 : 0;
}
