// Priors of a search (search/model/prior.h) from files: recorded spaces, and stores of this or other jobs.
#ifndef SWEETSPOT_PRIOR_FILE_H
#define SWEETSPOT_PRIOR_FILE_H

#include "search/model/prior.h"
#include "tuner/base/error.h"

// What a file's results say about this space. From a store, those of the environment with this key, or with NULL of the
// one that was used last. NULL with a message that begins with the path: the file is damaged, its format is unknown, or
// nothing can be learnt from it.
struct prior *prior_file_read(const char *path, const char *environment, const struct space *, struct error *);

#endif
