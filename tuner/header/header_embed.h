// Binaries next to a header: the cubins that a final stored (tuner/store/binary.h), written as C arrays into <header
// without .h>_binary.c. The hash of an array's bytes is in the array's name and in a comment of the file. When a header
// is merged, the binaries of other devices are found in the file by this hash.
#pragma once

#include "tuner/base/json.h"
#include "tuner/store/store.h"

struct embedded_binary {
    char hash[HASH_TEXT_SIZE];
    unsigned char *bytes;
    size_t size;
};

struct binary_list { // zeroed: empty
    size_t count;
    struct embedded_binary *list; // without duplicates
};

void binary_list_release(struct binary_list *);

// The result of binary_list_take if the store has no binary of the trial.
enum { BINARY_MISSING = 1 };

// Reads a trial's binary from the store and names it in the section. Returns 0, or BINARY_MISSING or -1 with a message.
int binary_list_take(struct binary_list *, json_t *section, struct store *, int64_t trial, const json_t *device,
                     struct error *);

// A section's binary, or NULL.
const struct embedded_binary *binary_list_of(const struct binary_list *, const json_t *section);

// Adds the binaries of an existing file, if there is one. The parser reads `size` bytes from the text that begins with
// the mark of a binary. -1 with a message if the file is not a file of binaries.
typedef unsigned char *binary_parser(const char *text, size_t size);
int binary_list_read(struct binary_list *, const char *path, binary_parser *, struct error *);
void header_put_binary_mark(FILE *, const struct embedded_binary *);

// Writes the binaries of all sections as arrays, with their texts for sweetspot_runtime.c, and writes
// sweetspot_runtime.c next to them. Writes nothing if no section has a binary. Binaries that are not in the list are
// added to it from the existing file. -1 with a message, also if the existing file is not a file of binaries.
int header_embed_write(const char *header, const json_t *sections, struct binary_list *, struct error *);

// Writes the sections' kernels into a *.sweetspot file for sweetspot_runtime.c. -1 with a message.
int header_kernels_write(const char *path, const json_t *sections, const struct binary_list *, struct error *);

// Writes a trial's binary into a file. The binary must be a single cubin. Returns the same as binary_list_take.
int header_cubin_write(const char *path, struct store *, int64_t trial, struct error *);
