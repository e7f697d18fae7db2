// Writing a report: reads the stores of jobs and writes their contents into a file.
#ifndef SWEETSPOT_REPORT_WRITE_H
#define SWEETSPOT_REPORT_WRITE_H

#include "tuner/cli/report_sources.h"
#include "tuner/report/report_page.h"

enum { FORMAT_PAGE = -1 }; // beside those of options.h

// Writes once, as a page or in a format. EXIT_NOTHING if a store could not be read (the others are in the report) or
// all were empty, as stderr says. Only the page uses `charts`.
int report_write(const struct report_files *, const struct report_charts *, int format, const char *output);

#endif
