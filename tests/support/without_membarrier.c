/* SPDX-License-Identifier: Apache-2.0
 * Runs a program on a kernel that answers membarrier with ENOSYS, as old kernels and some sandboxes do:
 *
 *   without_membarrier PROGRAM [ARGUMENT...]
 *
 * Exit status: the program's; 2 when the filter cannot be set or does not work. */
#define _GNU_SOURCE /* syscall */
#include <errno.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const char* what) {
  fprintf(stderr, "without_membarrier: %s: %s\n", what, strerror(errno));
  return 2;
}

int main(int count, char** words) {
  if (count < 2) {
    fprintf(stderr, "usage: without_membarrier PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof steps / sizeof steps[0], steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail("no_new_privs");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return fail("seccomp filter");
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) != -1 || errno != ENOSYS) {
    fprintf(stderr, "without_membarrier: the kernel still answers membarrier\n");
    return 2;
  }
  execv(words[1], words + 1);
  return fail(words[1]);
}
