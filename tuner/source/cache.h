// The compile cache: cubins with their figures, and shared libraries, by content. A file is written under a temporary
// name and renamed, the figures after it, with its size and hash and a hash of their own: what is damaged is not found.
#pragma once

#include "tuner/base/error.h"
#include "tuner/base/json.h"

// <folder>/ab/<key>.cubin for a key "ab...". malloc'ed.
char *cache_path(const char *folder, const char *key, const char *suffix);
// The stored figures, or NULL when there are none, or they or the cubin are not those that were stored. New reference.
// `suffix` is the file's: ".cubin".
json_t *cache_find(const char *folder, const char *key, const char *suffix);
int cache_add(const char *folder, const char *key, const char *suffix, const void *cubin, size_t size, json_t *figures,
              struct error *);
