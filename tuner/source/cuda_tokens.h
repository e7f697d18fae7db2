// The only reader of CUDA C++ tokens, used by `check`, by `init`, and to find includes. It is a scanner, not a
// preprocessor: conditions are ignored.
#pragma once

#include "tuner/base/base.h"

enum cuda_token_kind {
    CUDA_END,       // end of the text, returned repeatedly
    CUDA_NAME,      // identifiers and keywords
    CUDA_NUMBER,    // as written: 16, 0x10u, 1'000
    CUDA_TEXT,      // a string or character, or a header's name, with its quotes
    CUDA_MARK,      // an operator or other mark; ">" is always a single token, so that ">>" closes two templates
    CUDA_COMMENT,   // only if comments are requested
    CUDA_SIGN,      // the # (or %:, ?\?=) that begins a line
    CUDA_LINE_END,  // end of a line that begins with #
    CUDA_DIRECTIVE, // in lists: from # to the end of its line, comments and continued lines included
};

struct cuda_token {
    enum cuda_token_kind kind;
    int line;
    size_t length;
    const char *text; // in the source; may contain continuations (\ at the end of a line)
};

// Tokens one by one -------------------------------------------------------------------------------

struct cuda_reader {
    const char *at;
    int line;
    bool comments; // set it to get comments
    bool fresh;    // only blanks and comments since the line began
    bool directive;
};

// A reader at the beginning of a string. The string must live as long as its tokens.
struct cuda_reader cuda_reader_of(const char *text);
struct cuda_token cuda_next(struct cuda_reader *);
// A header's name, "x" or <x>, as one token, if it comes next. Otherwise nothing is read, and the kind is CUDA_END.
struct cuda_token cuda_next_header(struct cuda_reader *);

// The end of the # (or its equivalent) that begins a directive at `text`; NULL if there is none.
const char *cuda_sign_end(const char *text);
// Whether a character can be part of a name.
bool cuda_in_name(char);

// Whether the token is this word or mark.
bool cuda_token_is(const struct cuda_token *, const char *text);
// Whether the word is a token of the string.
bool cuda_text_has(const char *text, const char *word);
bool cuda_token_in(const struct cuda_token *, const char *const *words); // `words` ends with NULL
// The text of a token, without continuations.
char *cuda_token_copy(struct arena *, const struct cuda_token *);

// Lists of tokens ---------------------------------------------------------------------------------

struct cuda_tokens {
    size_t count;
    struct cuda_token *items; // followed by one of kind CUDA_END
};

// All tokens of a source except comments and code in `#if 0`. A preprocessor line is one token. The source must live as
// long as the tokens.
void cuda_tokens_init(struct cuda_tokens *, const char *source);
// The words after the # of a preprocessor line. In a list of tokens, the line is the single token `directive`.
void cuda_tokens_line(struct cuda_tokens *, const struct cuda_token *directive);
void cuda_tokens_release(struct cuda_tokens *);

// The tokens [first, end) as text, with single blanks where the source has any space.
char *cuda_token_text(struct arena *, const struct cuda_token *first, const struct cuda_token *end);
// The index after the bracket that closes the one at `open`, or `end` if none does.
size_t cuda_tokens_close(const struct cuda_tokens *, size_t open, size_t end);
