// Reads the output of `ncu --csv`, for tests on a GPU.
#pragma once

#include "tests/testing.h"
#include "tuner/base/stats.h"

// The median of one metric over a kernel's launches. NaN if it is missing.
static inline double ncu_value(const char *csv, const char *metric)
{
    double values[64];
    size_t n = 0;
    char *wanted = test_text("\"%s\"", metric);
    for (const char *line = csv; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        char *text = test_text("%.*s", (int)strcspn(line, "\n"), line), *found = strstr(text, wanted),
             *last = strrchr(text, '"');
        if (found && last && n < 64) {
            *last = 0;
            char digits[64];
            size_t k = 0;
            for (const char *value = strrchr(text, '"') + 1; *value && k < 63; value++)
                if (*value != ',') digits[k++] = *value;
            digits[k] = 0;
            values[n++] = atof(digits);
        }
    }
    if (!n) return NAN;
    stats_sort(values, n);
    return values[n / 2];
}
