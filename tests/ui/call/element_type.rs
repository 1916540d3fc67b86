use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i];
    }
}

fn main() {
    let device = tile_runtime::Device::cpu();
    let a = device.zeros::<f32, 1>([4]).unwrap();
    let mut c = device.zeros::<f64, 1>([4]).unwrap();
    k::launch(&a, &mut c).unwrap();
}
