// Writes a file that the user named. A regular file appears under its name complete or not at all. A pipe, a device,
// and "-", which means standard output, are written directly.
#pragma once

#include "tuner/base/base.h"

// Whether the path is "-" or another name of standard output ("/dev/stdout").
bool output_is_stdout(const char *path);
// Whether the path is neither a regular file nor a folder, so that it can be neither read back nor replaced. True for
// standard output.
bool output_is_stream(const char *path);

// Whether there is a file with content that no command of the program writes, such as a source, a job file or a store.
// A command that writes results must not replace it.
bool output_is_foreign(const char *path);

// Creates the folders that a path's file is in, like mkdir -p. -1 with a message.
int output_make_folders(const char *path, struct error *);

// Writes all bytes to a descriptor, continuing after interruptions. -1 with errno.
int output_all(int fd, const void *bytes, size_t size);

// Opens the file, calls `write`, and closes it. Returns what `write` returned if that is not 0 (the file is then
// unchanged), or -1 with a message when the file cannot be written.
typedef int output_writer(FILE *, void *user, struct error *);
int output_file_write(const char *path, output_writer *write, void *user, struct error *);

// Whether the reader of standard output has closed it, as `head` does after the lines that it wants.
bool output_stdout_closed(void);
