// See compile_job.h.
#include "tuner/compiler/compile_job.h"

enum { FIXED = 4 }; // options that come before all others

// Lists NVRTC's options.
static void list_options(struct compile_job *j, const char *home)
{
    const struct compile_request *r = j->asked;
    struct text_list *l = &j->options;
    text_list_add(l, text_format("--gpu-architecture=%s", *r->arch ? r->arch : "sm_90a"));
    text_list_add(l, text_copy("-std=" PROTOCOL_CXX_STANDARD));
    text_list_add(l, text_copy("--ptxas-options=-v"));
    text_list_add(l, text_copy("-lineinfo"));
    for (size_t i = 0; i < r->option_count; i++) text_list_add(l, text_copy(r->options[i]));
    for (size_t i = 0; i < r->include_count; i++) text_list_add(l, text_format("-I%s", r->include[i]));
    text_list_add(l, text_format("-I%s/include", home));
    text_list_add(l, text_format("-I%s/include/cccl", home));
    for (size_t i = 0; i < r->define_count; i++)
        text_list_add(l, text_format("-D%s=%s", r->defines[i].name, r->defines[i].value));
}

void compile_job_release(struct compile_job *j)
{
    source_release(&j->source);
    text_list_release(&j->options);
    *j = (struct compile_job){0};
}

int compile_job_read(struct compile_job *j, const struct compile_request *asked, const char *home, struct error *err)
{
    *j = (struct compile_job){.asked = asked,
                              .name = *asked->program.source ? text_file_name(asked->program.source) : "text.cu",
                              .request = {.path = *asked->program.source ? asked->program.source : NULL,
                                          .text = *asked->program.text ? asked->program.text : NULL,
                                          .option = asked->options,
                                          .option_count = asked->option_count,
                                          .include = asked->include,
                                          .include_count = asked->include_count,
                                          .host_headers = asked->program.host_headers,
                                          .edits = asked->program.edits,
                                          .edit_count = asked->program.edit_count}};
    if (!*asked->program.source && !*asked->program.text)
        return error_set(err, "the request has neither 'source' nor 'text'");
    list_options(j, home);
    return source_open(&j->source, &j->request, err);
}

const char **compile_job_options(const struct compile_job *j, size_t *count)
{
    const struct source_request *r = &j->request;
    const struct text_list *own = &j->options, *given = &j->source.options;
    const char **list = memory_new(own->count + given->count, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < FIXED; i++) list[n++] = own->list[i];
    for (size_t i = 0; i < given->count; i++) list[n++] = given->list[i];
    for (size_t i = FIXED + r->option_count + r->include_count; i < own->count; i++) list[n++] = own->list[i];
    *count = n;
    return list;
}

void compile_job_key(const struct compile_job *j, const char *version, char key[HASH_TEXT_SIZE])
{
    struct hash *h = hash_new();
    hash_text(h, j->source.hash);
    hash_text(h, version);
    for (size_t i = 0; i < j->options.count; i++) hash_text(h, j->options.list[i]);
    for (size_t i = 0; i < j->asked->entry_count; i++) hash_text(h, j->asked->entries[i]);
    hash_finish(h, key);
}
