// The program's version and what it was built with and runs with, for bug reports.
#ifndef SWEETSPOT_VERSION_H
#define SWEETSPOT_VERSION_H

// Prints a line for each: the program ("sweetspot 0.1", the first line), the commit, the CUDA toolkit, NVRTC and
// cuBLAS as the workers load them, SQLite. Returns EXIT_DONE.
int version_print(void);

#endif
