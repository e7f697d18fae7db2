// See nvcc_symbol.h. The marker of extern "C" plain(int *) is _Z17sweetspot_entry_0IXadL_Z5plainPiEEEvv. Within the
// marker, substitutions (S_, S0_, ...) count from another start, so names are compared without their numbers.
#include "tuner/compiler/nvcc_symbol.h"

#include <ctype.h>

#include "tuner/base/base.h"
#include "tuner/compiler/cubin.h"

char *nvcc_symbol_marker(const char *entry, size_t index)
{
    return text_format("template <auto K> __global__ void sweetspot_entry_%zu() {}\n"
                       "template __global__ void sweetspot_entry_%zu<&%s>();",
                       index, index, entry);
}

// Behind one substitution at `at` (S_, S12_, SA_), or `at`.
static const char *behind_substitution(const char *at)
{
    const char *end = at + 1;
    if (*at != 'S') return at;
    while (isdigit((unsigned char)*end) || isupper((unsigned char)*end)) end++;
    return *end == '_' ? end + 1 : at;
}

// Whether two mangled names are the same but for the numbers of substitutions; `a` ends after `length`.
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

// Whether `symbol` is the plain name of a function that is mangled as _Z<length><name>..., as extern "C" ones are.
static bool plain(const char *mangled, const char *symbol)
{
    char *name;
    size_t length = strtoul(mangled + 2, &name, 10);
    return length == strlen(symbol) && !strncmp(name, symbol, length);
}

const char *nvcc_symbol_find(const void *cubin, size_t size, size_t index)
{
    static const char suffix[] = "EEEvv";
    char *word = text_format("sweetspot_entry_%zu", index), *prefix = text_format("_Z%zu%sIXadL", strlen(word), word);
    const char *mangled = NULL, *found = NULL, *symbol;
    size_t length = 0, count = 0;
    for (size_t i = 0; (symbol = cubin_symbol(cubin, size, i)); i++) {
        size_t all = strlen(symbol), edges = strlen(prefix) + strlen(suffix);
        if (strncmp(symbol, prefix, strlen(prefix)) != 0 || all < edges ||
            strcmp(symbol + all - strlen(suffix), suffix))
            continue;
        mangled = symbol + strlen(prefix);
        length = all - edges;
    }
    for (size_t i = 0; mangled && (symbol = cubin_symbol(cubin, size, i)); i++) {
        if (!same(mangled, length, symbol) && !plain(mangled, symbol)) continue;
        found = symbol;
        count++;
    }
    free(word);
    free(prefix);
    return count == 1 ? found : NULL;
}
