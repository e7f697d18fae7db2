// See source.h: finds the files that a source text may include.
#include "tuner/source/source.h"

#include "tuner/source/cuda_tokens.h"

// Adds the name after `word`, which is "include" or "__has_include", perhaps with "_next".
static void add_name(struct includes *m, const char *text, struct cuda_reader *r, const struct cuda_token *word,
                     struct include new)
{
    struct cuda_token open = {0}, header, name, after;
    if (new.kind == INCLUDE_ASKED && (open = cuda_next(r), !cuda_token_is(&open, "("))) return;
    header = cuda_next_header(r);
    new.word = (size_t)(word->text - text);
    new.operand = (size_t)(header.text - text);
    new.end = header.kind == CUDA_TEXT ? new.operand + header.length : new.word + word->length;
    new.computed = header.kind != CUDA_TEXT;
    if (new.computed) {
        name = cuda_next(r);
        after = name.kind == CUDA_NAME ? cuda_next(r) : name;
        bool alone = new.kind == INCLUDE_ASKED ? cuda_token_is(&after, ")") : after.kind == CUDA_LINE_END;
        new.name = alone &&name.kind == CUDA_NAME ? cuda_token_copy(&m->memory, &name) : "";
    } else {
        new.name = cuda_token_copy(&m->memory, &header);
    }
    memory_add(m->list, m->count) = new;
}

// Reads a directive; `r` is just past its `#`.
static void read_directive(struct includes *m, const char *text, struct cuda_reader *r, bool real)
{
    struct cuda_token word = cuda_next(r);
    bool next = cuda_token_is(&word, "include_next");
    if (next || cuda_token_is(&word, "include"))
        add_name(m, text, r, &word, (struct include){INCLUDE_DIRECTIVE, .real = real, .next = next});
}

// Reads a word that may be __has_include.
static void read_word(struct includes *m, const char *text, struct cuda_reader *r, const struct cuda_token *word,
                      bool real)
{
    bool next = cuda_token_is(word, "__has_include_next");
    if (next || cuda_token_is(word, "__has_include"))
        add_name(m, text, r, word, (struct include){INCLUDE_ASKED, .real = real, .next = next});
}

// Adds everything that looks like an include at a place where, according to this scanner, a compiler sees none: in a
// comment, in a string, within a line. Thus no file is missing even if the scanner is mistaken.
static void look_inside(struct includes *m, const char *text, const struct cuda_token *t)
{
    for (const char *p = t->text; p < t->text + t->length; p++) {
        struct cuda_reader r = cuda_reader_of(p);
        if (cuda_sign_end(p)) {
            cuda_next(&r);
            read_directive(m, text, &r, false);
        } else if (*p == '_' && (p == text || !cuda_in_name(p[-1]))) {
            struct cuda_token word = cuda_next(&r);
            read_word(m, text, &r, &word, false);
        }
    }
}

void includes_find(struct includes *m, const char *text)
{
    struct cuda_reader r = cuda_reader_of(text);
    r.comments = true;
    *m = (struct includes){0};
    for (struct cuda_token t = cuda_next(&r); t.kind != CUDA_END; t = cuda_next(&r)) {
        struct cuda_reader ahead = r;
        ahead.comments = false;
        size_t before = m->count;
        if (t.kind == CUDA_SIGN)
            read_directive(m, text, &ahead, true);
        else if (t.kind == CUDA_NAME)
            read_word(m, text, &ahead, &t, true);
        else if (t.kind != CUDA_NUMBER && t.kind != CUDA_LINE_END)
            look_inside(m, text, &t);
        // A header's name may contain text that looks like a comment.
        const struct include *last = m->count > before ? &m->list[m->count - 1] : NULL;
        bool header = last && last->real && !last->computed;
        while (header && r.at < text + last->end) r.line += *r.at++ == '\n';
    }
}

void includes_release(struct includes *m)
{
    arena_release(&m->memory);
    free(m->list);
    *m = (struct includes){0};
}
