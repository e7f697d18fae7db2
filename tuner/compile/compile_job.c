// See compile_job.h.
#include "tuner/compile/compile_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/hash.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"

enum { FIXED = 4 }; // options that come before all others

// The strings of a request's list, borrowed from it. NULL with a message; the caller frees.
static const char **strings(const json_t *request, const char *key, size_t *count, struct error *err)
{
    const json_t *list = json_object_get(request, key);
    const char **out = memory_try(json_array_size(list), sizeof *out, err);
    size_t i;
    json_t *value;
    *count = json_array_size(list);
    if (out && list && !json_is_array(list)) {
        error_set(err, "'%s' is not a list", key);
        goto fail;
    }
    json_array_foreach(list, i, value)
    {
        if (!out) return NULL;
        if (!json_is_string(value)) {
            error_set(err, "entry %zu of '%s' is not a string", i, key);
            goto fail;
        }
        out[i] = json_string_value(value);
    }
    return out;
fail:
    free(out);
    return NULL;
}

// What NVRTC is told, as a list like the request's.
static json_t *all_options(const json_t *request, const char *home, struct error *err)
{
    json_t *all = json_array(), *value, *defines = json_object_get(request, "defines");
    size_t i;
    const char *name;
    json_array_append_new(all, json_sprintf("--gpu-architecture=%s", json_get_string(request, "arch", "sm_90a")));
    json_array_append_new(all, json_string("-std=" PROTOCOL_CXX_STANDARD));
    json_array_append_new(all, json_string("--ptxas-options=-v"));
    json_array_append_new(all, json_string("-lineinfo"));
    json_array_extend(all, json_object_get(request, "options"));
    json_array_foreach(json_object_get(request, "include"), i, value)
        json_array_append_new(all, json_sprintf("-I%s", json_string_value(value)));
    json_array_append_new(all, json_sprintf("-I%s/include", home));
    json_array_append_new(all, json_sprintf("-I%s/include/cccl", home));
    json_object_foreach(defines, name, value)
    {
        if (!json_is_string(value)) {
            error_set(err, "the value of macro '%s' is not a string", name);
            json_decref(all);
            return NULL;
        }
        json_array_append_new(all, json_sprintf("-D%s=%s", name, json_string_value(value)));
    }
    // An element that jansson could not make (no memory, not UTF-8) is missing.
    size_t expected = FIXED + 2 + json_array_size(json_object_get(request, "options")) +
                      json_array_size(json_object_get(request, "include")) + json_object_size(defines);
    if (json_array_size(all) == expected) return all;
    error_set(err, "an option for the compiler is not UTF-8, or memory is exhausted");
    json_decref(all);
    return NULL;
}

void compile_job_release(struct compile_job *j)
{
    source_release(&j->source);
    free(j->option);
    free(j->entry);
    free(j->include);
    free(j->own);
    free(j->macro);
    free(j->file);
    json_decref(j->options);
    *j = (struct compile_job){0};
}

static int hash_files(const struct compile_job *j, char hash[HASH_TEXT_SIZE], struct error *err)
{
    struct hash *h = hash_new();
    int failed = 0;
    for (size_t i = 0; i < j->file_count && !failed; i++) {
        size_t size;
        char *content = text_read_file(j->file[i], &size), one[HASH_TEXT_SIZE];
        if (content)
            hash_content(content, size, one);
        else
            failed = error_set(err, "cannot read '%s': %s", j->file[i], strerror(errno));
        if (content) hash_text(h, one);
        free(content);
    }
    hash_finish(h, hash);
    if (!j->file_count) *hash = 0;
    return failed;
}

bool compile_job_files_same(const struct compile_job *j)
{
    char hash[HASH_TEXT_SIZE];
    struct error unused;
    return !hash_files(j, hash, &unused) && !strcmp(hash, j->files);
}

int compile_job_read(struct compile_job *j, const json_t *request, const char *home, struct error *err)
{
    const char *source = json_get_string(request, "source", NULL), *given = json_get_string(request, "text", NULL);
    const char *base = source ? strrchr(source, '/') : NULL;
    struct source_request *r = &j->request;
    *j = (struct compile_job){.name = base ? base + 1 : source ? source : "text.cu"};
    if (!(j->own = strings(request, "options", &r->option_count, err)) ||
        !(j->include = strings(request, "include", &r->include_count, err)) ||
        !(j->macro = strings(request, "macros", &r->macro_count, err)) ||
        !(j->entry = strings(request, "entries", &j->entry_count, err)) ||
        !(j->file = strings(request, "files", &j->file_count, err)) || hash_files(j, j->files, err) ||
        !(j->options = all_options(request, home, err)))
        return -1;
    json_t *list = json_pack("{s:O}", "options", j->options);
    j->option = strings(list, "options", &j->option_count, err);
    json_decref(list);
    if (!j->option) return -1;
    if (!given && !source) return error_set(err, "the request has neither 'source' nor 'text'");
    r->path = source;
    r->text = given;
    r->option = j->own;
    r->include = j->include;
    r->macro = j->macro;
    r->host_headers = json_get_bool(request, "host_headers", true);
    return source_open(&j->source, r, err);
}

char **compile_job_options(const struct compile_job *j, size_t *count)
{
    const struct source_request *r = &j->request;
    char **list = memory_new(j->option_count + j->source.option_count, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < FIXED; i++) list[n++] = text_copy(j->option[i]);
    for (size_t i = 0; i < j->source.option_count; i++) list[n++] = text_copy(j->source.option[i]);
    for (size_t i = FIXED + r->option_count + r->include_count; i < j->option_count; i++)
        list[n++] = text_copy(j->option[i]);
    *count = n;
    return list;
}

void compile_job_key(const struct compile_job *j, const char *version, char key[HASH_TEXT_SIZE])
{
    struct hash *h = hash_new();
    hash_text(h, j->source.hash);
    hash_text(h, version);
    for (size_t i = 0; i < j->option_count; i++) hash_text(h, j->option[i]);
    for (size_t i = 0; i < j->entry_count; i++) hash_text(h, j->entry[i]);
    if (*j->files) hash_text(h, j->files);
    hash_finish(h, key);
}
