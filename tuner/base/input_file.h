// A file from outside the program: a job, a template, a recording, a store. Only regular files are read, because
// reading from a pipe or a device might never end.
#pragma once

#include "tuner/base/base.h"
#include "tuner/base/hash.h"

// Files written by hand are smaller than this.
enum { INPUT_FILE_TEXT_MOST = 64 << 20 };

// A descriptor to read from, which the caller closes. -1 with errno and a message ("'x' is not a regular file").
int input_file_open(const char *path, struct error *);
// Opens an absolute path that was received from another machine. It must be below `folder` (an absolute path), and no
// part after the folder may be ".." or a symbolic link. The folder itself may be a link.
int input_file_open_below(const char *folder, const char *path, struct error *);
// Whether an absolute path begins with a folder's absolute path. Only the names are compared.
bool input_file_is_below(const char *folder, const char *path);
// Whether both paths lead to the same file.
bool input_file_is_same(const char *a, const char *b);
// The file's bytes with a NUL after them, malloc'ed. A file of more than `most` bytes is refused; if `most` is 0, only
// memory limits the size. NULL with errno and a message. *size may be NULL.
char *input_file_read(const char *path, size_t most, size_t *size, struct error *);

// A hash of a command and of the files that it may read. These are all regular files that the command's words name (as
// an absolute path, or relative to `folder`), and all files with the same extension in the same folder ("python3
// ref.py": all *.py in the script's folder, which it may import).
void command_files_hash(const char *command, const char *folder, char hash[HASH_TEXT_SIZE]);
