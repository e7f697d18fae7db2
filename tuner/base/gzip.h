// Reads and writes whole files, gzip or plain. A file's contents determine how it is read, and its name determines how
// it is written. Only this module includes zlib.
#pragma once

#include "tuner/base/base.h"

// The file's bytes, unpacked if they are gzip, with a NUL after them. malloc'ed; *size may be NULL. NULL with a message
// if the file cannot be read, is damaged or truncated, does not fit in memory, or unpacks to too many bytes. The limit
// is the larger of 64 MiB and 100 times the file's size, but at most 2 GiB.
char *gzip_read_file(const char *path, size_t *size, struct error *);

// Writes a file as output_file.h does, packed if `path` ends in ".gz". -1 with a message.
int gzip_write_file(const char *path, const char *data, size_t size, struct error *);
