// A CUDA driver without a device: what the host code of the runtime calls, on
// the host's own memory. It runs no kernels. It keeps order by doing all at
// once, and aborts where a call breaks a rule of the driver API that a real
// driver would not always tell: memory used after it was freed, freed twice or
// never allocated, a stream destroyed twice, no current context.
//
// FAKE_DEVICES: how many devices there are (1).
// FAKE_MEMORY: bytes of memory of each (1 GiB).
// FAKE_FAULT: the CUresult of every wait once a kernel was launched.
// FAKE_GRAPHS: whether streams can be captured. Within a capture it aborts where
// memory is allocated or released, where something waits, and where work is queued
// on another stream. A launch, alone or of a graph, takes a millisecond.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;
enum { MAX_BLOCKS = 4096, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };

static struct { address start; size_t size; } blocks[MAX_BLOCKS];
static size_t used_bytes;
static long n_streams;
static int launched;
// The stream that is captured, the launches of the capture, and of the process.
static void *captured;
static long n_captured, n_done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread void *current;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static void fail(const char *what) {
    fprintf(stderr, "fake driver: %s\n", what);
    abort();
}

static void need_context(void) {
    if (!current) fail("no current context");
}

static void outside_of_captures(void) {
    if (captured) fail("a call that ends a capture");
}

static void queue_launch(void *stream) {
    if (captured && stream != captured) fail("a launch beside the stream that is captured");
    if (captured) n_captured++;
    else n_done++;
}

static int outcome(void) {
    need_context();
    outside_of_captures();
    return launched ? (int)number("FAKE_FAULT", 0) : 0;
}

static void need_memory(address start, size_t size) {
    pthread_mutex_lock(&lock);
    int found = 0;
    for (int i = 0; i < MAX_BLOCKS; i++) {
        address end = blocks[i].start + blocks[i].size;
        found |= blocks[i].size && start >= blocks[i].start && start + size <= end;
    }
    pthread_mutex_unlock(&lock);
    if (!found) fail("memory that is not allocated");
}

int cuInit(unsigned flags) { return flags; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = (int)number("FAKE_DEVICES", 1); return 0; }
int cuDeviceGet(int *device, int ordinal) {
    if (ordinal >= number("FAKE_DEVICES", 1)) return INVALID_DEVICE;
    *device = ordinal;
    return 0;
}
int cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "Fake GPU %d", device);
    return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = (size_t)number("FAKE_MEMORY", 1L << 30);
    return 0;
}
// Those of an H200, but for peaks that the driver does not give.
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 1: *value = 1024; break;     // threads per block
    case 8: *value = 49152; break;    // shared memory per block
    case 10: *value = 32; break;      // warp
    case 12: *value = 65536; break;   // registers per block
    case 13: *value = 1980000; break; // clock, kHz
    case 16: *value = 132; break;     // SMs
    case 36: *value = 3201000; break; // memory clock, kHz
    case 37: *value = 6144; break;    // bus, bits
    case 38: *value = 62914560; break; // L2
    case 39: *value = 2048; break;    // threads per SM
    case 75: *value = 9; break;       // compute capability
    case 76: *value = 0; break;
    case 81: *value = 233472; break;  // shared memory per SM
    case 82: *value = 65536; break;   // registers per SM
    case 97: *value = 232448; break;  // shared memory per block by opt-in
    case 106: *value = 32; break;     // blocks per SM
    case 111: *value = 1024; break;   // reserved shared memory
    case 115: *value = 1; break;      // memory pools
    default: fail("an attribute that is not known here");
    }
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = (void *)(size_t)(0x1000 + device);
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return 0; }
int cuCtxGetCurrent(void **context) { *context = current; return 0; }
int cuCtxSetCurrent(void *context) { current = context; return 0; }
int cuCtxSynchronize(void) { return outcome(); }
int cuGetErrorString(int code, const char **text) {
    *text = code == 700 ? "an illegal memory access was encountered" : "a fake error";
    return 0;
}
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    need_context();
    *total = (size_t)number("FAKE_MEMORY", 1L << 30);
    *free_bytes = *total - used_bytes;
    return 0;
}

int cuMemAlloc_v2(address *start, size_t size) {
    need_context();
    outside_of_captures();
    if (size == 0) fail("an empty allocation");
    if (used_bytes + size > (size_t)number("FAKE_MEMORY", 1L << 30)) return OUT_OF_MEMORY;
    void *memory = malloc(size);
    if (!memory) return OUT_OF_MEMORY;
    memset(memory, 0xA5, size);
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < MAX_BLOCKS && blocks[i].size) i++;
    if (i == MAX_BLOCKS) fail("too many allocations");
    blocks[i].start = (address)(size_t)memory;
    blocks[i].size = size;
    used_bytes += size;
    pthread_mutex_unlock(&lock);
    *start = (address)(size_t)memory;
    return 0;
}
int cuMemFree_v2(address start) {
    need_context();
    outside_of_captures();
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < MAX_BLOCKS && !(blocks[i].size && blocks[i].start == start)) i++;
    if (i == MAX_BLOCKS) fail("memory freed that is not allocated");
    used_bytes -= blocks[i].size;
    blocks[i].size = 0;
    free((void *)(size_t)start);
    pthread_mutex_unlock(&lock);
    return 0;
}
int cuMemAllocAsync(address *start, size_t size, void *stream) {
    if (!stream) fail("an allocation on the legacy stream");
    return cuMemAlloc_v2(start, size);
}
int cuMemFreeAsync(address start, void *stream) {
    if (!stream) fail("a release on the legacy stream");
    return cuMemFree_v2(start);
}
int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t size, void *stream) {
    (void)stream;
    need_memory(to, size);
    memcpy((void *)(size_t)to, from, size);
    return outcome();
}
int cuMemcpyDtoHAsync_v2(void *to, address from, size_t size, void *stream) {
    (void)stream;
    need_memory(from, size);
    memcpy(to, (const void *)(size_t)from, size);
    return outcome();
}
int cuMemcpyDtoDAsync_v2(address to, address from, size_t size, void *stream) {
    need_context();
    need_memory(from, size);
    need_memory(to, size);
    queue_launch(stream);
    if (!captured) memcpy((void *)(size_t)to, (const void *)(size_t)from, size);
    return 0;
}
int cuMemsetD8Async(address to, unsigned char value, size_t size, void *stream) {
    (void)stream;
    need_memory(to, size);
    memset((void *)(size_t)to, value, size);
    return outcome();
}

int cuModuleLoadData(void **module, const void *image) {
    need_context();
    if (memcmp(image, "\x7f" "ELF", 4) != 0) fail("an image that is no CUBIN");
    *module = (void *)1;
    return 0;
}
int cuModuleUnload(void *module) { (void)module; return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    if (!name[0]) fail("an empty name");
    *function = (void *)1;
    return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
    (void)attribute, (void)function;
    *value = 0;
    return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
    (void)function;
    if (attribute != 8 || value <= 49152) fail("an opt-in that is none");
    return 0;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                   void **extra) {
    (void)function, (void)shared, (void)extra;
    need_context();
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1) fail("a launch that is not linear");
    if (!stream || !params) fail("a launch without stream or parameters");
    // A kernel that copies its first parameter, an array, to what the second points to.
    const char *echo = getenv("FAKE_ECHO");
    if (echo) memcpy(*(void **)params[1], params[0], strtoul(echo, 0, 10));
    launched = 1;
    queue_launch(stream);
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags) {
    need_context();
    if (flags != 1) fail("a stream that waits for the legacy stream");
    *stream = (void *)(size_t)(0x2000 + __sync_add_and_fetch(&n_streams, 1));
    return 0;
}
int cuStreamDestroy_v2(void *stream) { (void)stream; return 0; }
int cuStreamSynchronize(void *stream) { (void)stream; return outcome(); }
int cuStreamQuery(void *stream) {
    if (captured && stream == captured) fail("a question that ends a capture");
    return outcome();
}
int cuStreamIsCapturing(void *stream, int *status) {
    *status = captured && stream == captured;
    return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
    static __thread int present;
    int before = present;
    present = *mode;
    *mode = before;
    return 0;
}
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)stream, (void)event, (void)flags;
    outside_of_captures();
    return 0;
}
int cuStreamBeginCapture_v2(void *stream, int mode) {
    if (!number("FAKE_GRAPHS", 0)) return 801;
    outside_of_captures();
    if (mode != 1) fail("a capture that ends what other threads do");
    captured = stream;
    n_captured = 0;
    return 0;
}
int cuStreamEndCapture(void *stream, void **graph) {
    *graph = 0;
    if (!captured) return 801;
    if (stream != captured) fail("the end of another stream's capture");
    captured = 0;
    long *launches = malloc(sizeof *launches);
    *launches = n_captured;
    *graph = launches;
    return 0;
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    if (flags) fail("flags that are not known here");
    long *launches = malloc(sizeof *launches);
    *launches = *(long *)graph;
    *executable = launches;
    return 0;
}
int cuGraphLaunch(void *executable, void *stream) {
    if (!stream) fail("a launch without stream");
    outside_of_captures();
    n_done += *(long *)executable;
    return 0;
}
int cuGraphUpload(void *executable, void *stream) {
    (void)executable, (void)stream;
    outside_of_captures();
    return 0;
}
int cuGraphDestroy(void *graph) { free(graph); return 0; }
int cuGraphExecDestroy(void *executable) { free(executable); return 0; }
int cuEventCreate(void **event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof(long));
    return 0;
}
int cuEventRecord(void *event, void *stream) {
    (void)stream;
    outside_of_captures();
    *(long *)event = n_done;
    return 0;
}
int cuEventQuery(void *event) { (void)event; return 0; }
int cuEventSynchronize(void *event) { (void)event; return outcome(); }
int cuEventDestroy_v2(void *event) { free(event); return 0; }
int cuEventElapsedTime(float *ms, void *start, void *end) {
    *ms = (float)(*(long *)end - *(long *)start);
    return 0;
}
int cuEventElapsedTime_v2(float *ms, void *start, void *end) {
    return cuEventElapsedTime(ms, start, end);
}
