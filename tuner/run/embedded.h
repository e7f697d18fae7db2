// Files that travel inside the program.
#ifndef SWEETSPOT_EMBEDDED_H
#define SWEETSPOT_EMBEDDED_H

const char *embedded_support_source(void); // kernels/support.cu

#endif
