// A fresh folder for the files of one piece of work, under $TMPDIR or /tmp.
#ifndef SWEETSPOT_WORK_FOLDER_H
#define SWEETSPOT_WORK_FOLDER_H

#include <limits.h>

#include "tuner/base/error.h"

// <temporary folder>/sweetspot-<what>-XXXXXX. -1 with a message.
int work_folder_make(const char *what, char path[PATH_MAX], struct error *);
// With all that is in it. Links are removed, and not followed.
void work_folder_remove(const char *path);

#endif
