// The likely cause of a syntax error in a job file, since libconfig names only its line.
#ifndef SWEETSPOT_SYNTAX_HINT_H
#define SWEETSPOT_SYNTAX_HINT_H

// `text` is what the file at `path` contains, `line` the line that libconfig names. malloc'ed; NULL if no usual cause
// applies.
char *syntax_hint(const char *path, const char *text, int line);

#endif
