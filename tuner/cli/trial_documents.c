// See trial_documents.h.
#include "tuner/cli/trial_documents.h"

#include "tuner/base/base.h"

static int64_t not_kept(struct candidate_source *c, const char *why)
{
    if (!c->reported) fprintf(stderr, "sweetspot: the findings are not stored: %s\n", why);
    c->reported = true;
    return 0;
}

int64_t trial_documents_owner(struct candidate_source *c, const struct single_run *single, const json_t *profile)
{
    const struct session *s = &c->session;
    const json_t *device = json_object_get(single->pool.hello, "device");
    struct trial trial;
    struct error err;
    if (!s->store) return 0;
    if (strcmp(s->environment.device, json_get_string(device, "name", "")) != 0)
        return not_kept(c, "the store is for another device");
    if (strcmp(s->environment.source_hash, single->setup.source_hash) != 0)
        return not_kept(c, "the source has changed since the store's last run");
    int missing = store_find(s->store, json_get_string(profile, "config", ""), &trial, &err);
    if (missing < 0) return not_kept(c, err.message);
    return missing ? 0 : trial.id;
}

void trial_documents_put(struct candidate_source *c, int64_t trial, const char *kind, json_t *document)
{
    struct error err;
    json_object_set_new(document, "version", json_integer(TRIAL_DOCUMENT_VERSION));
    char *text = trial ? json_dumps(document, JSON_COMPACT) : NULL;
    if (text && store_put_trial_document(c->session.store, trial, kind, text, &err)) not_kept(c, err.message);
    free(text);
    json_decref(document);
}
