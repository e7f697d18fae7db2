// For tests: stores a binary for every trial of a store, because the finals of replayed runs keep no binaries.
#pragma once

#include "tests/stored_text.h"
#include "tuner/store/binary.h"

struct kept_binaries {
    struct store *store;
    const char *entry;
};

static inline int keep_binary(void *user, const struct trial *trial)
{
    const struct kept_binaries *k = user;
    struct error err = {""};
    char hash[HASH_TEXT_SIZE], *bytes = test_text("\177ELF of trial %lld", (long long)trial->id);
    if (store_put_blob(k->store, bytes, strlen(bytes), hash, &err) ||
        store_set_trial_blob(k->store, trial->id, BINARY_BLOB, hash, &err))
        fail_msg("%s", err.message);
    char *document =
        test_text("{\"hash\":\"%s\",\"bytes\":%zu,\"symbols\":{\"%s\":\"x\"}}", hash, strlen(bytes), k->entry);
    assert_int_equal(put_text(k->store, trial->id, BINARY_DOCUMENT, document, &err), 0);
    return 0;
}

// `entry`: the entry of the only stage.
static inline void keep_binaries(const char *path, const char *entry)
{
    struct error err = {""};
    struct environment environment;
    struct kept_binaries k = {.entry = entry};
    if (store_open(&k.store, path, false, &err) || store_last_environment(k.store, &environment, &err) ||
        store_each(k.store, false, 0, STORE_WHOLE, keep_binary, &k, &err))
        fail_msg("%s", err.message);
    store_close(k.store);
}
