// Tokens of a CUDA C++ source, for programs that read declarations without a compiler. Comments, white space and what
// `#if 0` leaves out are no tokens; a preprocessor line is one.
#ifndef SWEETSPOT_CUDA_TOKENS_H
#define SWEETSPOT_CUDA_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

enum cuda_token_kind {
    CUDA_NAME,      // identifiers and keywords
    CUDA_NUMBER,    // as it is written: 16, 0x10u, 1.0f
    CUDA_TEXT,      // a string or character, with its quotes
    CUDA_MARK,      // an operator or other mark; ">" is always alone, so that templates end
    CUDA_DIRECTIVE, // from # to the end of the line, continued lines included, comments too
};

struct cuda_token {
    enum cuda_token_kind kind;
    int line;
    size_t length;
    const char *text; // in the source
};

struct cuda_tokens {
    size_t count;
    struct cuda_token *items;
};

// The source must live as long as the tokens.
void cuda_tokens_init(struct cuda_tokens *, const char *source);
void cuda_tokens_release(struct cuda_tokens *);

// Whether the token is this word or mark.
bool cuda_token_is(const struct cuda_token *, const char *text);
// malloc'ed.
char *cuda_token_copy(const struct cuda_token *);
// The tokens [first, end) as text, with single blanks where the source has any space. malloc'ed.
char *cuda_token_text(const struct cuda_token *first, const struct cuda_token *end);
// The index behind the bracket that closes the one at `open`, or `end` where none does.
size_t cuda_tokens_close(const struct cuda_tokens *, size_t open, size_t end);

#endif
