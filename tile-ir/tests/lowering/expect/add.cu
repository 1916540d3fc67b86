extern "C" __global__ void __launch_bounds__(256) add(
    const float* __restrict__ a, // N
    const float* __restrict__ b, // N
    float* __restrict__ c, // N
    const int N
) {
    const int bx = blockIdx.x;
    const int thread = threadIdx.x;
    #pragma unroll
    for (int tx_step = 0; tx_step < 4; ++tx_step) {
        const int tx = thread + tx_step * 256;
        const int i = bx * 1024 + tx;
        if (i < N) {
            c[i] = (i < N ? a[i] : 0.0f) + (i < N ? b[i] : 0.0f);
        }
    }
}
