// Removes the bodies of host functions for device compilers that read the host's code too. Otherwise everything that
// this code calls would be instantiated and compiled as well. See source.h.
#include "tuner/source/cuda_file.h"
#include "tuner/source/source.h"

// The index of the { of a function's body, which directly follows a parameter list after a plain name. Returns `end`
// for another kind of declaration, whose body may be needed or cannot be removed.
static size_t find_body(const struct cuda_tokens *t, size_t begin, size_t end)
{
    static const char *const no_plain_name[] = {"operator", "::", "~", NULL}, *const needed[] = {"auto", "constexpr",
                                                                                                 "consteval", "friend",
                                                                                                 NULL};
    for (size_t i = begin; i < end; i++) {
        const struct cuda_token *one = &t->items[i];
        if (cuda_token_is(one, "{") || cuda_token_in(one, needed)) return end;
        if (!cuda_token_is(one, "(")) continue;
        const size_t after = cuda_tokens_close(t, i, end);
        bool plain =
            i > begin && one[-1].kind == CUDA_NAME && (i < begin + 2 || !cuda_token_in(one - 2, no_plain_name));
        return plain && after < end && cuda_token_is(&t->items[after], "{") ? after : end;
    }
    return end;
}

// Whether a declaration has no device code and no preprocessor line (such a line might affect other code).
static bool is_plain(const struct cuda_file *f, const struct cuda_tokens *lines, size_t begin, size_t end)
{
    static const char *const refused[] = {"__global__", "__device__", "__constant__", "__shared__", "template",
                                          "namespace",  NULL};
    const struct cuda_token *first = &f->tokens.items[begin], *last = &f->tokens.items[end - 1];
    bool plain = cuda_token_is(last, "}");
    for (const struct cuda_token *t = first + 1; t < last; t++) plain &= !cuda_token_in(t, refused);
    for (size_t i = 0; i < lines->count; i++)
        plain &= lines->items[i].kind != CUDA_DIRECTIVE || lines->items[i].text < first->text ||
                 lines->items[i].text > last->text;
    return plain;
}

char *source_without_host(const char *text)
{
    struct cuda_file file;
    struct cuda_tokens lines; // with preprocessor lines
    char *out = text_copy(text);
    bool any = false;
    cuda_file_init(&file, text_copy(text));
    cuda_tokens_init(&lines, file.source);
    for (size_t h = 0; h < file.host_count; h++) {
        const struct cuda_token *t = file.tokens.items;
        const size_t begin = file.host[h].begin, end = file.host[h].end, body = find_body(&file.tokens, begin, end);
        if (body == end || !is_plain(&file, &lines, begin, end)) continue;
        const size_t first = (size_t)(t[body].text - file.source), last = (size_t)(t[end - 1].text - file.source);
        for (size_t i = first; i <= last; i++)
            if (out[i] != '\n') out[i] = i == first ? ';' : ' ';
        any = true;
    }
    cuda_tokens_release(&lines);
    cuda_file_release(&file);
    if (any) return out;
    free(out);
    return NULL;
}
