use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        if bx == 0 && tx == 0 {
            c[0] = a[0];
        }
    }
}

tiled_kernel! {
    pub fn sum(a: &Tensor<f32, [N]>, sum: &mut Tensor<f32, [1]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        atomic sum[0] += a[bx * TN + tx];
    }
}

tiled_kernel! {
    pub fn own_element_at_an_edge(#[edge(clamp)] c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            c[i] = 0.5 * c[i];
        }
    }
}

tiled_kernel! {
    /// A queue: each has a slot of its own.
    pub fn queue(a: &Tensor<i32, [N]>, count: &mut Tensor<u32, [1]>, out: &mut Tensor<i32, [M]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N && a[i] > 0 {
            let slot = atomic count[0] += 1;
            out[slot] = a[i];
        }
    }
}

tiled_kernel! {
    pub fn halves(half: u32, #[pad = 0] re: &mut Tensor<f32, [N]>, #[pad = 0] im: &mut Tensor<f32, [N]>)
    where tile: (T), grid: (bx in tiles(N, 2 * T)), block: (tx in T),
    {
        assume(half >= 1);
        let h = half as index;
        let j = (bx * T + tx) % h;
        let i = (bx * T + tx) / h * (2 * h) + j;
        let xr = re[i + h] - im[i + h];
        let xi = re[i + h] + im[i + h];
        re[i + h] = re[i] - xr;
        im[i + h] = im[i] - xi;
        re[i] += xr;
        im[i] += xi;
    }
}
