/* For programs in C99, C++ and CUDA that launch kernels: ends the program if a condition does not hold. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                           \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)
