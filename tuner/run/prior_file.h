// Priors of a search from files: recorded spaces, and stores of other jobs.
#ifndef SWEETSPOT_PRIOR_FILE_H
#define SWEETSPOT_PRIOR_FILE_H

#include "search/prior.h"
#include "tuner/base/error.h"

// What a file's results say of this space. Of a store, those of the environment that was used last. NULL with a message
// that begins with the path: damaged, of no known format, nothing that can be learnt.
struct prior *prior_file_read(const char *path, const struct space *, struct error *);

#endif
