// For tests: a store as a run has left it, with the environment that was used last.
#ifndef SWEETSPOT_TESTS_OPENED_STORE_H
#define SWEETSPOT_TESTS_OPENED_STORE_H

#include "tests/e2e.h"
#include "tuner/store/store.h"

// The caller closes it.
static inline struct store *opened_store(const char *path)
{
    struct store *store;
    struct error err;
    struct environment e;
    if (store_open(&store, path, false, &err)) fail_msg("%s", err.message);
    assert_int_equal(store_last_environment(store, &e, &err), 0);
    assert_int_equal(store_use_environment(store, &e, &err), 0);
    return store;
}

#endif
