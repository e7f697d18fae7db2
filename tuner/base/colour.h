// Output on a terminal: coloured words, and a guard against control characters. Output to a file or a pipe is neither
// coloured nor changed. If NO_COLOR is set or TERM is dumb, no output is coloured.
#pragma once

#include <stdio.h>

// From here on, stdout and stderr show control characters as '?' where they are terminals, because names and messages
// from job files, stores and workers must not control the terminal. Tabs and line breaks pass, and the colours below
// unless colours are off.
void terminal_guard(void);
int terminal_of(FILE *);          // the descriptor of a stream that is a terminal; -1 for other streams
void terminal_clear_line(FILE *); // clears the current line of a terminal

enum colour { COLOUR_GOOD, COLOUR_BAD, COLOUR_DOUBT }; // green, red, yellow

// What to print before and after a word: escape sequences, or "".
const char *colour_begin(FILE *, enum colour);
const char *colour_end(FILE *);
