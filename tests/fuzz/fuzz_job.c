// Job files: the reader, the space for a device, and the requests that the driver would send for the job.
//
// Promise: every input is either read or refused with a message. For a job that is read, configurations and requests
// can be computed or are refused. The space finds every configuration by its number. Included files are not opened.
#include "tests/fuzz/fuzz.h"

#include "tuner/base/json.h"
#include "tuner/base/memory.h"
#include "tuner/job/job.h"
#include "tuner/setup/job_setup.h"

enum { PROBED = 4 }; // number of configurations

static const char *job_path(const uint8_t *data, size_t size)
{
    static char path[600];
    if (!*path) {
        snprintf(path, sizeof path, "%s/x.cu", fuzz_folder());
        FILE *template = fopen(path, "w");
        if (!template || fclose(template)) abort();
        snprintf(path, sizeof path, "%s/job.cfg", fuzz_folder());
    }
    FILE *file = fopen(path, "w");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) abort();
    return path;
}

static void probe(const struct job *job, uint64_t number)
{
    struct error err;
    uint16_t config[SPACE_MAX_PARAMETERS], again[SPACE_MAX_PARAMETERS];
    struct entry_answer entry = {.entry = job->stages[0].entry,
                                 .symbol = job->stages[0].entry,
                                 .figures = {.registers = 64, .shared_static = 1024}};
    struct compiled compiled = {.entry_count = 1, .entries = &entry};
    struct planned_launch *launches = NULL;
    size_t count;
    json_t *problems = NULL;
    space_get(job->space, number, config);
    FUZZ_CHECK(space_index(job->space, config) == (int64_t)number, "configuration %llu", (unsigned long long)number);
    autofree char *text = space_text(job->space, config);
    if (!space_parse(job->space, text, again, &err))
        FUZZ_CHECK(!memcmp(config, again, space_parameter_count(job->space) * sizeof *config), "%s", text);
    json_decref(request_compile(job, config, "sm_90a", "0", "cache"));
    job_setup_launches(job, &device_limits_h200, config, &compiled, &problems, &launches, &count, &err);
    json_decref(problems);
    free(launches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job *job;
    struct mistakes mistakes = {0};
    struct error err;
    if (memmem(data, size, "@include", 8)) return 0;
    if (job_load(job_path(data, size), &job, &mistakes)) {
        FUZZ_CHECK(mistakes.count, "refused without a mistake");
        mistakes_release(&mistakes);
        return 0;
    }
    if (space_raw_size(job->space) < 1e6 && !job_build_space(job, &device_limits_h200, &err)) {
        uint64_t configurations = space_size(job->space);
        FUZZ_CHECK(configurations, "a space without configurations");
        for (uint64_t i = 0; i < PROBED; i++) probe(job, configurations > 1 ? (configurations - 1) / PROBED * i : 0);
        probe(job, configurations - 1);
        json_decref(request_job(job, 0, NULL, 1, &err));
    }
    job_free(job);
    return 0;
}
