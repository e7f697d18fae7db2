// The manual pages: sweetspot(1), which is the overview, and one page a command, sweetspot-tune(1) and so on. They are
// written from the table of commands, each command's table of options, and the tables of manual_text.c, which have what
// --help does not say. In texts `...` is bold and an empty line begins a paragraph.
#pragma once

#include <stdio.h>

#include "tuner/cli/commands.h"

// A fact about the program that several pages have.
struct manual_fact {
    const char *name;     // "0", "BROWSER", "out/cache"
    const char *commands; // whose pages have it, with a blank between them; NULL: all
    const char *text;
};

struct manual_example {
    const char *command; // whose page has it; the overview has all that begin with another's name too
    const char *purpose; // one line, ends with a colon
    const char *lines;   // a shell's
};

// Each ends with NULL.
extern const char manual_overview[]; // the overview's description
extern const struct manual_fact manual_statuses[], manual_environment[], manual_files[];
extern const struct manual_example manual_examples[];

// Writes a page as roff (man macros). `all` is the table of commands, `command` one of them; NULL: the overview.
void manual_write(FILE *, const struct command *const *all, const struct command *command);
// "sweetspot.1", "sweetspot-tune.1": the file of a page, malloc'ed.
char *manual_file(const struct command *command);
