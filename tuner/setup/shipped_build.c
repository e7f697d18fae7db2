// See shipped_build.h.
#include "tuner/setup/shipped_build.h"

#include "tuner/base/elf_file.h"
#include "tuner/base/units.h"
#include "tuner/setup/probe.h"
#include "tuner/setup/run_environment.h"

// Hashes the environment that a run on the winner's device would have, except for the source.
static int hash_job(struct shipped_build *b, const struct job *job, const struct shipped_winner *w, const char *arch,
                    struct error *err)
{
    const struct environment known = {
        .source_hash = "", .compiler = w->compiler, .device = w->device, .arch = arch, .driver = w->driver};
    autojson json_t *request = request_job(job, device_limits_h200.memory_bytes, NULL, JOB_SEED, err), *facts = NULL;
    if (!request) return EXIT_USAGE;
    facts = run_environment_facts(job, request, &known, false);
    autofree char *settings = environment_text(facts, err);
    if (!settings) return EXIT_ENVIRONMENT;
    environment_key(settings, b->job);
    return 0;
}

// Hashes the code of a binary, unit by unit.
static int hash_code(const void *bytes, size_t size, char hash[HASH_TEXT_SIZE], struct error *err)
{
    struct hash *h = hash_new();
    int units = units_count(bytes, size, err);
    for (int unit = 0; unit < units; unit++) {
        size_t length, offset = units_offset(bytes, size, (size_t)unit, &length);
        struct elf_file elf;
        Elf64_Shdr section;
        const char *wrong = length ? elf_open(&elf, (const char *)bytes + offset, length) : NULL;
        if (wrong) units = error_set(err, "the compiler's binary %s", wrong);
        for (size_t i = 0; length && !wrong && elf_section(&elf, i, &section); i++)
            if (elf_code_name(&elf, &section) && elf_bytes(&elf, &section))
                hash_bytes(h, elf_bytes(&elf, &section), section.sh_size);
    }
    hash_finish(h, hash);
    return units < 0 ? -1 : 0;
}

// Hashes the binary, and takes over the figures of its stages.
static int take(struct shipped_build *b, const struct job *job, const uint16_t *config, struct error *err)
{
    size_t size, launches;
    autofree struct planned_launch *planned = NULL;
    autojson json_t *problems = NULL;
    autofree char *bytes = text_read_file(b->compiled.cubin, &size);
    if (!bytes) return error_set(err, "cannot read '%s'", b->compiled.cubin), EXIT_ENVIRONMENT;
    if (hash_code(bytes, size, b->code, err)) return EXIT_ENVIRONMENT;
    if (job_setup_launches(job, &device_limits_h200, config, &b->compiled, &problems, &planned, &launches, err))
        return EXIT_NOTHING;
    b->stages = memory_new(launches, sizeof *b->stages);
    b->stage_count = job_setup_stages(job, &device_limits_h200, &b->compiled, planned, launches, b->stages);
    return 0;
}

int shipped_build(struct shipped_build *b, struct job *job, const struct shipped_winner *w, const char *arch,
                  const char *cache, struct error *err)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    enum trial_status failed;
    const char *reason;
    struct worker_pool pool = {.first.arch = arch, .first.limits = device_limits_h200};
    autorelease(job_setup_release) struct job_setup setup = {0};
    *b = (struct shipped_build){0};
    int status = job_setup_space(&setup, &pool, job, cache, JOB_SEED, err);
    if (status) return status;
    memcpy(b->source, setup.source_hash, sizeof b->source);
    if (space_parse(job->space, w->configuration, config, err)) return EXIT_NOTHING;
    if ((status = hash_job(b, job, w, arch, err))) return status;
    b->config = space_text(job->space, config);
    b->compiler = probe_compiler_version(job->code.compiler == JOB_NVCC ? PROTOCOL_NVCC : PROTOCOL_NVRTC);
    autojson json_t *answer = probe_compiler(job_setup_compile(&setup, &pool, config, b->config, false), err);
    if (!answer) return EXIT_ENVIRONMENT;
    enum compile_result result = compile_result_read(answer, job, &b->compiled, &failed, &reason, err);
    if (result == COMPILE_DONE) return take(b, job, config, err);
    error_set(err, "%s", reason);
    return result == COMPILE_IMPOSSIBLE ? EXIT_ENVIRONMENT : EXIT_NOTHING;
}

void shipped_build_release(struct shipped_build *b)
{
    compiled_release(&b->compiled);
    free(b->config);
    free(b->stages);
}
