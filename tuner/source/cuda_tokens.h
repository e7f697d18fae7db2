// The one reader of CUDA C++ tokens: for what a source includes, what `check` looks up in it, and what `init` reads. A
// scan, not a preprocessor: conditions are not looked at.
#pragma once

#include "tuner/base/base.h"

enum cuda_token_kind {
    CUDA_END,       // of the text, again and again
    CUDA_NAME,      // identifiers and keywords
    CUDA_NUMBER,    // as it is written: 16, 0x10u, 1'000
    CUDA_TEXT,      // a string or character, or a header's name, with its quotes
    CUDA_MARK,      // an operator or other mark; ">" is always alone, so that templates end
    CUDA_COMMENT,   // only where comments are asked for
    CUDA_SIGN,      // the # (or %:, ?\?=) that begins a line
    CUDA_LINE_END,  // of a line that a sign begins
    CUDA_DIRECTIVE, // in lists: from a sign to the end of its line, comments and continued lines included
};

struct cuda_token {
    enum cuda_token_kind kind;
    int line;
    size_t length;
    const char *text; // in the source; may have continuations (\ at the end of a line) in it
};

// Tokens one by one -------------------------------------------------------------------------------

struct cuda_reader {
    const char *at;
    int line;
    bool comments; // set it to get them
    bool fresh;    // nothing but blanks and comments since the line began
    bool directive;
};

// Begins a text, which must live as long as its tokens.
struct cuda_reader cuda_reader_of(const char *text);
struct cuda_token cuda_next(struct cuda_reader *);
// A header's name, "x" or <x>, if one stands next: as one token. Otherwise nothing is read, and its kind is CUDA_END.
struct cuda_token cuda_next_header(struct cuda_reader *);

// Behind the sign that a directive begins with; NULL when there is none.
const char *cuda_sign_end(const char *text);
// Whether a character can be part of a name.
bool cuda_in_name(char);

// Whether the token is this word or mark.
bool cuda_token_is(const struct cuda_token *, const char *text);
// Whether a text has the word as a token.
bool cuda_text_has(const char *text, const char *word);
bool cuda_token_in(const struct cuda_token *, const char *const *words); // which end with NULL
// The text of a token, without continuations.
char *cuda_token_copy(struct arena *, const struct cuda_token *);

// Lists of tokens ---------------------------------------------------------------------------------

struct cuda_tokens {
    size_t count;
    struct cuda_token *items; // behind them stands one of CUDA_END
};

// All tokens of a source but comments and what `#if 0` leaves out; a preprocessor line is one. The source must live as
// long as the tokens.
void cuda_tokens_init(struct cuda_tokens *, const char *source);
// The words after the sign of a preprocessor line, which is one token in such a list.
void cuda_tokens_line(struct cuda_tokens *, const struct cuda_token *directive);
void cuda_tokens_release(struct cuda_tokens *);

// The tokens [first, end) as text, with single blanks where the source has any space.
char *cuda_token_text(struct arena *, const struct cuda_token *first, const struct cuda_token *end);
// The index after the bracket that closes the one at `open`, or `end` where none does.
size_t cuda_tokens_close(const struct cuda_tokens *, size_t open, size_t end);
