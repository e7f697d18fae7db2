// For tests: documents of a store as text.
#pragma once

#include "tests/testing.h"
#include "tuner/store/store.h"

static inline int put_text(struct store *store, int64_t trial, const char *kind, const char *text, struct error *err)
{
    json_t *document = test_json(json_parse(text, err));
    return store_put_document(store, trial, kind, document, err);
}
