use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(#[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; TN];
        load s[j] = a[bx * TN + j];
        barrier;
        let mut sum: Acc<T> = 0;
        for k in 0..3 {
            sum += s[tx - k];
        }
        c[bx * TN + tx] = sum;
    }
}

fn main() {}
