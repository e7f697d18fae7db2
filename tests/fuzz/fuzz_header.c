// Reads headers that sweetspot generated earlier, merges them and renders them again. Their sections are JSON in
// comments. The input is two headers with a line "====" between them: an old one, and one whose sections are merged
// into it.
//
// Promise: every input is either read or refused with a message. Sections that were read can be merged and rendered, or
// are refused. Reading the rendered header gives the same sections.
#include "tests/fuzz/fuzz_json.h"

#include "tuner/base/json.h"
#include "tuner/header/header.h"
#include "tuner/header/header_parts.h"

static void render(json_t *sections)
{
    struct error err = {""};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    int failed = header_render(file, sections, &err);
    fclose(file);
    FUZZ_CHECK(!failed || *err.message, "refused without a message");
    autojson json_t *again = failed ? NULL : header_read(fuzz_file((const uint8_t *)text, size), &err);
    FUZZ_CHECK(failed || again, "%s", err.message);
    FUZZ_CHECK(failed || json_array_size(again) == json_array_size(sections), "%zu sections, then %zu",
               json_array_size(sections), json_array_size(again));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char between[] = "\n====\n";
    struct error err = {""};
    const uint8_t *middle = memmem(data, size, between, sizeof between - 1);
    size_t first = middle ? (size_t)(middle - data) : size, second = middle ? first + sizeof between - 1 : size;
    json_t *old = header_read(fuzz_file(data, first), &err), *fresh = NULL;
    FUZZ_CHECK(old || *err.message, "refused without a message");
    if (old) render(old);
    if (old && second < size) fresh = header_read(fuzz_file(data + second, size - second), &err);
    if (fresh && !header_merge(old, fresh, &err)) render(old);
    json_decref(old);
    json_decref(fresh);
    return 0;
}
