// What nearly every file of tuner/ needs: the standard library's headers of numbers, texts and memory, and this
// folder's errors, memory and texts. search/ and tuner/policy, which do no input and output, name their headers.
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
