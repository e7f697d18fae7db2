// Small things with files that the attacks share. What fails here ends the program: it is the machine's fault.
#pragma once

#include <stddef.h>

void file_make_folder(const char *path); // with its parents
void file_remove_folder(const char *path);
void file_write(const char *folder, const char *name, const char *text);
void file_write_bytes(const char *folder, const char *name, const void *bytes, size_t size);
// malloc'ed; NULL: there is none.
char *file_read(const char *folder, const char *name);
// Nothing when there is none.
void file_copy(const char *folder, const char *name, const char *to);
