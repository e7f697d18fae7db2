// Names of variables in compiled code: "_ZN2ns4coefE" is ns::coef.
#ifndef SWEETSPOT_SYMBOL_NAME_H
#define SWEETSPOT_SYMBOL_NAME_H

#include <stdbool.h>

// Whether a symbol is the variable of this name: as it is, or with its namespaces ("ns::coef"; unnamed ones are left
// out). The name may also be the symbol itself, which is the way to name a variable template's instance.
bool symbol_is(const char *symbol, const char *name);
// The variable's name with its namespaces, or the symbol itself where it is of another kind. malloc'ed.
char *symbol_text(const char *symbol);

#endif
