use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn gelu<T: Float>(x: T) -> T {
        0.5 * x * (1.0 + tanh(0.797_884_6 * (x + 0.044_715 * x * x * x)))
    }

    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = gelu(a[i]);
    }
}

fn main() {}
