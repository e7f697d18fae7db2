// See symbol_name.h. Of the Itanium C++ ABI's names, those of variables are read: <length><name>, and N .. E around
// several, with L for internal linkage.
#include "tuner/base/symbol_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/text.h"

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

char *symbol_text(const char *symbol)
{
    const char *at = symbol + 2, *part;
    char *text = NULL;
    if (strncmp(symbol, "_Z", 2) != 0) return text_copy(symbol);
    bool nested = *at == 'N', good = true;
    at += nested;
    do {
        size_t length = read_part(&at, &part);
        good = length > 0;
        if (!good || is_unnamed(part, length)) continue;
        char *longer = text_format("%s%s%.*s", text ? text : "", text ? "::" : "", (int)length, part);
        free(text);
        text = longer;
    } while (good && nested && *at != 'E');
    good = good && text && !strcmp(at, nested ? "E" : "");
    if (good) return text;
    free(text);
    return text_copy(symbol);
}

bool symbol_is(const char *symbol, const char *name)
{
    char *text = symbol_text(symbol);
    if (!strncmp(name, "::", 2)) name += 2;
    bool same = !strcmp(symbol, name) || !strcmp(text, name);
    free(text);
    return same;
}
