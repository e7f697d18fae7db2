// Features that a job or its sources use and an architecture lacks. See check.h.
#include "tuner/base/base.h"
#include "tuner/check/check.h"
#include "tuner/source/cuda_tokens.h"

// Instructions of PTX and names of CUDA C++, the most special one first (PTX ISA 9.0, target notes).
static const struct {
    const char *text, *needs;
    int64_t compute;
    const char *family; // "sm_90a": only on this one
} needs[] = {
    {"wgmma.", "wgmma", 90, "sm_90a"},
    {"tcgen05.", "tcgen05", 100, "sm_100a"},
    {"setmaxnreg", "setmaxnreg", 90, "sm_90a"},
    {"cp.async.bulk", "TMA (cp.async.bulk)", 90, NULL},
    {"CUtensorMap", "TMA (tensor maps)", 90, NULL},
    {"griddepcontrol", "programmatic dependent launch", 90, NULL},
    {"cudaGridDependencySynchronize", "programmatic dependent launch", 90, NULL},
    {"barrier.cluster", "clusters", 90, NULL},
    {"mapa.", "clusters", 90, NULL},
    {"this_cluster", "clusters", 90, NULL},
    {"__cluster_dims__", "clusters", 90, NULL},
    {"mbarrier.", "mbarrier", 80, NULL},
    {"cp.async", "cp.async", 80, NULL},
    {"__pipeline_memcpy_async", "cp.async", 80, NULL},
    {"mma.sync.aligned.m16n8k16", "mma m16n8k16", 80, NULL},
    {"redux.sync", "redux.sync", 80, NULL},
};

void check_architecture(struct check *c)
{
    const struct job *job = c->job;
    if (c->limits->compute >= 90) return;
    for (size_t s = 0; s < job->stage_count; s++) {
        const struct stage *stage = &job->stages[s];
        for (size_t i = 0; i < stage->argument_count; i++)
            if (stage->arguments[i].map)
                check_add(&c->doubts, check_stage_location(job, s, "arguments", (int)i, ""),
                          "a tensor map needs compute capability 9.0 (sm_90); %s has none", c->arch);
        if (stage->overlap)
            check_add(&c->doubts, check_stage_location(job, s, "launch.overlap", -1, ""),
                      "'overlap' needs compute capability 9.0 (sm_90); launches on %s do not overlap", c->arch);
    }
}

// The first line of code that has this in a word or a text, such as one of assembler; 0: none has.
static int line_with(const char *text, const char *wanted)
{
    struct cuda_reader reader = cuda_reader_of(text);
    for (struct cuda_token t = cuda_next(&reader); t.kind != CUDA_END; t = cuda_next(&reader)) {
        const char *found = memmem(t.text, t.length, wanted, strlen(wanted));
        if (!found) continue;
        for (const char *p = t.text; p < found; p++) t.line += *p == '\n';
        return t.line;
    }
    return 0;
}

static void look_into(struct check *c, const char *path)
{
    char *text = text_read_file(path, NULL);
    for (size_t i = 0; text && i < sizeof needs / sizeof *needs; i++) {
        bool family = needs[i].family && strcmp(needs[i].family, c->arch) != 0;
        int line = c->limits->compute >= needs[i].compute && !family ? 0 : line_with(text, needs[i].text);
        if (!line) continue;
        mistakes_add_in(&c->doubts, path, line, "%s is used here, which needs %s%s; this is %s", needs[i].needs,
                        needs[i].family          ? needs[i].family
                        : needs[i].compute >= 90 ? "sm_90"
                                                 : "sm_80",
                        needs[i].family ? "" : " or later", c->arch);
        break; // the compiler says the rest
    }
    free(text);
}

void check_needs(struct check *c)
{
    for (size_t i = 0; i < c->template.file_count; i++) look_into(c, c->template.files[i]);
    for (size_t i = 0; i < c->reference.file_count; i++) look_into(c, c->reference.files[i]);
}
