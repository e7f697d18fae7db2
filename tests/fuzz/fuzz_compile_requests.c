// The requests that sweetspot-compile reads, one per line. The compiler is a fake. Its log is the source code.
// Compiling fails if this contains the word "error", and times out if it contains "timeout". Paths that begin with
// "SOURCE" stand for a source file, and paths that begin with "CACHE" stand for a folder.
//
// Promise: every request is answered with a JSON object that has a status, and no memory is leaked. An answer from the
// cache has the result of the compilation.
#include "tests/fuzz/fuzz_json.h"

#define main compile_main
#include "tuner/compiler/main_compile.c" // NOLINT: includes the source for its static functions
#undef main

enum { REQUESTS = 4 };

static char source_path[700], cache_folder[700];

int nvrtc_version(char *out, size_t size, struct error *err)
{
    (void)err;
    snprintf(out, size, "nvrtc 13.0");
    return 0;
}

// Pretends to compile. The name expression itself is the symbol.
static int pretend(const char *log, size_t count, const char *const *entries, const char *const *symbols,
                   struct compilation *c, struct error *err)
{
    *c = (struct compilation){.log = text_copy(log), .warnings = compilation_warnings(log), .seconds = 0.1};
    c->result = strstr(log, "error") ? COMPILE_FAILED : strstr(log, "timeout") ? COMPILE_TIMED_OUT : COMPILED;
    if (c->result != COMPILED) return 0;
    c->entries = memory_try(count, sizeof *c->entries, err);
    c->cubin = text_copy("cubin");
    c->cubin_size = 5;
    for (size_t i = 0; i < count; i++) compilation_add(c, entries[i], symbols[i]);
    return 0;
}

int nvrtc_compile(const struct nvrtc_program *p, struct compilation *c, struct error *err)
{
    size_t length = strlen(p->name);
    for (size_t i = 0; i < p->option_count; i++) length += strlen(p->option[i]);
    for (size_t i = 0; i < p->header_count; i++) length += strlen(p->header_name[i]);
    if (length > 100000) return error_set(err, "too many options");
    return pretend(p->text, p->entry_count, p->entry, p->entry, c, err);
}

json_t *library_build(const struct compile_request *request, const char *home)
{
    (void)request;
    (void)home;
    return json_pack("{s:s, s:s}", "status", "error", "reason", "nothing is built here");
}

char *nvcc_symbol_marker(const char *entry, size_t index)
{
    return text_format("// %zu: %s", index, entry);
}

int nvcc_find(struct nvcc *n, const char *home, struct error *err)
{
    (void)home;
    (void)err;
    *n = (struct nvcc){.program = text_copy("nvcc")};
    snprintf(n->version, sizeof n->version, "nvcc 13.0.88");
    return 0;
}

void nvcc_release(struct nvcc *n)
{
    free(n->program);
}

int nvcc_write(const char *path, const char *text, struct error *err)
{
    return *path && *text ? 0 : error_set(err, "there is nothing to write");
}

int nvcc_compile(const struct nvcc *n, const char *unit, const struct text_list *options, size_t entry_count,
                 const char *const *entries, const char *const *symbols, double deadline, struct compilation *c,
                 struct error *err)
{
    size_t length = strlen(n->version);
    for (size_t i = 0; i < options->count; i++) length += strlen(options->list[i]);
    (void)deadline;
    if (length > 100000) return error_set(err, "too many options");
    return pretend(unit, entry_count, entries, symbols, c, err);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    snprintf(source_path, sizeof source_path, "%s/x.cu", fuzz_folder());
    snprintf(cache_folder, sizeof cache_folder, "%s/cache", fuzz_folder());
    FILE *file = fopen(source_path, "w");
    if (!file || fputs("__global__ void x() {}\n", file) < 0 || fclose(file)) abort();
    return 0;
}

// Replaces every string that stands for a file or a folder by the path of that file or folder, and any other path by a
// path that does not exist.
static void put_paths(json_t *value)
{
    static const char *const keys[] = {"source", "cache"};
    for (size_t i = 0; i < 2; i++) {
        const char *text = json_get_string(value, keys[i], NULL);
        if (!text) continue;
        bool known = !strncmp(text, "SOURCE", 6) || !strncmp(text, "CACHE", 5);
        json_object_set_new(value, keys[i], json_string(!known ? "/nowhere/x" : i ? cache_folder : source_path));
    }
    json_array_each(json_object_get(value, "include"), i, each)
        if (json_is_string(each) && strchr(json_string_value(each), '/')) json_string_set(each, "/nowhere");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text;
    struct error err = {""};
    for (int n = 0; n < REQUESTS && rest; n++) {
        autojson json_t *request = json_parse(strsep(&rest, "\n"), &err);
        if (!request) continue;
        put_paths(request);
        json_object_set_new(request, "op", json_string("compile")); // other answers have no status
        autojson json_t *answer = serve(request, "nvrtc 13.0"), *again = serve(request, "nvrtc 13.0");
        const char *status = json_get_string(answer, "status", "");
        FUZZ_CHECK(*status, "an answer without a status");
        FUZZ_CHECK(!strcmp(status, json_get_string(again, "status", "")), "%s, then %s", status,
                   json_get_string(again, "status", ""));
        FUZZ_CHECK(!json_get_bool(again, "cached", false) ||
                       json_equal(json_object_get(answer, "entries"), json_object_get(again, "entries")),
                   "the cache has other entries");
        autofree char *line = json_dumps(answer, JSON_COMPACT);
        FUZZ_CHECK(line, "an answer that is not JSON");
    }
    free(text);
    return 0;
}
