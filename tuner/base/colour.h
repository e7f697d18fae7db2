// Colours of words on a terminal. There are none in a file or a pipe, with NO_COLOR set, or with TERM=dumb.
#pragma once

#include <stdio.h>

enum colour { COLOUR_GOOD, COLOUR_BAD, COLOUR_DOUBT }; // green, red, yellow

// What to print before and after a word: escape sequences, or "".
const char *colour_begin(FILE *, enum colour);
const char *colour_end(FILE *);
