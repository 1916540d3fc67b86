// The part of cuBLAS that is compared with, on the host's memory, as its
// documentation says: column-major, with strides between products.

#include <stdio.h>
#include <stdlib.h>

static int workspace_set, mode_set;

static void fail(const char *what) {
    fprintf(stderr, "fake cuBLAS: %s\n", what);
    abort();
}

int cublasCreate_v2(void **handle) { *handle = (void *)7; return 0; }
int cublasDestroy_v2(void *handle) { return handle != (void *)7; }
int cublasSetStream_v2(void *handle, void *stream) {
    if (!handle || !stream) fail("no handle or stream");
    workspace_set = 0; // as the real one does
    return 0;
}
int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes) {
    if (!handle || !workspace || !bytes) fail("no workspace");
    workspace_set = 1;
    return 0;
}
int cublasSetMathMode(void *handle, int mode) {
    (void)handle;
    if (mode != 0) fail("a mode that may narrow inputs");
    mode_set = 1;
    return 0;
}
int cublasGetVersion_v2(void *handle, int *version) {
    (void)handle;
    *version = 130002;
    return 0;
}
int cublasSgemmStridedBatched(void *handle, int of_a, int of_b, int m, int n, int k,
                              const float *alpha, const float *a, int lda, long long stride_a,
                              const float *b, int ldb, long long stride_b, const float *beta,
                              float *c, int ldc, long long stride_c, int batches) {
    if (handle != (void *)7 || !workspace_set || !mode_set) fail("not started");
    if (of_a || of_b || lda < m || ldb < k || ldc < m) fail("an operation that is not known here");
    for (int batch = 0; batch < batches; batch++)
        for (int column = 0; column < n; column++)
            for (int row = 0; row < m; row++) {
                float sum = 0;
                for (int i = 0; i < k; i++)
                    sum += a[batch * stride_a + row + (long long)i * lda]
                         * b[batch * stride_b + i + (long long)column * ldb];
                float *to = &c[batch * stride_c + row + (long long)column * ldc];
                *to = *alpha * sum + (*beta ? *beta * *to : 0);
            }
    return 0;
}
int cublasSgemm_v2(void *handle, int of_a, int of_b, int m, int n, int k, const float *alpha,
                   const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                   int ldc) {
    return cublasSgemmStridedBatched(handle, of_a, of_b, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                                     beta, c, ldc, 0, 1);
}
