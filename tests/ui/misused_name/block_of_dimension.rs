use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where block: (tx in N),
    {
        c[tx] = a[tx];
    }
}

fn main() {}
