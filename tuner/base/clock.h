// Clocks. Not for `search/`: what a strategy proposes depends on seed and results alone.
#pragma once

double clock_now(void);  // s, monotonic, from an arbitrary start
double clock_wall(void); // s since 1970-01-01 00:00 UTC
double clock_cpu(void);  // s of processor time that this process has used
