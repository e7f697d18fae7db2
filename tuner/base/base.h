// Includes the headers that nearly every file of tuner/ needs: those of the standard library for numbers, strings and
// memory, and those of this folder for errors, memory and strings. search/ and tuner/policy, which do no I/O, include
// only what they need.
#pragma once

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/error.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
