// Logs of NVRTC, nvcc and ptxas: a kernel's figures and the advisories. The first line of the input is the kernel's
// name.
//
// Promise: every input can be read. A figure is a number from the log, 0 or larger, or -1 if unknown. An advisory is a
// line of the log.
#include "tests/fuzz/fuzz.h"

#include "tuner/compiler/compilation.h"

static void check_figure(int64_t value, const char *name)
{
    FUZZ_CHECK(value >= -1, "%s is %lld", name, (long long)value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    size_t name = end ? (size_t)(end - data) : size, rest = end ? name + 1 : size;
    struct compilation c = {.log = fuzz_text(data + rest, size - rest), .cubin = calloc(1, 1), .cubin_size = 1};
    char *symbol = fuzz_text(data, name);
    c.entries = calloc(1, sizeof *c.entries);
    c.warnings = compilation_warnings(c.log);
    FUZZ_CHECK(strlen(c.warnings) <= strlen(c.log), "advisories are longer than the log");
    compilation_add(&c, symbol, symbol);
    const struct trial_stage *f = &c.entries[0].figures;
    check_figure(f->stack, "stack");
    check_figure(f->spill_stores, "spill_stores");
    check_figure(f->spill_loads, "spill_loads");
    check_figure(f->registers, "registers");
    check_figure(f->shared_static, "shared_static");
    compilation_release(&c);
    free(symbol);
    return 0;
}
