/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

const char* who_is_next(void);

int main(void) {
  puts(who_is_next());
  return 0;
}
