// Sources for `init`. A job is drafted for each of their kernels, without a compiler.
//
// Promise: every draft parses as a job file, and its only mistakes are its blanks. With answers (lines such as "//@
// size n 4096") and assumptions it parses too, unless an answer is refused.
#include "tests/fuzz/fuzz.h"

#include "tuner/init/draft.h"

static void answer(struct job_draft *draft, const char *source)
{
    for (const char *at = source; (at = strstr(at, "//@ ")); at++) {
        char what[16], name[64], value[256];
        if (sscanf(at + 4, "%15s %63s %255[^\n]", what, name, value) == 3)
            job_draft_answer(draft, what, strcmp(name, "-") ? name : "", value);
    }
}

static void check_draft(const struct cuda_file *file, const struct cuda_kernel *kernel, bool answers)
{
    static char path[600];
    struct job_draft draft;
    struct job *job = NULL;
    struct mistakes mistakes = {0};
    snprintf(path, sizeof path, "%s/draft.cfg", fuzz_folder());
    FILE *out = fopen(path, "w");
    if (!out) abort();
    job_draft_open(&draft, file, kernel, NULL);
    draft.dialog.assumes = answers;
    if (answers) answer(&draft, file->source);
    job_draft_write(out, &draft, "draft", "draft.cu");
    bool refused = draft.dialog.mistake != NULL;
    job_draft_release(&draft);
    if (fclose(out)) abort();
    if (refused) return;
    bool failed = job_load(path, &job, &mistakes);
    if (!answers) FUZZ_CHECK(failed, "a draft without blanks");
    FUZZ_CHECK(!failed || mistakes.count, "refused without a mistake");
    for (size_t i = 0; i < mistakes.count; i++)
        FUZZ_CHECK(answers ? strncmp(mistakes.list[i].text, "syntax error", 12) != 0
                           : strstr(mistakes.list[i].text, "still has to be filled in") != NULL,
                   "line %d: %s", mistakes.list[i].line, mistakes.list[i].text);
    mistakes_release(&mistakes);
    job_free(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { KERNELS_MOST = 4 };
    struct cuda_file file;
    cuda_file_init(&file, fuzz_text(data, size));
    for (size_t i = 0; i < file.kernel_count && i < KERNELS_MOST; i++) {
        check_draft(&file, &file.kernels[i], false);
        check_draft(&file, &file.kernels[i], true);
    }
    cuda_file_release(&file);
    return 0;
}
