// Sources of `init`: the draft of each of their kernels, without a compiler.
//
// Promise: every draft parses as a job file, and nothing is wrong with it but that it has blanks.
#include "tests/fuzz/fuzz.h"

#include "tuner/init/draft.h"

static void check_draft(const struct cuda_file *file, const struct cuda_kernel *kernel)
{
    static char path[600];
    struct job_draft draft;
    struct job *job;
    struct mistakes mistakes = {0};
    snprintf(path, sizeof path, "%s/draft.cfg", fuzz_folder());
    FILE *out = fopen(path, "w");
    if (!out) abort();
    job_draft_open(&draft, file, kernel, NULL);
    job_draft_write(out, &draft, "draft", "draft.cu");
    job_draft_release(&draft);
    if (fclose(out)) abort();
    FUZZ_CHECK(job_load(path, &job, &mistakes), "a draft without blanks");
    FUZZ_CHECK(mistakes.count, "refused without a mistake");
    for (size_t i = 0; i < mistakes.count; i++)
        FUZZ_CHECK(strstr(mistakes.list[i].text, "is left to fill in"), "line %d: %s", mistakes.list[i].line,
                   mistakes.list[i].text);
    mistakes_release(&mistakes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { KERNELS_MOST = 4 };
    struct cuda_file file;
    cuda_file_init(&file, fuzz_text(data, size));
    for (size_t i = 0; i < file.kernel_count && i < KERNELS_MOST; i++) check_draft(&file, &file.kernels[i]);
    cuda_file_release(&file);
    return 0;
}
