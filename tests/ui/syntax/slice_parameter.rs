use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &[f32], c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i];
    }
}

fn main() {
    // The caller of a kernel with a mistake gives no error of its own.
    let device = tile_runtime::Device::cpu();
    let mut c = device.zeros::<f32, 1>([4]).unwrap();
    k::launch(&[1.0, 2.0], &mut c).unwrap();
}
