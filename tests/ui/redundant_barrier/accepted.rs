#![deny(deprecated)]

use tile_runtime::tiled_kernel;

tiled_kernel! {
    #[allow(TK0402)]
    pub fn silenced<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let x = a[i];
        barrier;
        c[i] = x;
    }
}

tiled_kernel! {
    #[allow(redundant_barrier)]
    pub fn silenced_by_name<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let x = a[i];
        barrier;
        c[i] = x;
    }
}

tiled_kernel! {
    pub fn needed<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        load s[i] = a[bx * TN + i];
        barrier;
        c[bx * TN + tx] = s[tx];
    }
}

tiled_kernel! {
    /// The second barrier is for the next iteration.
    pub fn around_the_loop<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [M]>)
    where tile: (TN), grid: (bx in tiles(M, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        let mut sum: Acc<T> = 0;
        phase p in tiles(N, TN) {
            load s[j] = a[p * TN + j];
            barrier;
            for k in 0..TN {
                sum += s[k];
            }
            barrier;
        }
        c[bx * TN + tx] = sum;
    }
}
