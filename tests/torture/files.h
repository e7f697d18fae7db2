// File helpers that the attacks share. A failure here ends the program, because the machine is at fault.
#pragma once

#include <stddef.h>

void file_make_folder(const char *path); // with its parents
void file_remove_folder(const char *path);
void file_write(const char *folder, const char *name, const char *text);
void file_write_bytes(const char *folder, const char *name, const void *bytes, size_t size);
// The content (malloc'ed), or NULL if there is no such file.
char *file_read(const char *folder, const char *name);
// Does nothing if there is no such file.
void file_copy(const char *folder, const char *name, const char *to);
