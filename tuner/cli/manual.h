// The manual pages: sweetspot(1), the overview, and one page per command, such as sweetspot-tune(1). They are generated
// from the table of commands, each command's table of options, and the tables of manual_text.c, which hold the text
// that --help does not show. In such text, `...` is bold and an empty line begins a paragraph.
#pragma once

#include <stdio.h>

#include "tuner/cli/commands.h"

// A fact about the program that appears on several pages.
struct manual_fact {
    const char *name;     // "0", "BROWSER", "out/cache"
    const char *commands; // commands with this fact on their pages, separated by blanks; NULL: all
    const char *text;
};

struct manual_example {
    const char *command; // whose page shows it; the overview shows the examples of tune
    const char *purpose; // one line, ends with a colon
    const char *lines;   // shell commands
};

// Each table ends with an entry of NULLs.
extern const char manual_overview[]; // the overview's description
extern const struct manual_fact manual_statuses[], manual_environment[], manual_files[];
extern const struct manual_example manual_examples[];

// Writes a page as roff (man macros). `all` is the table of commands and `command` one of them, or NULL for the
// overview.
void manual_write(FILE *, const struct command *const *all, const struct command *command);
// The file name of a page, such as "sweetspot.1" or "sweetspot-tune.1", malloc'ed.
char *manual_file(const struct command *command);
