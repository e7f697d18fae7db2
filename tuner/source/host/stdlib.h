#pragma once
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
