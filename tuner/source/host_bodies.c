// Functions of the host without their bodies, for device compilers that read the host's code too: what it calls would
// be instantiated and compiled with it. See source.h.
#include "tuner/source/cuda_file.h"
#include "tuner/source/source.h"

// The { of a function's body: outside of brackets, after a parameter list, which follows a plain name. `end`: another
// kind of declaration, whose body may be needed where its parts are declared.
static size_t find_body(const struct cuda_tokens *t, size_t begin, size_t end)
{
    static const char *const no_plain_name[] = {"operator", "::", "~", ".", "->", NULL}, *const needed[] = {
                                                                                             "auto", "constexpr",
                                                                                             "consteval", "friend",
                                                                                             NULL};
    size_t name = end;
    for (size_t i = begin; i < end; i++) {
        const struct cuda_token *one = &t->items[i];
        if (cuda_token_is(one, "{")) return i > begin && name < end && cuda_token_is(one - 1, ")") ? i : end;
        if (i > begin && cuda_token_is(one, "("))
            name = one[-1].kind == CUDA_NAME && (i < begin + 2 || !cuda_token_in(one - 2, no_plain_name)) ? i - 1 : end;
        if (cuda_token_in(one, needed)) return end;
        if (cuda_token_is(one, "(") || cuda_token_is(one, "[")) i = cuda_tokens_close(t, i, end) - 1;
    }
    return end;
}

// Nothing that could mean something outside of the function, and no device code.
static bool is_plain(const struct cuda_tokens *t, size_t begin, size_t end)
{
    static const char *const refused[] = {"__global__", "__device__", "__constant__", "__shared__", "template",
                                          "namespace",  NULL};
    bool plain = cuda_token_is(&t->items[end - 1], "}");
    for (size_t i = begin; i < end; i++)
        plain &= t->items[i].kind != CUDA_DIRECTIVE && (i == begin || !cuda_token_in(&t->items[i], refused));
    return plain;
}

char *source_without_host(const char *text)
{
    struct cuda_file file;
    char *out = text_copy(text);
    bool any = false;
    cuda_file_init(&file, text_copy(text));
    for (size_t h = 0; h < file.host_count; h++) {
        const struct cuda_tokens *t = &file.tokens;
        const size_t end = file.host[h].end, body = find_body(t, file.host[h].begin, end);
        if (body == end || !is_plain(t, file.host[h].begin, end)) continue;
        const size_t first = (size_t)(t->items[body].text - file.source),
                     last = (size_t)(t->items[end - 1].text - file.source);
        for (size_t i = first; i <= last; i++)
            if (out[i] != '\n') out[i] = i == first ? ';' : ' ';
        any = true;
    }
    cuda_file_release(&file);
    if (any) return out;
    free(out);
    return NULL;
}
