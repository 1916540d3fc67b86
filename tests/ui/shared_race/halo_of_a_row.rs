// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in 2..=256), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [f32; TN + 2];
        s[tx + 1] = a[i];
        if tx == 0 {
            s[0] = a[i - 1];
        }
        if tx == TN - 1 {
            s[TN + 1] = a[i + 1];
        }
        c[i] = s[tx] + s[tx + 1] + s[tx + 2];
    }
}

fn main() {}
