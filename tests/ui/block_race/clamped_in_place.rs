// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[edge(clamp)] c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = 0.5 * c[i + TN];
    }
}

fn main() {}
