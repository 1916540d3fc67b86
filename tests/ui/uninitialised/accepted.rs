use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [T; TN];
        let mut x: T;
        if i > 0 {
            x = a[i];
        } else {
            x = 0;
        }
        s[tx] = x;
        c[i] = a[i] + s[tx];
    }
}

fn main() {}
