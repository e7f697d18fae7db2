// The store's documents and blobs: all data except figures. They belong to an environment, a trial, or the whole store.

#include "tuner/base/clock.h"
#include "tuner/store/store_internal.h"

int store_put_document(struct store *store, int64_t trial, const char *kind, const json_t *document, struct error *err)
{
    sqlite3_stmt *put = store_statement(store, STATEMENT_PUT_DOCUMENT, err);
    if (!put) return -1;
    sqlite3_bind_int64(put, 1, store->environment);
    sqlite3_bind_int64(put, 2, trial);
    sqlite3_bind_text(put, 3, kind, -1, SQLITE_STATIC);
    sqlite3_bind_double(put, 4, clock_wall());
    sqlite3_bind_text(put, 5, json_dumps(document, JSON_COMPACT), -1, free);
    return store_run(store, put, err);
}

// Documents are few and small, so all are read first, and visit may use the store.
int store_each_document(struct store *store, int64_t trial, const char *kind, int64_t limit,
                        int (*visit)(void *user, double when, json_t *document), void *user, struct error *err)
{
    struct found {
        double when;
        json_t *document;
    } *all = NULL;
    size_t count = 0;
    sqlite3_stmt *query = store_statement(store, trial ? STATEMENT_TRIAL_DOCUMENTS : STATEMENT_DOCUMENTS, err);
    if (!query) return -1;
    sqlite3_bind_text(query, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(query, 2, trial ? trial : store->environment);
    sqlite3_bind_int64(query, 3, limit ? limit : -1);
    int result;
    while ((result = store_step(store, query, err)) > 0)
        memory_add(all, count) = (struct found){sqlite3_column_double(query, 0),
                                                json_parse((const char *)sqlite3_column_text(query, 1), err)};
    sqlite3_reset(query);
    sqlite3_clear_bindings(query);
    for (size_t i = 0; i < count; i++) {
        if (!result) result = visit(user, all[i].when, all[i].document);
        json_decref(all[i].document);
    }
    free(all);
    return result;
}

struct newest {
    json_t *document;
    double when;
};

static int keep_document(void *user, double when, json_t *document)
{
    *(struct newest *)user = (struct newest){json_incref(document), when};
    return 0;
}

json_t *store_get_document(struct store *store, int64_t trial, const char *kind, double *when, struct error *err)
{
    struct newest newest = {0};
    if (err) err->message[0] = 0;
    store_each_document(store, trial, kind, 1, keep_document, &newest, err);
    if (when && newest.document) *when = newest.when;
    return newest.document;
}

int store_put_blob(struct store *store, const void *bytes, size_t size, char hash[HASH_TEXT_SIZE], struct error *err)
{
    autorelease(store_reset) sqlite3_stmt *put = store_statement(store, STATEMENT_PUT_BLOB, err);
    if (!put) return -1;
    hash_content(bytes, size, hash);
    sqlite3_bind_text(put, 1, hash, -1, SQLITE_STATIC);
    sqlite3_bind_blob64(put, 2, size ? bytes : "", size, SQLITE_STATIC);
    return store_run(store, put, err);
}

int store_get_blob(struct store *store, const char *hash, const void **bytes, size_t *size, struct error *err)
{
    arena_release(&store->blob);
    autorelease(store_reset) sqlite3_stmt *get = store_statement(store, STATEMENT_GET_BLOB, err);
    if (!get) return -1;
    sqlite3_bind_text(get, 1, hash, -1, SQLITE_STATIC);
    int step = store_step(store, get, err);
    if (step <= 0) return step ? -1 : 1;
    char found[HASH_TEXT_SIZE];
    const void *stored = sqlite3_column_blob(get, 0); // NULL if it is empty
    *size = (size_t)sqlite3_column_bytes(get, 0);
    void *copy = arena_new(&store->blob, *size);
    if (*size) memcpy(copy, stored, *size);
    *bytes = copy;
    hash_content(copy, *size, found);
    if (!strcmp(found, hash)) return 0;
    return error_set(err, "the store '%s' is damaged: the bytes of blob %s do not match their hash", store->path, hash);
}

int store_set_trial_blob(struct store *store, int64_t trial, const char *kind, const char *hash, struct error *err)
{
    sqlite3_stmt *set = store_statement(store, STATEMENT_SET_TRIAL_BLOB, err);
    if (!set) return -1;
    sqlite3_bind_int64(set, 1, trial);
    sqlite3_bind_text(set, 2, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(set, 3, hash, -1, SQLITE_STATIC);
    return store_run(store, set, err);
}

int store_trial_blob(struct store *store, int64_t trial, const char *kind, char hash[HASH_TEXT_SIZE], struct error *err)
{
    autorelease(store_reset) sqlite3_stmt *get = store_statement(store, STATEMENT_TRIAL_BLOB, err);
    if (!get) return -1;
    sqlite3_bind_int64(get, 1, trial);
    sqlite3_bind_text(get, 2, kind, -1, SQLITE_STATIC);
    int step = store_step(store, get, err);
    if (step > 0) snprintf(hash, HASH_TEXT_SIZE, "%s", (const char *)sqlite3_column_text(get, 0));
    return step > 0 ? 0 : step ? -1 : 1;
}
