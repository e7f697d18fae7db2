// See check_samples.h.
#include "tuner/cli/check_samples.h"

#include "tuner/base/base.h"
#include "tuner/base/elf_file.h"
#include "tuner/base/hash.h"

static bool add(struct check_samples *s, uint64_t index)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->index[i] == index) return false;
    s->index[s->count++] = index;
    return true;
}

static bool only_in_code(const struct job *job, size_t parameter)
{
    const struct parameter *p = space_parameter(job->space, parameter);
    return p->count > 1 && !check_launch_reads(job, symbols_find(job->symbols, p->name));
}

// Adds a configuration that differs from a random sample in this parameter alone.
static bool add_neighbour(struct check_samples *s, const struct job *job, size_t parameter, struct random *random)
{
    const struct parameter *p = space_parameter(job->space, parameter);
    uint16_t config[SPACE_MAX_PARAMETERS];
    space_get(job->space, s->index[random_below(random, s->count)], config);
    size_t from = random_below(random, p->count);
    for (size_t i = 0; i < p->count; i++) {
        config[parameter] = (uint16_t)((from + i) % p->count);
        int64_t index = space_index(job->space, config);
        if (index >= 0 && add(s, (uint64_t)index)) return true;
    }
    return false;
}

void check_samples_choose(struct check_samples *s, const struct job *job, uint64_t count)
{
    uint64_t total = space_size(job->space);
    size_t parameters = space_parameter_count(job->space), next = 0;
    struct random random;
    random_seed(&random, JOB_SEED);
    if (count > total) count = total;
    *s = (struct check_samples){0};
    s->index = memory_new(count, sizeof *s->index);
    s->code = memory_new(count, sizeof *s->code);
    for (uint64_t i = 0; i < count && count == total; i++) s->index[s->count++] = i;
    if (count == 1 && !s->count) s->index[s->count++] = 0;
    while (s->count < count) {
        bool added = false;
        for (size_t i = 0; i < parameters && s->count % 2 && !added; i++, next++)
            if (only_in_code(job, next % parameters)) added = add_neighbour(s, job, next % parameters, &random);
        if (!added) add(s, random_below(&random, total));
    }
}

void check_samples_release(struct check_samples *s)
{
    free(s->index);
    free(s->code);
    *s = (struct check_samples){0};
}

void check_samples_compiled(struct check_samples *s, size_t sample, const char *cubin)
{
    size_t size;
    char *bytes = cubin ? text_read_file(cubin, &size) : NULL;
    if (!bytes) return;
    struct hash *h = hash_new();
    struct elf_file elf;
    Elf64_Shdr section;
    bool good = !elf_open(&elf, bytes, size);
    // Code, constants and attributes alone: a template's instance has its values in its name.
    for (size_t i = 0; good && elf_section(&elf, i, &section); i++) {
        const char *name = elf_text(&elf, &elf.names, section.sh_name);
        bool code = section.sh_flags & SHF_EXECINSTR ||
                    (name && (!strncmp(name, ".nv.constant", 12) || !strncmp(name, ".nv.info", 8)));
        if (code && elf_bytes(&elf, &section)) hash_bytes(h, elf_bytes(&elf, &section), section.sh_size);
    }
    hash_finish(h, s->code[sample]);
    if (!good) *s->code[sample] = 0;
    free(bytes);
}

// The only parameter in which two samples differ; the number of parameters: there are others.
static size_t only_difference(const struct job *job, const uint16_t *a, const uint16_t *b)
{
    size_t parameters = space_parameter_count(job->space), found = parameters;
    for (size_t i = 0; i < parameters; i++) {
        if (a[i] == b[i]) continue;
        if (found < parameters) return parameters;
        found = i;
    }
    return found;
}

void check_samples_compare(const struct check_samples *s, struct check *c)
{
    const struct job *job = c->job;
    enum { COMPARED_MOST = 1000 }; // of samples: pairs grow with the square
    size_t parameters = space_parameter_count(job->space), count = s->count < COMPARED_MOST ? s->count : COMPARED_MOST;
    size_t *same = memory_new(parameters + 1, sizeof *same), *different = memory_new(parameters + 1, sizeof *different);
    uint16_t a[SPACE_MAX_PARAMETERS], b[SPACE_MAX_PARAMETERS];
    for (size_t i = 0; i < count; i++) {
        space_get(job->space, s->index[i], a);
        for (size_t k = 0; k < i; k++) {
            if (!*s->code[i] || !*s->code[k]) continue;
            space_get(job->space, s->index[k], b);
            size_t parameter = only_difference(job, a, b);
            ++*(strcmp(s->code[i], s->code[k]) != 0 ? &different[parameter] : &same[parameter]);
        }
    }
    for (size_t i = 0; i < parameters; i++)
        if (same[i] > 1 && !different[i] && only_in_code(job, i))
            check_add(&c->doubts, job_location(job, "parameters[%zu].name", i),
                      "parameter '%s' seems to change nothing: the code is the same in all %zu pairs of compiled "
                      "configurations that differ in it alone",
                      space_parameter(job->space, i)->name, same[i]);
    free(same);
    free(different);
}
