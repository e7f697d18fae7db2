// Files in transit between driver and agent, identified by a hash of their content, which the receiver checks. A file
// gets its final name once it is complete.
#pragma once

#include "tuner/node/node_message.h"

enum {
    NODE_FILES_REPORTED = 1 << 16, // most files that an agent reports as present; others are sent again
    NODE_FILE_MOST = 1 << 30,      // most bytes of a file that an agent sends: a cubin or a library
};

// The name of a file with this content, relative to the cache: "files/ab/ab12...cubin". The extension is taken from
// `path`. malloc'ed.
char *node_file_name(const char *path, const char hash[HASH_TEXT_SIZE]);
// Finds the hash and the size of a regular file. Returns -1 with a message on failure.
int node_file_hash(const char *path, char hash[HASH_TEXT_SIZE], int64_t *size, struct error *);
// The hash and the size of an open file, whose position does not change.
int node_file_hash_open(int fd, char hash[HASH_TEXT_SIZE], int64_t *size, struct error *);
// Sends FRAME_FILE with this description, and the bytes of an open file from its beginning. Takes ownership of the
// descriptor. Returns -1 with a message on failure.
int node_file_send(struct frame_writer *, int fd, const struct node_file *, struct error *);

// A file that is arriving.
struct node_arrival {
    char *path, *temporary; // NULL: none is arriving
    int fd;
    int64_t left;
    char hash[HASH_TEXT_SIZE];
    struct hash *sum;
};
// Begins a file at a path, and creates the folders of that path. Returns -1 with a message on failure.
int node_arrival_begin(struct node_arrival *, const char *path, const char *hash, int64_t size, struct error *);
int node_arrival_take(struct node_arrival *, const void *data, size_t size, struct error *);
// Returns 1 if all bytes have arrived and the file has its final name, 0 if more are to come, or -1 with a message.
int node_arrival_end(struct node_arrival *, struct error *);
void node_arrival_drop(struct node_arrival *);
