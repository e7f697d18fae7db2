// For `sweetspot list`.
#pragma once

#include <stdbool.h>

// Prints a job's search space as a table or a JSON document: parameters, size before and after the constraints, and the
// number of configurations that each constraint removes. Returns the exit status.
int list_space_of(const char *job_path, bool table);
