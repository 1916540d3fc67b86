use tile_runtime::tiled_kernel;

tiled_kernel! {
    #[allow(TK0402)]
    pub fn by_block<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        s[tx] = a[i];
        if bx > 0 {
            barrier;
        }
        c[i] = s[tx];
    }
}

tiled_kernel! {
    pub fn around<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN in 16..=256 step 16), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        if tx < 16 {
            s[tx] = a[i];
        }
        barrier;
        if tx < 16 {
            c[i] = s[15 - tx];
        }
    }
}

fn main() {}
