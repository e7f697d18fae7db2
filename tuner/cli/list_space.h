// For `sweetspot list`.
#pragma once

#include <stdbool.h>

// Prints a job's search space: parameters, raw and valid size, and how many configurations each constraint removes. As
// a table or as a JSON document. Returns the exit status.
int list_space_of(const char *job_path, bool table);
