/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARCALLOC_ARCALLOC_H
#define ARCALLOC_ARCALLOC_H

/*
 * arcalloc for C, and for every language that can call C: all that allocator.hpp offers.
 *
 * Conventions, which hold for every function below:
 *
 * 1 Ownership. An opaque pointer (arcalloc_device, arcalloc_allocator) is made by a function with `create` in its
 *   name and ended by its `destroy`; nobody else frees it. Using it afterwards is the one mistake that cannot be
 *   seen. A block belongs to the caller from allocate to deallocate, and its struct is a token: copy it, keep it,
 *   do not make one up.
 *
 * 2 Threads. Every function may be called from any thread, several at once; except that a destroy must be the last
 *   call on its object. Callbacks come on the thread whose call caused them.
 *
 * 3 Errors. A function that can be refused returns arcalloc_status, and ARCALLOC_OK is 0. Refused, it leaves live
 *   blocks, bounds and settings as they were; a pointer, value or block that it would have given is zero, and an
 *   output struct is as it was. No exception or longjmp crosses this interface in either direction: callbacks
 *   neither throw nor jump.
 *
 * 4 Structs. Each begins with `size`: set it to sizeof the struct, and the rest to zero before filling it in.
 *   Fields are only ever added at the end. From an older caller's shorter struct the missing fields are read as
 *   zero, and into it only its own fields are written. A newer caller's longer struct is taken where what this
 *   library does not know is zero; as an output, its surplus is zeroed. On return the `size` of an output says how
 *   many bytes were filled, never more than it was. A size below that of the first version, or above
 *   ARCALLOC_STRUCT_SIZE_MAX, is ARCALLOC_INVALID_ARGUMENT. arcalloc_counters may be shortened at will, to a
 *   multiple of 8 from 16 up.
 *
 * 5 Null. A null allocator, device, struct or output is ARCALLOC_INVALID_ARGUMENT, never a crash. What may be
 *   null: options (the defaults), an address or block to free (nothing to do), an object to destroy, a callback
 *   not wanted.
 *
 * 6 Strings. What comes back as const char* is static, ended by zero, never freed, and never null. What is passed
 *   in is read during the call only. A text is written as snprintf does: at most `capacity` bytes with the zero,
 *   the result is the length of the whole text; it is negative, -status, when an argument is wrong. A null text
 *   with capacity 0 asks for the length.
 *
 * 7 Zero. A struct that is zero but for its size means what is shipped: cache on, bound derived, no capacity, 8
 *   size classes per doubling. Stream 0 is the default stream. A request of 0 bytes is ok, and no block.
 *
 * 8 Enumerations are passed as 32-bit integers; a value that is not listed is ARCALLOC_INVALID_ARGUMENT.
 *
 * 9 Backends. A caller's functions and their context outlive the device made of them; what a device lent it may
 *   have to take back until its last allocator is destroyed. A device with allocators on it refuses to be
 *   destroyed.
 *
 * 10 Versions. ARCALLOC_ABI_VERSION is that of this header, arcalloc_abi_version() that of the library. It changes
 *    only when something here changes its meaning or goes away.
 */

#include <stddef.h>
#include <stdint.h>

#include <arcalloc/counters.h>
#include <arcalloc/recording.h>

#if defined(__GNUC__)
#define ARCALLOC_API __attribute__((visibility("default")))
#else
#define ARCALLOC_API
#endif

#ifdef __cplusplus
#define ARCALLOC_NOEXCEPT noexcept
extern "C" {
#else
#define ARCALLOC_NOEXCEPT
#endif

#define ARCALLOC_ABI_VERSION 1u
#define ARCALLOC_STRUCT_SIZE_MAX 4096u

/* The outcome of a call; docs/statuses.md says what to do about each. */
typedef int32_t arcalloc_status;
enum {
  ARCALLOC_OK = 0,
  ARCALLOC_INVALID_ARGUMENT,
  ARCALLOC_REQUEST_TOO_LARGE,
  ARCALLOC_CAPACITY_EXCEEDED,
  ARCALLOC_DEVICE_OUT_OF_MEMORY,
  ARCALLOC_CAPTURE_MISS,
  ARCALLOC_UNKNOWN_POINTER,
  ARCALLOC_DOUBLE_FREE,
  ARCALLOC_BACKEND_UNAVAILABLE,
  ARCALLOC_BACKEND_FAILED,
  ARCALLOC_SHUTTING_DOWN
};

/* What the engine is doing. */
typedef int32_t arcalloc_phase;
enum { ARCALLOC_PHASE_MIXED = 0, ARCALLOC_PHASE_PREFILL, ARCALLOC_PHASE_DECODE };

/* How sizes are rounded: size classes per doubling, or none. */
typedef int32_t arcalloc_geometry;
enum {
  ARCALLOC_GEOMETRY_8 = 0,
  ARCALLOC_GEOMETRY_1,
  ARCALLOC_GEOMETRY_2,
  ARCALLOC_GEOMETRY_4,
  ARCALLOC_GEOMETRY_16,
  ARCALLOC_GEOMETRY_EXACT
};

/* How the bound on cached bytes is found. */
typedef int32_t arcalloc_bound_mode;
enum { ARCALLOC_BOUND_DERIVED = 0, ARCALLOC_BOUND_EXPLICIT, ARCALLOC_BOUND_UNBOUNDED };

/* A setting that is on, off, or as shipped. */
typedef int32_t arcalloc_switch;
enum { ARCALLOC_SWITCH_DEFAULT = 0, ARCALLOC_SWITCH_ON, ARCALLOC_SWITCH_OFF };

typedef int32_t arcalloc_severity;
enum { ARCALLOC_SEVERITY_WARNING = 0, ARCALLOC_SEVERITY_ERROR };

/* What a request meets in a capture window when nothing held will do: the driver is asked, or ARCALLOC_CAPTURE_MISS. */
typedef int32_t arcalloc_capture_policy;
enum { ARCALLOC_CAPTURE_AS_CONFIGURED = 0, ARCALLOC_CAPTURE_GROW, ARCALLOC_CAPTURE_REFUSE };

/* A queue of work on the device, by its identity; 0 is the default stream. Never dereferenced. Values with the highest
 * bit set are the library's own. */
typedef uint64_t arcalloc_stream;

/* The calling thread's own default stream: in two threads two streams. */
#define ARCALLOC_PER_THREAD_STREAM UINT64_MAX

/* A captured graph, as the allocator knows it; 0: none. */
typedef uint64_t arcalloc_graph;

typedef struct arcalloc_device arcalloc_device;
typedef struct arcalloc_allocator arcalloc_allocator;
typedef struct arcalloc_profile arcalloc_profile;

/* One piece of device memory. All zero: no block. */
typedef struct arcalloc_block {
  void* address;
  void* record; /* opaque */
} arcalloc_block;

/* Takes a line without a newline. Called without locks. */
typedef void (*arcalloc_text_sink)(void* context, const char* line);
typedef void (*arcalloc_diagnostic_sink)(void* context, arcalloc_severity severity, const char* line);

/* Everything an allocator is created with. */
typedef struct arcalloc_options {
  uint32_t size;
  arcalloc_switch cache;                      /* off: every request goes to the driver */
  arcalloc_bound_mode cached_bytes_max_mode;  /* default derived */
  uint32_t cached_bytes_max_from_environment; /* 1: cap_source says so; set by arcalloc_options_from_environment */
  uint64_t cached_bytes_max;                  /* read under ARCALLOC_BOUND_EXPLICIT only; 0 caches nothing */
  uint64_t capacity_bytes;                    /* bound on all bytes from the driver; 0: none */
  arcalloc_geometry geometry;
  arcalloc_switch oom_retry;        /* default on; off: a refusal by the driver is final */
  arcalloc_switch cache_in_prefill; /* default off */
  uint32_t stats_every_steps;       /* a step report to the sink every N steps; 0: never */
  arcalloc_text_sink sink;          /* null: no report is made */
  void* sink_context;
  arcalloc_capture_policy capture_miss; /* default grow */
  uint32_t zero;
  const char* profile_path; /* a prewarm profile to load at creation; null: none */
  const char* trace_path;   /* a file to record every request into; null: none */
} arcalloc_options;

/* How a capture window is opened. Windows of one pool group share what only replays touch; 0: a group of its own. */
typedef struct arcalloc_capture_options {
  uint32_t size;
  arcalloc_capture_policy policy;
  uint64_t pool_group;
} arcalloc_capture_options;

/* Requests of one class and stream that missed in a window. An element of an array: it does not grow. */
typedef struct arcalloc_capture_miss {
  uint64_t requested_bytes; /* the first of them */
  uint64_t class_bytes;
  arcalloc_stream stream;
  uint64_t count;
} arcalloc_capture_miss;

/* On this stream, this many blocks of this size out at once. An element of an array: it does not grow. */
typedef struct arcalloc_profile_entry {
  arcalloc_stream stream;
  uint64_t bytes;
  uint64_t blocks;
} arcalloc_profile_entry;

/*
 * A device of the caller's own. The contract of each function is that of backend.hpp; in short: any thread may call
 * any of them, several at once; allocate, free, query_memory and wait_event may block, the others must not; a failure
 * is a status and leaves the device as it was. A status that a device cannot mean is taken as ARCALLOC_BACKEND_FAILED.
 */
typedef struct arcalloc_backend {
  uint32_t size;
  uint32_t synchronous; /* 1: work is done when the host has done it; then the event functions may be null */
  uint64_t granularity; /* a power of two: sizes are multiples of it, addresses are aligned to it and to 512 */
  const char* name;     /* for reports; copied, up to 63 bytes; null: "caller" */
  void* context;        /* the first argument of every function */
  arcalloc_status (*allocate)(void* context, size_t bytes, arcalloc_stream stream, void** address);
  arcalloc_status (*free)(void* context, void* address, size_t bytes);
  arcalloc_status (*query_memory)(void* context, uint64_t* free_bytes, uint64_t* total_bytes);
  arcalloc_status (*record_event)(void* context, arcalloc_stream stream, uint64_t* event); /* never event 0 */
  arcalloc_status (*query_event)(void* context, uint64_t event, int32_t* finished);        /* 0 or 1 */
  arcalloc_status (*wait_event)(void* context, uint64_t event);
  void (*drop_event)(void* context, uint64_t event);
  /* allocate while the stream is being captured, beside the capture; null: the device cannot */
  arcalloc_status (*allocate_beside_capture)(void* context, size_t bytes, arcalloc_stream stream, void** address);
} arcalloc_backend;

/* Which context a CUDA device's memory belongs to: the device's primary one, or the calling thread's current one. */
typedef int32_t arcalloc_cuda_context;
enum { ARCALLOC_CUDA_CONTEXT_PRIMARY = 0, ARCALLOC_CUDA_CONTEXT_CURRENT };

/* Which of the driver's ways to lend is used: cuMemAlloc, or a pool of our own. */
typedef int32_t arcalloc_cuda_source;
enum { ARCALLOC_CUDA_SOURCE_DRIVER = 0, ARCALLOC_CUDA_SOURCE_STREAM_ORDERED };

/* A CUDA device; cuda_backend.hpp says what each field means. All zero but for the size: device 0 as shipped. */
typedef struct arcalloc_cuda_options {
  uint32_t size;
  int32_t ordinal; /* not read under ARCALLOC_CUDA_CONTEXT_CURRENT */
  arcalloc_cuda_context context;
  arcalloc_cuda_source source;
  uint64_t granularity;    /* a power of two; 0: 512 */
  const char* driver_path; /* null: libcuda.so.1 as the loader finds it */
} arcalloc_cuda_options;

/* What the driver says about the device's memory now. */
typedef struct arcalloc_memory_info {
  uint32_t size;
  uint32_t zero;
  uint64_t free_bytes;
  uint64_t total_bytes;
} arcalloc_memory_info;

/* How the bound on cached bytes was found: (free - reserve) / 2, at most 1 GiB. Bytes. */
typedef struct arcalloc_cap_arithmetic {
  uint32_t size;
  arcalloc_status query; /* what the last memory query answered */
  uint64_t cached_bytes_max;
  uint64_t cap_source; /* arcalloc_cap_source */
  uint64_t driver_free_bytes;
  uint64_t own_cached_bytes;
  uint64_t free_bytes;              /* the driver's free + our cached */
  uint64_t reserve_bytes;           /* min(256 MiB, free / 4) */
  uint64_t cached_bytes_max_wanted; /* where the cache thrashes: the bound that would do; else 0 */
} arcalloc_cap_arithmetic;

/* The last refusal by the ladder, term by term. Bytes. */
typedef struct arcalloc_failure {
  uint32_t size;
  arcalloc_status outcome; /* ARCALLOC_OK: none so far */
  uint64_t requested_bytes;
  uint64_t class_bytes;
  arcalloc_stream stream;
  uint64_t allocated_bytes;
  uint64_t pending_bytes;
  uint64_t cached_bytes;
  uint64_t slack_bytes;
  uint64_t pinned_bytes;
  uint64_t stuck_bytes;
  uint64_t reserved_bytes;
  uint64_t cached_bytes_max;
  uint64_t capacity_bytes;
  uint64_t driver_free_bytes; /* ARCALLOC_NO_BOUND where the driver would not say */
  uint64_t largest_idle_bytes;
} arcalloc_failure;

/* The segment behind an address, for engines that share or register device memory. */
typedef struct arcalloc_segment_extent {
  uint32_t size;
  uint32_t zero;
  void* base;
  uint64_t bytes;
  uint64_t offset_bytes;
} arcalloc_segment_extent;

/* What the library is, fixed when it was built. */
typedef struct arcalloc_build {
  uint32_t size;
  uint32_t abi_version;
  const char* version;    /* "0.1.0" */
  const char* commit;     /* full hash, or "unknown" */
  const char* dirty;      /* "clean", "dirty" or "unknown" */
  const char* compiler;   /* name and version */
  const char* build_type; /* such as "Release" */
} arcalloc_build;

/* The library itself. */
ARCALLOC_API uint32_t arcalloc_abi_version(void) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_built_as(arcalloc_build* out) ARCALLOC_NOEXCEPT;

/* The identifier, such as "device_out_of_memory"; "unknown_..." for a value that is not listed. */
ARCALLOC_API const char* arcalloc_status_name(arcalloc_status value) ARCALLOC_NOEXCEPT;
ARCALLOC_API const char* arcalloc_phase_name(arcalloc_phase value) ARCALLOC_NOEXCEPT;
ARCALLOC_API const char* arcalloc_geometry_name(arcalloc_geometry value) ARCALLOC_NOEXCEPT;
ARCALLOC_API const char* arcalloc_cap_source_name(uint64_t value) ARCALLOC_NOEXCEPT;

/* Devices. A host device lends memory of the process, up to size_bytes (at least a page). */
ARCALLOC_API arcalloc_status arcalloc_host_device_create(uint64_t size_bytes, arcalloc_device** out) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_device_create(const arcalloc_backend* backend,
                                                    arcalloc_device** out) ARCALLOC_NOEXCEPT;
/* The driver is opened at run time. Refused, `text` (if any) says what is missing, cut to `capacity` bytes:
 * ARCALLOC_BACKEND_UNAVAILABLE where there is no driver or no such device. Null options: device 0. */
ARCALLOC_API arcalloc_status arcalloc_cuda_device_create(const arcalloc_cuda_options* options, arcalloc_device** out,
                                                         char* text, size_t capacity) ARCALLOC_NOEXCEPT;
/* What a device's driver failed to do last, in a sentence written as snprintf does; "" where nothing is known. */
ARCALLOC_API int arcalloc_device_error_text(const arcalloc_device* device, char* text,
                                            size_t capacity) ARCALLOC_NOEXCEPT;
/* ARCALLOC_INVALID_ARGUMENT, and nothing done, while an allocator stands on it. */
ARCALLOC_API arcalloc_status arcalloc_device_destroy(arcalloc_device* device) ARCALLOC_NOEXCEPT;
/* "" for a null device. Valid as long as the device. */
ARCALLOC_API const char* arcalloc_device_name(const arcalloc_device* device) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_device_query_memory(const arcalloc_device* device,
                                                          arcalloc_memory_info* out) ARCALLOC_NOEXCEPT;

/*
 * Applies the ARC_ALLOC_* variables of the process to `options`, which is valid on entry and complete afterwards. A
 * refused value leaves its field as it was and is told to `sink` with ARCALLOC_SEVERITY_ERROR; all variables are looked
 * at, and the result is ARCALLOC_INVALID_ARGUMENT if any was refused. Unknown names and unbounded caches are warned
 * about. When reports are asked for and there is no sink, the sink becomes one that writes to stderr.
 */
ARCALLOC_API arcalloc_status arcalloc_options_from_environment(arcalloc_options* options, arcalloc_diagnostic_sink sink,
                                                               void* sink_context) ARCALLOC_NOEXCEPT;

/* Makes an allocator over a device. Null options: the defaults. */
ARCALLOC_API arcalloc_status arcalloc_create(arcalloc_device* device, const arcalloc_options* options,
                                             arcalloc_allocator** out) ARCALLOC_NOEXCEPT;
/* Gives every segment back to the driver; live blocks and their handles die with their allocator. */
ARCALLOC_API void arcalloc_destroy(arcalloc_allocator* allocator) ARCALLOC_NOEXCEPT;
/* Null for a null allocator. */
ARCALLOC_API arcalloc_device* arcalloc_device_of(const arcalloc_allocator* allocator) ARCALLOC_NOEXCEPT;

/* Hands out at least `bytes` for work on `stream`, aligned to 512. */
ARCALLOC_API arcalloc_status arcalloc_allocate(arcalloc_allocator* allocator, size_t bytes, arcalloc_stream stream,
                                               arcalloc_block* out) ARCALLOC_NOEXCEPT;

/* Takes a block back: by its struct (the fastest), or by address (one lookup), and then, with a size, only if it was
 * requested with exactly that. Work enqueued on the block's own stream before may still use it. */
ARCALLOC_API arcalloc_status arcalloc_deallocate(arcalloc_allocator* allocator, arcalloc_block block) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_deallocate_address(arcalloc_allocator* allocator,
                                                         void* address) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_deallocate_address_sized(arcalloc_allocator* allocator, void* address,
                                                               size_t bytes) ARCALLOC_NOEXCEPT;

/* The same, ordered on `stream`; where that is not the block's own, it implies note_use there. */
ARCALLOC_API arcalloc_status arcalloc_deallocate_on(arcalloc_allocator* allocator, arcalloc_block block,
                                                    arcalloc_stream stream) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_deallocate_address_on(arcalloc_allocator* allocator, void* address,
                                                            arcalloc_stream stream) ARCALLOC_NOEXCEPT;

/* Says that work on `stream`, another than the block's own, uses the block: freed, it is pending until that passed. */
ARCALLOC_API arcalloc_status arcalloc_note_use(arcalloc_allocator* allocator, arcalloc_block block,
                                               arcalloc_stream stream) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_note_use_address(arcalloc_allocator* allocator, void* address,
                                                       arcalloc_stream stream) ARCALLOC_NOEXCEPT;

/* The stream goes away: called before the driver destroys it. Its memory is for every other stream once its work has
 * finished, and its number may mean another stream from now on. */
ARCALLOC_API arcalloc_status arcalloc_end_stream(arcalloc_allocator* allocator,
                                                 arcalloc_stream stream) ARCALLOC_NOEXCEPT;
/* What ARCALLOC_PER_THREAD_STREAM means on the calling thread, as a value that means the same on every thread. */
ARCALLOC_API arcalloc_stream arcalloc_this_thread_stream(void) ARCALLOC_NOEXCEPT;

/*
 * Capture windows: begun before the driver's capture, ended after it; docs/graph_capture.md has the recipe. While any
 * is open nothing is freed to the driver, queried or waited for. What a window touches is pinned until
 * arcalloc_release_graph. Null options: as configured, a group of its own.
 */
ARCALLOC_API arcalloc_status arcalloc_begin_capture(arcalloc_allocator* allocator, arcalloc_stream stream,
                                                    const arcalloc_capture_options* options) ARCALLOC_NOEXCEPT;
/* `joining` waits on `capturing`: its work is part of the same graph. */
ARCALLOC_API arcalloc_status arcalloc_join_capture(arcalloc_allocator* allocator, arcalloc_stream joining,
                                                   arcalloc_stream capturing) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_end_capture(arcalloc_allocator* allocator, arcalloc_stream stream,
                                                  arcalloc_graph* out) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_abort_capture(arcalloc_allocator* allocator,
                                                    arcalloc_stream stream) ARCALLOC_NOEXCEPT;
/* The graph was launched on `stream`: where that is not the stream of its capture, its end waits for it. */
ARCALLOC_API arcalloc_status arcalloc_note_replay(arcalloc_allocator* allocator, arcalloc_graph graph,
                                                  arcalloc_stream stream) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_release_graph(arcalloc_allocator* allocator,
                                                    arcalloc_graph graph) ARCALLOC_NOEXCEPT;
/* 1 while the stream is in a window, else 0. */
ARCALLOC_API arcalloc_status arcalloc_is_capturing(const arcalloc_allocator* allocator, arcalloc_stream stream,
                                                   int32_t* out) ARCALLOC_NOEXCEPT;
/* What missed in the open or the last window: at most `capacity` elements into `out` (null where that is 0), and in
 * `count` how many there are. */
ARCALLOC_API arcalloc_status arcalloc_read_capture_misses(const arcalloc_allocator* allocator,
                                                          arcalloc_capture_miss* out, size_t capacity,
                                                          size_t* count) ARCALLOC_NOEXCEPT;

/* Prewarm profiles: what a warm-up asked for. An empty one is made, and filled by the functions below. */
ARCALLOC_API arcalloc_status arcalloc_profile_create(arcalloc_profile** out) ARCALLOC_NOEXCEPT;
ARCALLOC_API void arcalloc_profile_destroy(arcalloc_profile* profile) ARCALLOC_NOEXCEPT;
/* Adds an entry, or raises the count of the one with the same stream and bytes. */
ARCALLOC_API arcalloc_status arcalloc_profile_add(arcalloc_profile* profile,
                                                  const arcalloc_profile_entry* entry) ARCALLOC_NOEXCEPT;
/* As arcalloc_read_capture_misses. */
ARCALLOC_API arcalloc_status arcalloc_profile_entries(const arcalloc_profile* profile, arcalloc_profile_entry* out,
                                                      size_t capacity, size_t* count) ARCALLOC_NOEXCEPT;
/* Streams have other numbers in the next run: what is noted for `from` is meant for `to`. */
ARCALLOC_API arcalloc_status arcalloc_profile_rename_stream(arcalloc_profile* profile, arcalloc_stream from,
                                                            arcalloc_stream to) ARCALLOC_NOEXCEPT;
/* Profile files. Refused, `text` (if any) says why, with file and line, cut to `capacity` bytes; the profile is as it
 * was. */
ARCALLOC_API arcalloc_status arcalloc_profile_read(arcalloc_profile* profile, const char* path, char* text,
                                                   size_t capacity) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_profile_write(const arcalloc_profile* profile, const char* path, char* text,
                                                    size_t capacity) ARCALLOC_NOEXCEPT;

/* Records from now on, per stream and class, the most blocks out at once; every call takes the slow way meanwhile. */
ARCALLOC_API arcalloc_status arcalloc_begin_profile(arcalloc_allocator* allocator) ARCALLOC_NOEXCEPT;
/* Adds what was seen to `out`. */
ARCALLOC_API arcalloc_status arcalloc_end_profile(arcalloc_allocator* allocator,
                                                  arcalloc_profile* out) ARCALLOC_NOEXCEPT;
/* Fills the cache to the profile within the bounds; or says whether it is. `missing` may be null; else it becomes what
 * is short. */
ARCALLOC_API arcalloc_status arcalloc_prewarm(arcalloc_allocator* allocator, const arcalloc_profile* wanted,
                                              arcalloc_profile* missing) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_verify(const arcalloc_allocator* allocator, const arcalloc_profile* wanted,
                                             arcalloc_profile* missing) ARCALLOC_NOEXCEPT;

/*
 * Recordings: every request, free, use, step, phase, capture and refusal as an event. Events go to a sink, or into a
 * file in the trace format, which is emptied (where another recording writes that, into `path.2` and so on). A flush
 * writes what has been noted; the end also closes, and is ARCALLOC_BACKEND_FAILED where events were lost. A recording
 * that nobody ended is ended with its allocator, or with the process.
 */
ARCALLOC_API arcalloc_status arcalloc_begin_recording(arcalloc_allocator* allocator,
                                                      const arcalloc_recording_sink* sink) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_record_to(arcalloc_allocator* allocator, const char* path) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_flush_recording(arcalloc_allocator* allocator) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_end_recording(arcalloc_allocator* allocator) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_read_recording(const arcalloc_allocator* allocator,
                                                     arcalloc_recording_state* out) ARCALLOC_NOEXCEPT;

/* Phases and steps. A new allocator is in the mixed phase; entering the current one does nothing. */
ARCALLOC_API arcalloc_status arcalloc_begin_phase(arcalloc_allocator* allocator, arcalloc_phase next) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_current_phase(const arcalloc_allocator* allocator,
                                                    arcalloc_phase* out) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_end_step(arcalloc_allocator* allocator) ARCALLOC_NOEXCEPT;

/* Gives idle memory back: until cached_bytes is at most the target, without waiting; or all of it, waiting for
 * pending work. */
ARCALLOC_API arcalloc_status arcalloc_trim(arcalloc_allocator* allocator,
                                           uint64_t cached_bytes_target) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_drain(arcalloc_allocator* allocator) ARCALLOC_NOEXCEPT;

/* Switches the cache on (1), or off with a drain (0). */
ARCALLOC_API arcalloc_status arcalloc_set_enabled(arcalloc_allocator* allocator, int32_t enabled) ARCALLOC_NOEXCEPT;
/* Sets a bound, and obeys it before returning. `bytes` counts under ARCALLOC_BOUND_EXPLICIT only. */
ARCALLOC_API arcalloc_status arcalloc_set_cached_bytes_max(arcalloc_allocator* allocator, arcalloc_bound_mode mode,
                                                           uint64_t bytes) ARCALLOC_NOEXCEPT;
/* 0: none. ARCALLOC_CAPACITY_EXCEEDED, and no change, when live blocks stand in the way. */
ARCALLOC_API arcalloc_status arcalloc_set_capacity_bytes(arcalloc_allocator* allocator,
                                                         uint64_t bytes) ARCALLOC_NOEXCEPT;

/* Readings. Counters since creation, and of the last closed step. */
ARCALLOC_API arcalloc_status arcalloc_read_counters(const arcalloc_allocator* allocator,
                                                    arcalloc_counters* out) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_read_step_counters(const arcalloc_allocator* allocator,
                                                         arcalloc_counters* out) ARCALLOC_NOEXCEPT;
/* Sets every peak to the present value; resets nothing else. */
ARCALLOC_API arcalloc_status arcalloc_reset_peaks(arcalloc_allocator* allocator) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_read_cap(const arcalloc_allocator* allocator,
                                               arcalloc_cap_arithmetic* out) ARCALLOC_NOEXCEPT;
ARCALLOC_API arcalloc_status arcalloc_last_failure(const arcalloc_allocator* allocator,
                                                   arcalloc_failure* out) ARCALLOC_NOEXCEPT;
/* ARCALLOC_UNKNOWN_POINTER when `address` lies in no segment. */
ARCALLOC_API arcalloc_status arcalloc_locate(const arcalloc_allocator* allocator, const void* address,
                                             arcalloc_segment_extent* out) ARCALLOC_NOEXCEPT;

/* The window between two readings: counts subtracted, gauges as in `now`. */
ARCALLOC_API arcalloc_status arcalloc_counters_between(const arcalloc_counters* before, const arcalloc_counters* now,
                                                       arcalloc_counters* out) ARCALLOC_NOEXCEPT;

/* Texts, written as snprintf does. One line each, without a newline. */
ARCALLOC_API int arcalloc_failure_text(const arcalloc_failure* failure, char* text, size_t capacity) ARCALLOC_NOEXCEPT;
/* `window` spans `steps` steps; its own `steps` is the number of the step that it ends at. */
ARCALLOC_API int arcalloc_step_report_text(const arcalloc_counters* window, uint64_t steps, char* text,
                                           size_t capacity) ARCALLOC_NOEXCEPT;
/* A JSON object with the names of arcalloc_counters; of a shortened struct, the fields that it has. A bound that is not
 * set is null, and cap_source is its name. */
ARCALLOC_API int arcalloc_counters_json(const arcalloc_counters* counters, char* text,
                                        size_t capacity) ARCALLOC_NOEXCEPT;
/* The counters of `count` allocators in Prometheus' text format 0.0.4. labels[i], as Prometheus writes them between
 * braces, such as `device="0",rank="1"`, tells the i-th allocator's series from the others'; null, there or for all:
 * none. A count is arcalloc_NAME_total, a gauge arcalloc_NAME; a bound that is not set is +Inf. */
ARCALLOC_API int arcalloc_metrics_text(const arcalloc_counters* const* counters, const char* const* labels,
                                       size_t count, char* text, size_t capacity) ARCALLOC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
