// A file from outside the program: a job, a template, a recording, a store. Only regular files are read, so that a pipe
// or a device under a file's name cannot keep a program waiting or reading for ever.
#pragma once

#include "tuner/base/base.h"
#include "tuner/base/hash.h"

// Files that people write by hand are smaller.
enum { INPUT_FILE_TEXT_MOST = 64 << 20 };

// A descriptor to read from, which the caller closes. -1 with errno and a message ("'x' is not a regular file").
int input_file_open(const char *path, struct error *);
// The same for an absolute path from another machine, which must be below an absolute folder. No part after the folder
// may be ".." or a symbolic link. The folder itself may be a link.
int input_file_open_below(const char *folder, const char *path, struct error *);
// Whether an absolute path begins with an absolute folder. Only the names are compared.
bool input_file_is_below(const char *folder, const char *path);
// Whether both paths lead to the same file.
bool input_file_is_same(const char *a, const char *b);
// The file's bytes with a NUL after them, malloc'ed. `most`: a larger file is refused; 0: memory is the only limit.
// NULL with errno and a message. *size may be NULL.
char *input_file_read(const char *path, size_t most, size_t *size, struct error *);

// A hash of the command's text and of every regular file that a word of it names (relative to `folder`, or as an
// absolute path), with the files of the same folder that have the same extension ("python3 ref.py": all *.py of its
// folder, which it may import).
void command_files_hash(const char *command, const char *folder, char hash[HASH_TEXT_SIZE]);
