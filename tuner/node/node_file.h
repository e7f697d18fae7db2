// Files on their way between driver and agent: known by their content's hash, which is checked where they arrive. A
// file has its name when all of it is there.
#pragma once

#include "tuner/node/node_message.h"

enum {
    NODE_FILES_REPORTED = 1 << 16, // files that an agent says it has, at most; others are sent again
    NODE_FILE_MOST = 1 << 30,      // bytes of a file that an agent sends: a cubin or a library
};

// The name of a file of this content, below the folder of such files: "files/ab/ab12...cubin". The extension is that
// of `path`. malloc'ed.
char *node_file_name(const char *path, const char hash[HASH_TEXT_SIZE]);
// The hash and the size of a regular file. -1 with a message.
int node_file_hash(const char *path, char hash[HASH_TEXT_SIZE], int64_t *size, struct error *);
// The same for one that is open; its position stays.
int node_file_hash_open(int fd, char hash[HASH_TEXT_SIZE], int64_t *size, struct error *);
// Sends an open file at its beginning, as which it is described, and takes the descriptor: FRAME_FILE and its bytes. -1
// with a message.
int node_file_send(struct frame_writer *, int fd, const struct node_file *, struct error *);

// One that arrives.
struct node_arrival {
    char *path, *temporary; // NULL: none is arriving
    int fd;
    int64_t left;
    char hash[HASH_TEXT_SIZE];
    struct hash *sum;
};
// Begins one at a path, whose folders are made. -1 with a message.
int node_arrival_begin(struct node_arrival *, const char *path, const char *hash, int64_t size, struct error *);
int node_arrival_take(struct node_arrival *, const void *data, size_t size, struct error *);
// 1 when all bytes are there: the file has its name. 0: more are to come.
int node_arrival_end(struct node_arrival *, struct error *);
void node_arrival_drop(struct node_arrival *);
