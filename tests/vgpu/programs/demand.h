// A runtime call of a test program must succeed; if not, the program says where and ends.
#pragma once

#include <cstdio>
#include <cstdlib>

#define DEMAND(call)                                                       \
  do {                                                                     \
    if (const int error = (int)(call)) {                                   \
      std::printf("FAIL line %d: %s: error %d\n", __LINE__, #call, error); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (0)
