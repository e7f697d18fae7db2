// The contents of a store: its trials by configuration. See scene.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/torture/scene.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/store/store.h"

static int keep(void *user, const struct trial *trial)
{
    struct known_trials *known = user;
    if (!(known->count & (known->count + 1)))
        known->all = memory_grow(known->all, 2 * known->count + 2, sizeof *known->all);
    known->all[known->count++] = (struct known_trial){trial->id, (int)trial->status, trial->problem_count,
                                                      trial->objective, text_copy(trial->config)};
    return 0;
}

static int by_config(const void *a, const void *b)
{
    return strcmp(((const struct known_trial *)a)->config, ((const struct known_trial *)b)->config);
}

bool known_read(struct known_trials *known, const char *path, char *message, size_t size)
{
    struct store *store;
    struct environment environment;
    struct error err = {""};
    *known = (struct known_trials){0};
    if (access(path, F_OK)) return true;
    int status = store_open(&store, path, false, &err);
    if (!status) {
        status = store_last_environment(store, &environment, &err);
        if (!status) status = store_each(store, false, 0, STORE_WHOLE, keep, known, &err);
        store_close(store);
    }
    if (known->count) qsort(known->all, known->count, sizeof *known->all, by_config);
    if (status < 0) snprintf(message, size, "%s", err.message);
    return status >= 0;
}

void known_free(struct known_trials *known)
{
    for (size_t i = 0; i < known->count; i++) free(known->all[i].config);
    free(known->all);
    *known = (struct known_trials){0};
}

const struct known_trial *known_find(const struct known_trials *known, const char *config)
{
    struct known_trial wanted = {.config = (char *)config};
    return known->count ? bsearch(&wanted, known->all, known->count, sizeof *known->all, by_config) : NULL;
}
