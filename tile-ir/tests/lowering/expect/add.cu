extern "C" __global__ void __launch_bounds__(256)
add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, const int N)
{
    const int bx = (int)(blockIdx.x);
    {
        const int tk_tx_of_thread = (int)threadIdx.x;
        #pragma unroll
        for (int tk_r0 = 0; tk_r0 < 4; ++tk_r0) {
            const int tx = tk_tx_of_thread + tk_r0 * 256;
            int i = bx * 1024 + tx;
            if (i < N) { c[i] = ((i < N) ? a[i] : 0.0f) + ((i < N) ? b[i] : 0.0f); }
        }
    }
}
