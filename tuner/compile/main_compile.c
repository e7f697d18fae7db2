// sweetspot-compile: one of several workers that turn a source and a configuration's macros into a cubin. Speaks the
// protocol of protocol.h on stdin and stdout; knows nothing of jobs, spaces or devices.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/hash.h"
#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/compile/cache.h"
#include "tuner/compile/nvrtc.h"
#include "tuner/compile/source.h"
#include "tuner/trial/trial_field.h"

#ifndef SWEETSPOT_CUDA_HOME
#define SWEETSPOT_CUDA_HOME "/usr/local/cuda"
#endif

enum { MAX_OPTIONS = 512 };

struct compile_options {
    size_t count;
    const char *list[MAX_OPTIONS];
    char *owned[MAX_OPTIONS];
};

// Takes the text.
static void add_option(struct compile_options *o, char *text)
{
    if (o->count == MAX_OPTIONS) {
        free(text);
        return;
    }
    o->owned[o->count] = text;
    o->list[o->count++] = text;
}

static void collect_options(const json_t *request, struct compile_options *o)
{
    size_t i;
    json_t *value;
    const char *name, *home = getenv("CUDA_HOME");
    if (!home || !*home) home = SWEETSPOT_CUDA_HOME;
    add_option(o, text_format("--gpu-architecture=%s", json_get_string(request, "arch", "sm_90a")));
    add_option(o, text_copy("-std=c++17"));
    add_option(o, text_copy("--ptxas-options=-v"));
    add_option(o, text_copy("-lineinfo"));
    json_array_foreach(json_object_get(request, "options"), i, value)
        add_option(o, text_copy(json_string_value(value)));
    json_array_foreach(json_object_get(request, "include"), i, value)
        add_option(o, text_format("-I%s", json_string_value(value)));
    add_option(o, text_format("-I%s/include", home));
    add_option(o, text_format("-I%s/include/cccl", home));
    json_object_foreach(json_object_get(request, "defines"), name, value)
        add_option(o, text_format("-D%s=%s", name, json_string_value(value)));
}

static json_t *refuse(const char *status, const char *reason)
{
    return json_pack("{s:s, s:s%}", "status", status, "reason", reason, strnlen(reason, 4000));
}

static json_t *describe(const struct compilation *c)
{
    json_t *entries = json_array(), *warnings = json_array();
    for (size_t i = 0; i < c->entry_count; i++) {
        const struct entry_facts *f = &c->entries[i];
        json_t *entry = json_pack("{s:s, s:s}", "entry", f->entry, "symbol", f->symbol);
        trial_write_answer(FIELD_STAGE, FIELD_COMPILER, &f->figures, entry);
        json_array_append_new(entries, entry);
    }
    if (*c->warnings) json_array_append_new(warnings, json_string(c->warnings));
    return json_pack("{s:s, s:f, s:o, s:o}", "status", "ok", "seconds", c->seconds, "entries", entries, "warnings",
                     warnings);
}

// The first error line with its place, then the rest: what a person wants to read first.
static const char *first_error(const char *log)
{
    const char *error = strstr(log, "error");
    if (!error) return log;
    while (error > log && error[-1] != '\n') error--;
    return error;
}

static json_t *compile(const json_t *request, const char *version)
{
    struct error err;
    struct compile_options options = {0};
    char hash[HASH_TEXT_SIZE] = "", *text = NULL, *include[MAX_OPTIONS];
    const char *source = json_get_string(request, "source", NULL), *given = json_get_string(request, "text", NULL);
    const char *expected = json_get_string(request, "source_hash", NULL),
               *cache = json_get_string(request, "cache", NULL);
    const char *entries[64];
    size_t include_count = 0, entry_count = 0, i;
    json_t *value, *answer = NULL;

    json_array_foreach(json_object_get(request, "include"), i, value) if (include_count < MAX_OPTIONS)
        include[include_count++] = (char *)(uintptr_t)json_string_value(value);
    json_array_foreach(json_object_get(request, "entries"), i, value) if (entry_count < 64) entries[entry_count++] =
        json_string_value(value);
    if (given) {
        text = text_copy(given);
        struct hash *h = hash_new();
        hash_text(h, given);
        hash_finish(h, hash);
    } else if (!source) {
        return refuse("error", "the request has neither 'source' nor 'text'");
    } else if (source_hash(source, include, include_count, hash, &text, &err)) {
        return refuse("error", err.message);
    } else if (expected && strcmp(expected, hash)) {
        free(text);
        return refuse("source_changed", source);
    }

    collect_options(request, &options);
    char key[HASH_TEXT_SIZE];
    struct hash *h = hash_new();
    hash_text(h, hash);
    hash_text(h, version);
    for (i = 0; i < options.count; i++) hash_text(h, options.list[i]);
    for (i = 0; i < entry_count; i++) hash_text(h, entries[i]);
    hash_finish(h, key);

    answer = cache ? cache_find(cache, key) : NULL;
    bool cached = answer != NULL;
    if (!cached) {
        struct compilation c;
        const char *base = source ? strrchr(source, '/') : NULL;
        if (nvrtc_compile(text,
                          base     ? base + 1
                          : source ? source
                                   : "text.cu",
                          options.count, options.list, entry_count, entries, json_get_number(request, "deadline", 0),
                          &c, &err)) {
            answer = refuse("compile_error", err.message);
        } else {
            if (c.result == COMPILED) {
                answer = describe(&c);
                if (cache && cache_add(cache, key, c.cubin, c.cubin_size, answer, &err)) {
                    json_decref(answer);
                    answer = refuse("error", err.message);
                }
            } else if (c.result == COMPILE_TIMED_OUT) {
                answer = refuse("compile_timeout", "still compiling at the deadline");
            } else {
                answer = refuse("compile_error", first_error(c.log));
            }
            compilation_release(&c);
        }
    }
    if (cache && !strcmp(json_get_string(answer, "status", ""), "ok")) {
        char *path = cache_path(cache, key, ".cubin");
        json_object_set_new(answer, "cubin", json_string(path));
        free(path);
    }
    json_object_set_new(answer, "cached", json_boolean(cached));
    for (i = 0; i < options.count; i++) free(options.owned[i]);
    free(text);
    return answer;
}

int main(void)
{
    struct error err;
    char version[64], *line = NULL;
    size_t room = 0;
    setenv("CUDA_CACHE_DISABLE", "1",
           1); // NVRTC 13 keeps a cache of its own, and what it answers from there comes without ptxas's figures
    if (nvrtc_version(version, sizeof version, &err)) {
        fprintf(stderr, "sweetspot-compile: %s\n", err.message);
        return EXIT_ENVIRONMENT;
    }
    while (getline(&line, &room, stdin) > 0) {
        json_t *request = json_parse(line, &err), *answer;
        const char *op = json_get_string(request, "op", "");
        if (!request)
            answer = refuse("error", err.message);
        else if (!strcmp(op, "hello"))
            answer = json_pack("{s:s}", "compiler", version);
        else if (!strcmp(op, "compile"))
            answer = compile(request, version);
        else
            answer = refuse("error", "unknown op");
        if (!answer) answer = refuse("error", "cannot describe the result"); // a log that is not UTF-8
        json_object_set_new(answer, "id", json_integer(json_get_integer(request, "id", -1)));
        int failed = json_write_line(STDOUT_FILENO, answer, &err);
        json_decref(answer);
        json_decref(request);
        if (failed) break;
    }
    free(line);
    return EXIT_DONE;
}
