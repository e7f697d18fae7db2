// See draft.h: asks the compiler about the kernel, with a value for each parameter. NVRTC is asked first, then nvcc.
#include "tuner/base/run_program.h"
#include "tuner/check/check.h"
#include "tuner/init/draft.h"
#include "tuner/setup/job_setup.h"
#include "tuner/setup/request.h"

enum { SECONDS = 120 };

// Gives the job macros that may let the source compile. Macros without a known value get the value `other`.
static void add_macros(const struct job_draft *d, int64_t other, struct job *job)
{
    const char *unknown = arena_format(d->memory, "%" PRId64, other);
    job->code.defines =
        arena_new(&job->file.memory, (d->parameter_count + d->define_count) * sizeof *job->code.defines);
    for (size_t i = 0; i < d->parameter_count; i++) {
        const struct draft_parameter *p = &d->parameters[i];
        job->code.defines[job->code.define_count++] =
            (struct macro){p->name, p->pragma   ? ""
                                    : p->values ? arena_format(d->memory, "%" PRId64, p->first)
                                                : unknown};
    }
    for (size_t i = 0; i < d->define_count; i++)
        job->code.defines[job->code.define_count++] = (struct macro){d->defines[i].name, unknown};
}

// Asks one compiler, with `other` as the value of unknown parameters. -1 with a message.
static int ask(struct job_draft *d, const char *source, struct worker *w, bool nvcc, int64_t other, const char *folder,
               struct error *err)
{
    struct job job = {
        .symbols = symbols_new(), .code.compiler = nvcc ? JOB_NVCC : JOB_NVRTC, .code.compile_timeout = SECONDS};
    job.space = space_new(job.symbols);
    job.others.reference.kind = IMPLEMENTATION_KERNEL;
    job.others.reference.path = source;
    job.others.reference.stage.entry = d->code.sample;
    add_macros(d, other, &job);
    signatures_release(&d->signatures);
    json_t *request = request_implementation(&job, &job.others.reference, "sm_90a", folder);
    int result = signatures_ask(&d->signatures, w, request, "sm_90a", folder, SECONDS + COMPILE_GRACE, err);
    arena_release(&job.file.memory);
    space_free(job.space);
    symbols_free(job.symbols);
    return result;
}

static void take(struct job_draft *d)
{
    const struct kernel_signature *s = &d->signatures.list[0];
    const struct cuda_kernel *k = d->kernel;
    bool whole = !strcmp(d->code.entry, d->code.sample);
    d->code.is_compiled = true;
    d->code.entry_known = whole && !s->problem;
    if (s->problem || s->parameter_count != d->argument_count) return;
    for (size_t i = 0; i < s->parameter_count; i++) {
        bool missing = false; // float in the sample is a placeholder
        for (size_t t = 0; t < k->template_count && !whole; t++)
            missing |= k->templates[t].is_type && !strcmp(k->templates[t].name, k->arguments[i].type);
        if (missing) continue;
        d->arguments[i].known = s->parameters[i];
        d->arguments[i].is_known = true;
    }
}

int job_draft_ask(struct job_draft *d, const char *source, char *const *compiler, struct error *err)
{
    static const int64_t others[] = {8, 1};
    char folder[PATH_MAX];
    struct worker w = WORKER_NONE;
    bool blanks = d->define_count > 0, found = false;
    for (size_t i = 0; i < d->parameter_count; i++) blanks |= !d->parameters[i].values;
    if (work_folder_make("init", folder, err)) return -1;
    int failed = worker_start(&w, "compiler", compiler, err);
    for (int nvcc = 0; nvcc < 2 && !found && !failed; nvcc++)
        for (size_t k = 0; k < (blanks && !nvcc ? 2 : 1) && !found && !failed; k++) {
            struct error ignored;
            failed = ask(d, source, &w, nvcc, others[k], folder, nvcc ? &ignored : err);
            found = !failed && !d->signatures.log;
            if (nvcc && !found) failed = 0; // nvcc may be missing
            if (!nvcc && !failed && !found && !d->code.log) {
                autofree char *line = compile_first_line(d->signatures.log);
                d->code.log = arena_copy(d->memory, line);
            }
            if (found && nvcc) d->code.nvcc = d->code.log;
        }
    if (found) {
        d->code.log = NULL;
        take(d);
    }
    worker_release(&w);
    work_folder_remove(folder);
    return failed ? -1 : 0;
}
