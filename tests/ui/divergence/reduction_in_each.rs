use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        each j in TN {
            c[bx * TN + j] = reduce_sum(a[bx * TN + j]);
        }
    }
}

fn main() {}
