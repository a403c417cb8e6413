/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCALLOC_ADAPTERS_TORCH_ALLOCATOR_H
#define ARCALLOC_ADAPTERS_TORCH_ALLOCATOR_H

#include <stddef.h>
#include <sys/types.h>

/*
 * What libarcalloc_torch.so exports: the functions that PyTorch calls through its CUDAPluggableAllocator, and some more
 * for whoever wants them. docs/pytorch.md has the lines that switch it on.
 *
 * A stream is a cudaStream_t, a device its number. Every function may be called from any thread. One allocator for each
 * device, made at its first request with the settings of the environment, and there until the process ends.
 */

#define ARCALLOC_TORCH_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of the device for work on the stream; null for 0 bytes and where there is none: the reason is on stderr. */
ARCALLOC_TORCH_EXPORT void* arcalloc_torch_allocate(ssize_t bytes, int device, void* stream);

/* Takes it back, ordered on the stream. */
ARCALLOC_TORCH_EXPORT void arcalloc_torch_free(void* address, ssize_t bytes, int device, void* stream);

/* Says that work on the stream, another than the block's own, uses the block (Tensor.record_stream). */
ARCALLOC_TORCH_EXPORT void arcalloc_torch_record_stream(void* address, void* stream);

/* Gives up what captured graphs of the device pin: none of them may be launched again, or still run. The number of
 * graphs. */
ARCALLOC_TORCH_EXPORT size_t arcalloc_torch_forget_graphs(int device);

/* Ends a step on every device: the window of the counters, and of the reports of ARC_ALLOC_CACHE_STATS. */
ARCALLOC_TORCH_EXPORT void arcalloc_torch_end_step(void);

/* One line on the device's allocator, as snprintf writes it. */
ARCALLOC_TORCH_EXPORT int arcalloc_torch_report(int device, char* text, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
