/* SPDX-License-Identifier: Apache-2.0 */
/* A library that stands before another one, as many do: it asks for the next function of its own name. */
#define _GNU_SOURCE
#include <dlfcn.h>

#ifdef IS_NEXT
const char* who_is_next(void);
const char* who_is_next(void) { return "the next"; }
#else
const char* who_is_next(void);
const char* who_is_next(void) {
  const char* (*next)(void) = 0;
  *(void**)&next = dlsym(RTLD_NEXT, "who_is_next");
  return next == 0 ? "nobody" : next == who_is_next ? "itself" : next();
}
#endif
