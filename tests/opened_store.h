// For tests: opens a store as a run has left it, in the environment that was used last.
#pragma once

#include "tests/e2e.h"
#include "tuner/store/store.h"

// opened_store("%s/job.db", folder). The caller closes it.
static inline struct store *opened_store(const char *format, ...)
{
    va_list args;
    char *path = NULL;
    struct store *store;
    struct error err;
    struct environment e;
    va_start(args, format);
    assert_true(vasprintf(&path, format, args) >= 0);
    va_end(args);
    if (store_open(&store, path, false, &err)) fail_msg("%s", err.message);
    assert_int_equal(store_last_environment(store, &e, &err), 0);
    assert_int_equal(store_use_environment(store, &e, &err), 0);
    free(path);
    return store;
}

// A store's number of "ok" trials, its number of all other trials, and the reason of the last trial that is not "ok".
struct statuses {
    int64_t ok, others;
    char reason[256];
};

static inline int count_status(void *user, const struct trial *trial)
{
    struct statuses *s = user;
    if (trial->status == STATUS_OK) s->ok++;
    if (trial->status == STATUS_OK) return 0;
    s->others++;
    snprintf(s->reason, sizeof s->reason, "%s", trial->reason);
    return 0;
}

static inline struct statuses statuses(const char *folder, const char *name)
{
    struct store *store = opened_store("%s/%s", folder, name);
    struct statuses s = {0};
    struct error err;
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, count_status, &s, &err), 0);
    store_close(store);
    return s;
}
