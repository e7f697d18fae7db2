// Cubins, which are ELF files: the line table, the variables of a module, and the size of a kernel's code. The first
// line of the input is the kernel's name, the rest the cubin.
//
// Promise: every input is either read or refused with a message, and nothing beyond its end is read. A location has a
// file and a line, and there are never more locations than the table says.
#include "tests/fuzz/fuzz.h"

#include "tuner/compiler/compilation.h"
#include "tuner/counting/linetable.h"
#include "tuner/gpu/module_state.h"

static int visit(void *user, const char *name, size_t bytes, bool constant, struct error *err)
{
    (void)err;
    (void)constant;
    *(size_t *)user += strlen(name) + (bytes > 0);
    return 0;
}

static void read_lines(const void *cubin, size_t size, const char *symbol)
{
    struct linetable *table = NULL;
    struct error err = {""};
    if (linetable_read(&table, cubin, size, symbol, &err)) {
        FUZZ_CHECK(*err.message, "refused without a message");
        return;
    }
    size_t depth = linetable_depth(table);
    struct source_place *places = calloc(depth + 1, sizeof *places);
    for (uint64_t offset = 0; offset < 4096; offset += 16) {
        size_t count = linetable_find(table, offset, places);
        FUZZ_CHECK(count <= depth, "%zu places, %zu promised", count, depth);
        for (size_t i = 0; i < count; i++)
            FUZZ_CHECK(strlen(places[i].file) < SIZE_MAX && strlen(places[i].directory) < SIZE_MAX, "no name");
    }
    linetable_find(table, UINT64_MAX, places);
    free(places);
    linetable_free(table);
}

static void read_code(const char *symbol, const void *cubin, size_t size)
{
    struct compilation c = {.log = strdup(""), .warnings = strdup(""), .cubin = malloc(size), .cubin_size = size};
    memcpy(c.cubin, cubin, size);
    c.entries = calloc(1, sizeof *c.entries);
    compilation_add(&c, symbol, symbol);
    compilation_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    struct error err;
    bool heap, prints;
    size_t seen = 0;
    if (!end) return 0;
    char *symbol = fuzz_text(data, (size_t)(end - data));
    size_t left = size - (size_t)(end + 1 - data);
    // A separate allocation, as in the worker, so that AddressSanitizer knows its end.
    uint8_t *cubin = malloc(left ? left : 1);
    memcpy(cubin, end + 1, left);
    read_lines(cubin, left, symbol);
    module_state_scan(cubin, left, &heap, &prints, visit, &seen, &err);
    if (left) read_code(symbol, cubin, left);
    free(cubin);
    free(symbol);
    return 0;
}
