// The compile cache: cubins with ptxas's figures, by content. A file is written under a temporary name and renamed, the
// figures after the cubin, so that what is found is whole.
#ifndef SWEETSPOT_CACHE_H
#define SWEETSPOT_CACHE_H

#include "tuner/base/error.h"
#include "tuner/base/json.h"

// <folder>/ab/<key>.cubin for a key "ab...". malloc'ed.
char *cache_path(const char *folder, const char *key, const char *suffix);
// The stored figures, or NULL when there are none (or the cubin is gone). New reference.
json_t *cache_find(const char *folder, const char *key);
int cache_add(const char *folder, const char *key, const void *cubin, size_t size, const json_t *figures,
              struct error *);

#endif
