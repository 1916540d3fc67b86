use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [M]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        phase p in tiles(M, TN) {
            load s[i] = a[p * TN + i];
            barrier;
        }
        c[bx * TN + tx] = s[tx];
    }
}

fn main() {}
