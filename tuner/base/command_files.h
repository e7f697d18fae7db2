// The files that a shell command names, for those who keep what it made: another content may make something else.
#ifndef SWEETSPOT_COMMAND_FILES_H
#define SWEETSPOT_COMMAND_FILES_H

#include "tuner/base/hash.h"

// A hash of the command's text and of every regular file under `folder`, or by its absolute path, that is a word of it,
// with the files beside that one whose names have the same ending ("python3 ref.py": all *.py of its folder, which it
// may import).
void command_files_hash(const char *command, const char *folder, char hash[HASH_TEXT_SIZE]);

#endif
