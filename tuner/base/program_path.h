// Finds a program that is not ours: on the PATH, or in a folder.
#ifndef SWEETSPOT_PROGRAM_PATH_H
#define SWEETSPOT_PROGRAM_PATH_H

#include <stddef.h>

// The path of an executable file, malloc'ed; NULL where there is none. `length`: of the folder's name.
char *program_in_folder(const char *folder, size_t length, const char *name);
char *program_on_path(const char *name);
// In the folder "bin" of a toolkit.
char *program_of_toolkit(const char *home, const char *name);

#endif
