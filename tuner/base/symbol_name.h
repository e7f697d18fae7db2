// Names of variables in compiled code: "_ZN2ns4coefE" is ns::coef.
#ifndef SWEETSPOT_SYMBOL_NAME_H
#define SWEETSPOT_SYMBOL_NAME_H

#include <stdbool.h>

// Whether a symbol is the variable of this name: as it is, or with its namespaces ("ns::coef"; unnamed ones are left
// out). The name may also be the symbol itself, which is the way to name a variable template's instance.
bool symbol_is(const char *symbol, const char *name);
// The variable's name with its namespaces, in `out`, or the symbol itself where it is of another kind or too long.
enum { SYMBOL_TEXT_SIZE = 256 };
const char *symbol_text(const char *symbol, char out[SYMBOL_TEXT_SIZE]);

#endif
