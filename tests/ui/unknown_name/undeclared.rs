use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i] + bias;
    }
}

fn main() {
    // The caller of a kernel with a mistake gives no error of its own.
    let device = tile_runtime::Device::cpu();
    let a = device.zeros::<f32, 1>([4]).unwrap();
    let mut c = device.zeros::<f32, 1>([4]).unwrap();
    k::launch(&a, &mut c).unwrap();
    k::with(tile_runtime::Options::new()).launch(&a, &mut c).unwrap();
    println!("{}", k::kernel::<f32>().name());
}
