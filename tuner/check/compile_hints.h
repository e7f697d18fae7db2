// Explains a compiler's log to people.
#ifndef SWEETSPOT_COMPILE_HINTS_H
#define SWEETSPOT_COMPILE_HINTS_H

// Why a compiler that takes nvcc's sources may refuse this one, by its log. Static text; NULL: nothing is known of it.
const char *compile_hint(const char *log);
// All lines of a log's first error, indented, with the source's path and line, and how many more there are. malloc'ed.
char *compile_first_error(const char *log, const char *source);
// The first line that names an error, or the log's first line. malloc'ed.
char *compile_first_line(const char *log);

#endif
