use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn looked_up(table: &Constant<f32, [100]>, a: &Tensor<i32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = table[a[i]];
    }
}

fn main() {}
