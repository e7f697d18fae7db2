// The cubins of a decided final, kept in the store. Thus the measured binary is the one that ships, and the compile
// cache may be deleted.
//
// A cubin is kept for every candidate that passed. The GPU worker reports the hash of the bytes that it loaded,
// verified and timed; bytes with another hash are not kept. In addition to the blob, a document of the trial has the
// symbol of each entry: {"hash":"..","bytes":9216,"symbols":{"gemm<float, 4>":"_Z4gemm.."}}.
#include <errno.h>

#include "tuner/base/hash.h"
#include "tuner/final/final.h"
#include "tuner/store/binary.h"

struct binary {
    const char *hash;
    size_t bytes;
    const json_t *symbols; // name -> symbol
};

static const struct record_field binary_fields[] = {{"hash", RECORD_MEMBER(struct binary, hash)},
                                                    {"bytes", RECORD_MEMBER(struct binary, bytes)},
                                                    {"symbols", RECORD_MEMBER(struct binary, symbols)},
                                                    {0}};
static const struct record binary_record = {"a binary", sizeof(struct binary), binary_fields, NULL};

static json_t *describe(const struct compiled *c, const char *hash, size_t bytes)
{
    autojson json_t *symbols = json_object();
    for (size_t i = 0; i < c->entry_count; i++) {
        autofree char *name = binary_symbol_name(c->entries[i].unit, c->entries[i].entry);
        json_object_set_new(symbols, name, json_string(c->entries[i].symbol));
    }
    return record_write(&binary_record, &(struct binary){hash, bytes, symbols});
}

static int keep(struct final_run *f, const struct task *t, const char *image, size_t bytes, const char *proved)
{
    char hash[HASH_TEXT_SIZE];
    struct error err;
    hash_content(image, bytes, hash);
    if (strcmp(hash, proved) != 0) {
        display_log(f->with.display,
                    "the cubin of trial %" PRId64 " is not kept: '%s' has changed since it was measured", t->trial,
                    t->compiled.cubin);
        return 0;
    }
    autojson json_t *document = describe(&t->compiled, hash, bytes);
    int failed = store_put_blob(f->with.store, image, bytes, hash, &err) ||
                 store_set_trial_blob(f->with.store, t->trial, BINARY_BLOB, hash, &err) ||
                 store_put_document(f->with.store, t->trial, BINARY_DOCUMENT, document, &err);
    if (failed) fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    return failed;
}

void final_keep_binaries(struct final_run *f, const struct final_entries *entries)
{
    for (size_t i = 0; i < entries->count && !f->with.pool->replay; i++) {
        const struct final_entry_answer *e = &entries->list[i].answer;
        const struct task *t = final_find(f, e->trial);
        size_t bytes;
        if (!t || !t->compiled.cubin || !final_passed(e)) continue;
        autofree char *image = *e->cubin_hash ? text_read_file(t->compiled.cubin, &bytes) : NULL;
        int failed = 0;
        if (image)
            failed = keep(f, t, image, bytes, e->cubin_hash);
        else
            display_log(f->with.display, "the cubin of trial %" PRId64 " is not kept: %s", t->trial,
                        *e->cubin_hash ? strerror(errno) : "the GPU worker did not report which bytes it ran");
        if (failed) return;
    }
}
