// See nvcc.h.
#include "tuner/compiler/nvcc.h"

#include <ctype.h>
#include <errno.h>
#include <sys/wait.h>

#include "tuner/base/elf_file.h"
#include "tuner/base/run_program.h"

static const double version_deadline = 20; // s

// Makes "nvcc 13.0.88" from ".. release 13.0, V13.0.88".
static int read_version(struct nvcc *n, struct error *err)
{
    char *argv[] = {n->program, "--version", NULL}, folder[PATH_MAX];
    struct program_end end = {0};
    if (work_folder_make("nvcc", folder, err)) return -1;
    int failed =
        run_program(&(struct program_run){.argv = argv, .temporary = folder, .deadline = version_deadline}, &end, err);
    const char *at = failed ? NULL : strstr(end.output, ", V");
    size_t length = at ? strspn(at + 3, "0123456789.") : 0;
    if (length && length < sizeof n->version - 5)
        snprintf(n->version, sizeof n->version, "nvcc %.*s", (int)length, at + 3);
    else if (!failed)
        failed = error_set(err, "'%s --version' %s", n->program,
                           end.late ? "does not answer" : "does not report its version");
    free(end.output);
    work_folder_remove(folder);
    return failed;
}

int nvcc_find(struct nvcc *n, const char *home, struct error *err)
{
    const char *given = getenv("SWEETSPOT_NVCC");
    *n = (struct nvcc){0};
    if (given && *given)
        n->program = text_copy(given);
    else if (!(n->program = program_on_path("nvcc")))
        n->program = program_of_toolkit(home, "nvcc");
    if (!n->program)
        return error_set(err, "there is no nvcc on the PATH or in $CUDA_HOME/bin; set SWEETSPOT_NVCC to its path");
    return read_version(n, err);
}

void nvcc_release(struct nvcc *n)
{
    free(n->program);
    *n = (struct nvcc){0};
}

int nvcc_write(const char *path, const char *text, struct error *err)
{
    FILE *file = fopen(path, "we");
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file)) written = false;
    return written ? 0 : error_set(err, "cannot write '%s': %s", path, strerror(errno));
}

// ---- names of kernels -----------------------------------------------------------------------------------------------
//
// The marker of extern "C" plain(int *) is _Z17sweetspot_entry_0IXadL_Z5plainPiEEEvv. Within the marker, substitutions
// (S_, S0_, ...) are numbered from a different start, so names are compared without these numbers.

char *nvcc_symbol_marker(const char *entry, size_t index)
{
    return text_format("template <auto K> __global__ void sweetspot_entry_%zu() {}\n"
                       "template __global__ void sweetspot_entry_%zu<&%s>();",
                       index, index, entry);
}

// The position after one substitution at `at` (S_, S12_, SA_), or `at` if there is none.
static const char *behind_substitution(const char *at)
{
    const char *end = at + 1;
    if (*at != 'S') return at;
    while (isdigit((unsigned char)*end) || isupper((unsigned char)*end)) end++;
    return *end == '_' ? end + 1 : at;
}

// Whether two mangled names are the same except for the numbers of substitutions; `a` has `length` characters.
static bool same(const char *a, size_t length, const char *b)
{
    const char *end = a + length;
    while (a < end && *b) {
        const char *x = behind_substitution(a), *y = behind_substitution(b);
        if ((x > a) != (y > b) || (x == a && *a != *b)) return false;
        a = x > a ? x : a + 1;
        b = y > b ? y : b + 1;
    }
    return a == end && !*b;
}

// Whether `symbol` is the <name> in the mangled name _Z<length><name>.... An extern "C" function's symbol is just
// <name>.
static bool plain(const char *mangled, const char *symbol)
{
    char *name;
    size_t length = strtoul(mangled + 2, &name, 10);
    return length == strlen(symbol) && !strncmp(name, symbol, length);
}

// The symbol of entry number `index`, borrowed from the cubin; NULL if none of the cubin's kernels matches, or several
// do.
static const char *find_symbol(const void *cubin, size_t size, size_t index)
{
    static const char suffix[] = "EEEvv";
    autofree char *word = text_format("sweetspot_entry_%zu", index),
                  *prefix = text_format("_Z%zu%sIXadL", strlen(word), word);
    const char *mangled = NULL, *found = NULL, *symbol;
    size_t length = 0, count = 0;
    for (size_t i = 0; (symbol = elf_kernel(cubin, size, i)); i++) {
        size_t all = strlen(symbol), edges = strlen(prefix) + strlen(suffix);
        if (strncmp(symbol, prefix, strlen(prefix)) != 0 || all < edges ||
            strcmp(symbol + all - strlen(suffix), suffix))
            continue;
        mangled = symbol + strlen(prefix);
        length = all - edges;
    }
    for (size_t i = 0; mangled && (symbol = elf_kernel(cubin, size, i)); i++) {
        if (!same(mangled, length, symbol) && !plain(mangled, symbol)) continue;
        found = symbol;
        count++;
    }
    return count == 1 ? found : NULL;
}

// ---- compiling ------------------------------------------------------------------------------------------------------

// Takes nvcc's cubin, with all entries in it.
static int take_result(const char *path, size_t entry_count, const char *const *entries, const char *const *symbols,
                       struct compilation *c, struct error *err)
{
    c->cubin = text_read_file(path, &c->cubin_size);
    if (!c->cubin) return error_set(err, "nvcc made no cubin: %s", strerror(errno));
    c->entries = memory_try(entry_count, sizeof *c->entries, err);
    for (size_t i = 0; i < entry_count && c->entries; i++) {
        const char *symbol = symbols ? symbols[i] : find_symbol(c->cubin, c->cubin_size, i);
        if (!symbol) return error_set(err, "nvcc's build has no kernel '%s', or several that match", entries[i]);
        compilation_add(c, entries[i], symbol);
        if (c->entries[i].figures.code_bytes < 0)
            return error_set(err, "nvcc's build has no kernel '%s' under the name '%s'", entries[i], symbol);
    }
    c->result = COMPILED;
    return c->entries ? 0 : -1;
}

int nvcc_compile(const struct nvcc *n, const char *unit, const struct text_list *options, size_t entry_count,
                 const char *const *entries, const char *const *symbols, double deadline, struct compilation *c,
                 struct error *err)
{
    char folder[PATH_MAX];
    if (work_folder_make("nvcc", folder, err)) return -1;
    *c = (struct compilation){.result = COMPILE_FAILED};
    autofree char *source = text_join_path(folder, "unit.cu"), *cubin = text_join_path(folder, "unit.cubin");
    // For a virtual architecture, nvcc makes PTX, which takes the cubin's place.
    char *kind = options->count && strstr(options->list[0], "code=compute_") ? "-ptx" : "-cubin";
    char *fixed[] = {n->program, kind, "--ptxas-options=-v", "-o", cubin, source};
    enum { COUNT = sizeof fixed / sizeof *fixed };
    autofree char **argv = memory_new(COUNT + options->count + 1, sizeof *argv);
    struct program_end end = {0};
    memcpy(argv, fixed, sizeof fixed);
    for (size_t i = 0; i < options->count; i++) argv[COUNT + i] = options->list[i];
    int result = nvcc_write(source, unit, err);
    if (!result)
        result = run_program(&(struct program_run){.argv = argv, .temporary = folder, .deadline = deadline}, &end, err);
    c->log = end.output ? end.output : text_copy("");
    c->warnings = compilation_warnings(c->log);
    c->seconds = end.seconds;
    if (!result && end.late)
        c->result = COMPILE_TIMED_OUT;
    else if (!result && WIFEXITED(end.status) && !WEXITSTATUS(end.status))
        result = take_result(cubin, entry_count, entries, symbols, c, err);
    else if (!result && !*c->log) {
        free(c->log);
        c->log = text_format(WIFSIGNALED(end.status) ? "nvcc was killed by signal %d" : "nvcc failed with status %d",
                             WIFSIGNALED(end.status) ? WTERMSIG(end.status) : WEXITSTATUS(end.status));
    }
    work_folder_remove(folder);
    if (result) compilation_release(c);
    return result;
}
