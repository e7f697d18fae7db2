// See compile_job.h.
#include "tuner/compiler/compile_job.h"

#include "tuner/base/base.h"
#include "tuner/base/hash.h"
#include "tuner/base/protocol.h"

enum { FIXED = 4 }; // options that come before all others

static void add(struct compile_job *j, const char *before, const char *value, const char *more)
{
    size_t room = strlen(before) + strlen(value) + strlen(more) + 1;
    char *text = arena_new(&j->memory, room);
    snprintf(text, room, "%s%s%s", before, value, more);
    j->option[j->option_count++] = text;
}

// What NVRTC is told.
static void list_options(struct compile_job *j, const char *home)
{
    const struct compile_request *r = j->asked;
    j->option =
        arena_new(&j->memory, (FIXED + 2 + r->option_count + r->include_count + r->define_count) * sizeof *j->option);
    add(j, "--gpu-architecture=", *r->arch ? r->arch : "sm_90a", "");
    add(j, "-std=" PROTOCOL_CXX_STANDARD, "", "");
    add(j, "--ptxas-options=-v", "", "");
    add(j, "-lineinfo", "", "");
    for (size_t i = 0; i < r->option_count; i++) add(j, r->options[i], "", "");
    for (size_t i = 0; i < r->include_count; i++) add(j, "-I", r->include[i], "");
    add(j, "-I", home, "/include");
    add(j, "-I", home, "/include/cccl");
    for (size_t i = 0; i < r->define_count; i++) {
        const char *name = arena_copy(&j->memory, r->defines[i].name);
        char *equals = arena_new(&j->memory, strlen(name) + 4);
        snprintf(equals, strlen(name) + 4, "-D%s=", name);
        add(j, equals, r->defines[i].value, "");
    }
}

void compile_job_release(struct compile_job *j)
{
    source_release(&j->source);
    arena_release(&j->memory);
    *j = (struct compile_job){0};
}

int compile_job_read(struct compile_job *j, const struct compile_request *asked, const char *home, struct error *err)
{
    const char *base = strrchr(asked->source, '/');
    *j = (struct compile_job){.asked = asked,
                              .name = base             ? base + 1
                                      : *asked->source ? asked->source
                                                       : "text.cu",
                              .request = {.path = *asked->source ? asked->source : NULL,
                                          .text = *asked->text ? asked->text : NULL,
                                          .option = asked->options,
                                          .option_count = asked->option_count,
                                          .include = asked->include,
                                          .include_count = asked->include_count,
                                          .host_headers = asked->host_headers}};
    if (!*asked->source && !*asked->text) return error_set(err, "the request has neither 'source' nor 'text'");
    list_options(j, home);
    return source_open(&j->source, &j->request, err);
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
    for (size_t i = 0; i < j->asked->entry_count; i++) hash_text(h, j->asked->entries[i]);
    hash_finish(h, key);
}
