// The store's documents and blobs: data of an environment, a trial, or the whole store that is not a figure.

#include "tuner/base/base.h"
#include "tuner/base/clock.h"
#include "tuner/store/store_internal.h"

// trial 0: of the environment
static int put_document(struct store *store, int64_t trial, const char *kind, const char *json, struct error *err)
{
    sqlite3_stmt *put = store_statement(store, STATEMENT_PUT_DOCUMENT, err);
    if (!put) return -1;
    sqlite3_bind_int64(put, 1, store->environment);
    sqlite3_bind_int64(put, 2, trial);
    sqlite3_bind_text(put, 3, kind, -1, SQLITE_STATIC);
    sqlite3_bind_double(put, 4, clock_wall());
    sqlite3_bind_text(put, 5, json, -1, SQLITE_STATIC);
    return store_run(store, put, err);
}

int store_put_document(struct store *store, const char *kind, const char *json, struct error *err)
{
    return put_document(store, 0, kind, json, err);
}

int store_put_trial_document(struct store *store, int64_t trial, const char *kind, const char *json, struct error *err)
{
    return put_document(store, trial, kind, json, err);
}

// Documents are few and small: all are read first, so that visit may use the store.
static int each_document(struct store *store, enum statement which, const char *kind, int64_t owner, int64_t limit,
                         int (*visit)(void *user, double when, const char *json), void *user, struct error *err)
{
    struct found {
        struct found *next;
        double when;
        const char *json;
    } *first = NULL, **end = &first;
    struct arena memory = {NULL};
    sqlite3_stmt *query = store_statement(store, which, err);
    if (!query) return -1;
    sqlite3_bind_text(query, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(query, 2, owner);
    sqlite3_bind_int64(query, 3, limit ? limit : -1);
    int result;
    while ((result = store_step(store, query, err)) > 0) {
        struct found *found = arena_new(&memory, sizeof *found);
        found->when = sqlite3_column_double(query, 0);
        found->json = arena_copy(&memory, (const char *)sqlite3_column_text(query, 1));
        *end = found;
        end = &found->next;
    }
    sqlite3_reset(query);
    sqlite3_clear_bindings(query);
    for (; first && !result; first = first->next) result = visit(user, first->when, first->json);
    arena_release(&memory);
    return result;
}

int store_each_document(struct store *store, const char *kind, int64_t limit,
                        int (*visit)(void *user, double when, const char *json), void *user, struct error *err)
{
    return each_document(store, STATEMENT_DOCUMENTS, kind, store->environment, limit, visit, user, err);
}

struct newest {
    struct arena *memory;
    const char *json;
    double when;
};

static int keep_document(void *user, double when, const char *json)
{
    struct newest *newest = user;
    newest->json = arena_copy(newest->memory, json);
    newest->when = when;
    return 0;
}

static int get_document(struct store *store, enum statement which, const char *kind, int64_t owner, const char **json,
                        double *when, struct error *err)
{
    arena_release(&store->document);
    struct newest newest = {.memory = &store->document};
    if (each_document(store, which, kind, owner, 1, keep_document, &newest, err)) return -1;
    *json = newest.json;
    if (when) *when = newest.when;
    return newest.json ? 0 : 1;
}

int store_get_document(struct store *store, const char *kind, const char **json, double *when, struct error *err)
{
    return get_document(store, STATEMENT_DOCUMENTS, kind, store->environment, json, when, err);
}

int store_get_trial_document(struct store *store, int64_t trial, const char *kind, const char **json, double *when,
                             struct error *err)
{
    return get_document(store, STATEMENT_TRIAL_DOCUMENTS, kind, trial, json, when, err);
}

int store_put_blob(struct store *store, const void *bytes, size_t size, char hash[HASH_TEXT_SIZE], struct error *err)
{
    sqlite3_stmt *put = store_statement(store, STATEMENT_PUT_BLOB, err);
    if (!put) return -1;
    hash_content(bytes, size, hash);
    sqlite3_bind_text(put, 1, hash, -1, SQLITE_STATIC);
    sqlite3_bind_blob64(put, 2, size ? bytes : "", size, SQLITE_STATIC);
    int status = store_run(store, put, err);
    sqlite3_clear_bindings(put);
    return status;
}

int store_get_blob(struct store *store, const char *hash, const void **bytes, size_t *size, struct error *err)
{
    arena_release(&store->blob);
    sqlite3_stmt *get = store_statement(store, STATEMENT_GET_BLOB, err);
    if (!get) return -1;
    sqlite3_bind_text(get, 1, hash, -1, SQLITE_STATIC);
    int step = store_step(store, get, err), result = step > 0 ? 0 : step ? -1 : 1;
    if (!result) {
        char found[HASH_TEXT_SIZE];
        const void *stored = sqlite3_column_blob(get, 0); // NULL where it is empty
        *size = (size_t)sqlite3_column_bytes(get, 0);
        void *copy = arena_new(&store->blob, *size);
        if (*size) memcpy(copy, stored, *size);
        *bytes = copy;
        hash_content(copy, *size, found);
        if (strcmp(found, hash) != 0)
            result = error_set(err, "the store '%s' is damaged: the bytes of blob %s do not match their hash",
                               store->path, hash);
    }
    sqlite3_reset(get);
    sqlite3_clear_bindings(get);
    return result;
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
    sqlite3_stmt *get = store_statement(store, STATEMENT_TRIAL_BLOB, err);
    if (!get) return -1;
    sqlite3_bind_int64(get, 1, trial);
    sqlite3_bind_text(get, 2, kind, -1, SQLITE_STATIC);
    int step = store_step(store, get, err);
    if (step > 0) snprintf(hash, HASH_TEXT_SIZE, "%s", (const char *)sqlite3_column_text(get, 0));
    sqlite3_reset(get);
    return step > 0 ? 0 : step ? -1 : 1;
}
