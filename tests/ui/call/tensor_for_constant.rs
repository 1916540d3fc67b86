use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(f: &Constant<T, [4]>, c: &mut Tensor<T, [4]>)
    where grid: (b in 4),
    {
        c[b] = f[b];
    }
}

fn main() {
    let device = tile_runtime::Device::cpu();
    let f = device.tensor([4], &[1.0f32; 4]).unwrap();
    let mut c = device.zeros::<f32, 1>([4]).unwrap();
    k::launch(&f, &mut c).unwrap();
}
