// The names under which a finalist's cubin is stored: the blob of its trial, and the document about it (written by
// tuner/run/final_binaries.c, read by the header).
#ifndef SWEETSPOT_BINARY_H
#define SWEETSPOT_BINARY_H

#define BINARY_BLOB "cubin"
#define BINARY_DOCUMENT "binary"

#endif
