// Colours words on a terminal. Output to a file or a pipe is not coloured. If NO_COLOR is set or TERM is dumb, no
// output is coloured.
#pragma once

#include <stdio.h>

enum colour { COLOUR_GOOD, COLOUR_BAD, COLOUR_DOUBT }; // green, red, yellow

// What to print before and after a word: escape sequences, or "".
const char *colour_begin(FILE *, enum colour);
const char *colour_end(FILE *);
