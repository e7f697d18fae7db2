// Writing a report: reading the stores of jobs and putting what they hold into a file.
#ifndef SWEETSPOT_REPORT_WRITE_H
#define SWEETSPOT_REPORT_WRITE_H

#include "tuner/cli/report_sources.h"
#include "tuner/report/report_page.h"

enum { FORMAT_PAGE = -1 }; // beside those of options.h

// Once, as a page or in a format. EXIT_NOTHING when a store could not be read (the others are in it) or there was
// nothing in any, which `complain` has told on stderr. `charts` is for the page alone.
int report_write(const struct report_files *, const struct report_charts *, int format, const char *output,
                 bool complain);
// The page, every so many seconds until SIGTERM, SIGINT or SIGHUP, which wait while it is being written. What cannot be
// read now may be there the next time.
int report_write_every(const struct report_files *, const struct report_charts *, const char *output, double seconds);

#endif
