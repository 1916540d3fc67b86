use tile_runtime::{Device, tiled_kernel};

tiled_kernel! {
    pub fn double(a: &Tensor<f32, [M, N]>, c: &mut Tensor<f32, [M, N]>)
    where tile: (TM, TN), grid: (by in tiles(M, TM), bx in tiles(N, TN)), block: (ty in TM, tx in TN),
    {
        c[by * TM + ty, bx * TN + tx] = 2.0 * a[by * TM + ty, bx * TN + tx];
    }
}

fn main() -> tile_runtime::Result<()> {
    let dev = Device::cpu();
    let a = dev.zeros::<f32, 2>([2, 3])?;
    let c = dev.zeros::<f32, 2>([3, 2])?;
    double::launch(&a, c.transposed())
}
