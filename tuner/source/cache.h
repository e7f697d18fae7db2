// The compile cache: cubins with their figures, and shared libraries, keyed by content. A file is written under a
// temporary name and renamed. Its figures are written afterwards. They contain the file's size and hash, and their own
// hash, so damaged entries are ignored.
#pragma once

#include "tuner/base/error.h"
#include "tuner/base/json.h"

// <folder>/ab/<key>.cubin for a key "ab...". malloc'ed.
char *cache_path(const char *folder, const char *key, const char *suffix);
// Returns the stored figures, or NULL if there are none, or if they or the cubin were changed later. New reference.
// `suffix`: the file's suffix, such as ".cubin".
json_t *cache_find(const char *folder, const char *key, const char *suffix);
int cache_add(const char *folder, const char *key, const char *suffix, const void *cubin, size_t size, json_t *figures,
              struct error *);
