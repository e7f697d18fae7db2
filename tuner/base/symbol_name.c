// See symbol_name.h. Of the Itanium C++ ABI's names, those of variables are read: <length><name>, and N .. E around
// several, with L for internal linkage.
#include "tuner/base/symbol_name.h"

#include "tuner/base/base.h"
#include <ctype.h>

static bool is_unnamed(const char *part, size_t length)
{
    return (length > 10 && !strncmp(part, "_INTERNAL_", 10)) || (length > 9 && !memcmp(part, "_GLOBAL__", 9)) ||
           memmem(part, length, "_GLOBAL__N_", 11);
}

// Reads "4coef" at *at; 0: there is none.
static size_t read_part(const char **at, const char **part)
{
    char *end;
    if (**at == 'L') ++*at;
    if (!isdigit((unsigned char)**at)) return 0;
    unsigned long length = strtoul(*at, &end, 10);
    if (!length || length > strlen(end)) return 0;
    *part = end;
    *at = end + length;
    return length;
}

const char *symbol_text(const char *symbol, char out[SYMBOL_TEXT_SIZE])
{
    const char *at = symbol + 2, *part;
    size_t filled = 0;
    if (strncmp(symbol, "_Z", 2) != 0) return symbol;
    bool nested = *at == 'N';
    at += nested;
    do {
        size_t length = read_part(&at, &part);
        if (!length) return symbol;
        if (is_unnamed(part, length)) continue;
        if (filled + 2 + length >= SYMBOL_TEXT_SIZE) return symbol;
        if (filled) memcpy(out + filled, "::", 2), filled += 2;
        memcpy(out + filled, part, length);
        filled += length;
    } while (nested && *at != 'E');
    out[filled] = 0;
    return filled && !strcmp(at, nested ? "E" : "") ? out : symbol;
}

bool symbol_is(const char *symbol, const char *name)
{
    char text[SYMBOL_TEXT_SIZE];
    if (!strncmp(name, "::", 2)) name += 2;
    return !strcmp(symbol, name) || !strcmp(symbol_text(symbol, text), name);
}
