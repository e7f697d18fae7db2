// A kernel's source and what it includes, as one content hash: trials are filed under it and the compile cache is keyed
// by it.
#ifndef SWEETSPOT_SOURCE_H
#define SWEETSPOT_SOURCE_H

#include <stddef.h>

#include "tuner/base/error.h"
#include "tuner/base/hash.h"

// Hashes the file and, transitively, every file that an #include line names and that is found beside the including file
// or in one of the folders. An include that is found in none of these is a vendor's: the compiler's version stands for
// it. Conditional compilation is ignored, so the hash may cover a file too many, never one too few. *text (malloc'ed,
// may be NULL) gets the file.
int source_hash(const char *path, char *const *include, size_t include_count, char hash[HASH_TEXT_SIZE], char **text,
                struct error *);

#endif
