// Content hashes: XXH3 of 128 bits (xxHash), as 32 hex digits. Not cryptographic: the compile cache need not resist
// attacks.
#pragma once

#include <stddef.h>

enum { HASH_TEXT_SIZE = 33 }; // 32 hex digits and NUL

struct hash;

struct hash *hash_new(void);
void hash_bytes(struct hash *, const void *data, size_t size);
// Adds a string and its length, so that "ab","c" differs from "a","bc". NULL counts as "".
void hash_text(struct hash *, const char *text);
// Writes the digest and frees the hash.
void hash_finish(struct hash *, char out[HASH_TEXT_SIZE]);
// The digest of just these bytes, which is the key of a blob in the store.
void hash_content(const void *data, size_t size, char out[HASH_TEXT_SIZE]);
