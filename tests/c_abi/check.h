/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCALLOC_TESTS_CHECK_H
#define ARCALLOC_TESTS_CHECK_H

#include <arcalloc/arcalloc.h>
#include <stdbool.h>

/* What the C tests share: checks that count and go on, and structs that are zero but for their size. */

/* Says where and what, and counts, when `holds` does not. */
void check_claim(const char* file, int line, const char* claim, bool holds);
void check_number(const char* file, int line, const char* what, uint64_t expected, uint64_t found);
void check_text(const char* file, int line, const char* what, const char* expected, const char* found);

#define CHECK(claim) check_claim(__FILE__, __LINE__, #claim, (claim))
#define CHECK_EQ(expected, found) check_number(__FILE__, __LINE__, #found, (uint64_t)(expected), (uint64_t)(found))
#define CHECK_TEXT(expected, found) check_text(__FILE__, __LINE__, #found, expected, found)
#define CHECK_OK(call) CHECK_EQ(ARCALLOC_OK, call)
#define CHECK_REFUSED(call) CHECK_EQ(ARCALLOC_INVALID_ARGUMENT, call)

/* A struct that is zero but for its size. */
#define SIZED(type) \
  { .size = sizeof(type) }

/* An allocator over a host device of its own; both must be had. */
typedef struct world {
  arcalloc_device* device;
  arcalloc_allocator* memory;
} world;
world open_world(const arcalloc_options* options);
void close_world(world* at);

arcalloc_block must_allocate(arcalloc_allocator* memory, size_t bytes, arcalloc_stream stream);
arcalloc_counters counters_of(const arcalloc_allocator* memory);

/* The cases, by file. */
void identity_cases(void);
void struct_cases(void);
void null_cases(void);
void block_cases(void);
void bound_cases(void);
void reading_cases(void);
void environment_cases(void);
void device_cases(void);
void capture_cases(void);
void recording_cases(void);

#endif
