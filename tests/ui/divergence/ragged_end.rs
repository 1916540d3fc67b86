use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        let i = bx * TN + tx;
        if i >= N {
            return;
        }
        s[tx] = a[i];
        barrier;
        c[i] = s[tx];
    }
}

fn main() {}
// errors: 2
