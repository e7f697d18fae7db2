// Clocks. Not for `search/`: a strategy's proposals depend only on the seed and the results.
#pragma once

double clock_now(void);  // s, monotonic, from an arbitrary start
double clock_wall(void); // s since 1970-01-01 00:00 UTC
double clock_cpu(void);  // s of processor time that this process has used
