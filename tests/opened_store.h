// For tests: a store as a run has left it, with the environment that was used last.
#ifndef SWEETSPOT_TESTS_OPENED_STORE_H
#define SWEETSPOT_TESTS_OPENED_STORE_H

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

#endif
