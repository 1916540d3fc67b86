use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN];
        s[tx] = a[i];
        if in_bounds(s[tx]) {
            c[i] = s[tx];
        }
    }
}

fn main() {}
