// See job_triton.h.
#include "tuner/job/job_triton.h"

#include <string.h>
#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/base/record.h"
#include "tuner/job/job_parts.h"

enum { TRITON_WARPS_MOST = 32, TRITON_SHARED_MOST = 1 << 20 };

struct triton_version {
    const char *version;
};
static const struct record_field version_fields[] = {{"triton_version", RECORD_MEMBER(struct triton_version, version)},
                                                     {0}};
static const struct record version_record = {"Triton's metadata", sizeof(struct triton_version), version_fields, NULL};

struct triton_metadata {
    const char *name;
    int num_warps, num_ctas, shared;
    int64_t global_scratch_size, profile_scratch_size; // bytes for each block; -1: the kernel has no such argument
    const json_t *tensordesc_meta;
};

#define METADATA(member) RECORD_MEMBER(struct triton_metadata, member)
static const struct record_field metadata_fields[] = {
    {"name", METADATA(name), .flags = RECORD_REQUIRED},
    {"num_warps", METADATA(num_warps), .low = 1, .high = TRITON_WARPS_MOST, .flags = RECORD_REQUIRED},
    {"num_ctas", METADATA(num_ctas), .fallback = 1},
    {"shared", METADATA(shared), .low = 0, .high = TRITON_SHARED_MOST, .flags = RECORD_REQUIRED},
    {"global_scratch_size", METADATA(global_scratch_size), .fallback = -1},
    {"profile_scratch_size", METADATA(profile_scratch_size), .fallback = -1},
    {"tensordesc_meta", METADATA(tensordesc_meta)},
    {0}};
static const struct record metadata_record = {"Triton's metadata", sizeof(struct triton_metadata), metadata_fields,
                                              NULL};

static struct expr *constant(struct job *job, int64_t value)
{
    struct error err;
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return job_parse(job, text, &err);
}

// The kernel has a pointer argument for each kind of scratch memory in its metadata, even if it needs no such memory.
static int add_scratch(struct job *job, struct stage *stage, const struct triton_metadata *m, struct error *err)
{
    const int64_t bytes[] = {m->global_scratch_size, m->profile_scratch_size};
    static const char *const names[] = {"global_scratch", "profile_scratch"};
    enum { KINDS = sizeof names / sizeof *names };
    struct argument *all = job_new(job, stage->argument_count + KINDS, sizeof *all);
    memcpy(all, stage->arguments, stage->argument_count * sizeof *all);
    stage->arguments = all;
    for (size_t i = 0; i < KINDS; i++) {
        if (bytes[i] < 0) continue;
        if (bytes[i] > 0)
            return error_set(err, "the kernel needs %" PRId64 " bytes of %s for each block, which is not supported",
                             bytes[i], names[i]);
        if (stage->argument_count == JOB_MAX_ARGUMENTS) return error_set(err, "too many arguments");
        all[stage->argument_count++] =
            (struct argument){.buffer = -1, .name = names[i], .type = ELEMENT_U64, .value = constant(job, 0)};
    }
    return 0;
}

// If an implementation has no arguments of its own, gives it the job's current arguments.
static void keep_arguments(const struct job *job, struct implementation *of)
{
    const struct stage stage = job_stage_of(job, of);
    of->stage.arguments = stage.arguments;
    of->stage.argument_count = stage.argument_count;
}

static int follow(struct job *job, const struct triton_metadata *m, struct error *err)
{
    struct stage *stage = job->stages;
    if (job->stage_count != 1 || stage->operation) return error_set(err, "the job must launch a single kernel");
    if (m->num_ctas != 1) return error_set(err, "clusters of blocks (num_ctas = %d) are not supported", m->num_ctas);
    if (m->tensordesc_meta && json_array_size(m->tensordesc_meta))
        return error_set(err, "tensor descriptors are not supported; compile the kernel with plain pointers");
    keep_arguments(job, &job->others.reference);
    for (size_t i = 0; i < job->others.baseline_count; i++) keep_arguments(job, &job->others.baselines[i]);
    stage->entry = job_copy(job, m->name);
    stage->block[0] = constant(job, 32 * (int64_t)m->num_warps);
    stage->block[1] = stage->block[2] = NULL;
    stage->shared = constant(job, m->shared);
    return add_scratch(job, stage, m, err);
}

int job_follow_triton(struct job *job, const char *binary, struct error *err)
{
    const char *slash = strrchr(binary, '/'), *dot = strrchr(slash ? slash : binary, '.');
    autofree char *path = text_format("%.*s.json", (int)(dot ? dot - binary : (ptrdiff_t)strlen(binary)), binary);
    autorelease(arena_release) struct arena memory = {0};
    struct triton_version triton;
    struct triton_metadata metadata;
    if (access(path, F_OK) != 0) return 0;
    autofree char *text = input_file_read(path, INPUT_FILE_TEXT_MOST, NULL, err);
    if (!text) return -1;
    autojson json_t *document = json_parse(text, err);
    if (!document || record_read(&version_record, document, &triton, &memory, err) || !*triton.version)
        return 0; // the file is not Triton's
    if (record_read(&metadata_record, document, &metadata, &memory, err) || follow(job, &metadata, err))
        return error_prefix(err, "%s", path);
    return 0;
}
