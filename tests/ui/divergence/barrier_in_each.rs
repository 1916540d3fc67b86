use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        each (j) in (TN) {
            s[j] = a[bx * TN + j];
            barrier;
        }
        c[bx * TN + tx] = s[tx];
    }
}

fn main() {}
