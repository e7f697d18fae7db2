// Files that travel inside the program, as text.
#ifndef SWEETSPOT_EMBEDDED_H
#define SWEETSPOT_EMBEDDED_H

const char *embedded_support(void);       // kernels/support.cu
const char *embedded_ceilings(void);      // kernels/ceilings.cu
const char *embedded_fn_arithmetic(void); // search/fn_arithmetic.h
const char *embedded_fn_selector(void);   // search/fn_selector.h

#endif
