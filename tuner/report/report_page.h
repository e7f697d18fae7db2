// The page: one HTML file with the document, its style, its script and the libraries for its charts and tables.
//
// Its frame is tuner/report/page/report.html, which has a line with a placeholder for each part. The frame, the style
// and the script are part of the program. The libraries (Apache ECharts, DataTables, with their licences) are read from
// their installation, because they are larger than the program.
#pragma once

#include <stdio.h>

#include "tuner/base/json.h"

struct report_charts {
    char *script, *licence; // malloc'ed
};

// Reads libraries.js and LICENSES from the folder $SWEETSPOT_CHARTS, share/sweetspot/report of an installation, or
// out/npm/report of the source tree. Returns -1 with a message that says what to run. Always release with
// report_charts_release.
int report_charts_read(struct report_charts *, struct error *);
void report_charts_release(struct report_charts *);

// The caller checks the stream for errors.
void report_page_write(FILE *, const json_t *report, const struct report_charts *);

// The document as text, malloc'ed, with times to 15 digits. `in_page`: safe within a script element.
char *report_text(const json_t *report, bool in_page);
