// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(n: i32, #[pad = 0] a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN in [32, 64]), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; 2, TN];
        let i = bx * TN + tx;
        s[0, tx] = a[i];
        for step in 0..n {
            s[(step + 1) % 2, tx] = s[step % 2, (tx + 1) % TN];
        }
        let last = if n > 0 { n % 2 } else { 0 };
        c[i] = s[last, tx];
    }
}

fn main() {}
