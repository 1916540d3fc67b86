use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn plain<T: Number>(a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let x = a[i];
        let mut y = x;
        for _ in 0..4 {
            y += x;
        }
        let mut left = 4;
        loop {
            left -= 1;
            if left == 0 {
                break;
            }
        }
        c[i] = y;
    }
}

tiled_kernel! {
    pub fn in_any_order(u: &Tensor<f32, [N]>, v: &mut Tensor<f32, [N]>,)
    where block: t in T, grid: (b in tiles(N, T),), tile: T
    {
        let i = b * T + t;
        let x = if i < 3 { u[i] } else { let y = u[i]; let z: f32 = y + 1.0; y * z };
        v[i] = x.max(0.0);
    }
}

tiled_kernel! {
    pub fn without_header(s: &mut Tensor<i32, [1]>)

    {
        s[0] = 1;
    }
}

tiled_kernel! {
    /// A documented constant.
    const HALF: f32 = if 1 > 0 { 0.5 } else { 0.0 };

    /// A documented function.
    fn half(x: f32) -> f32 {
        let y = HALF;
        x.abs() * y
    }

    pub fn beside_functions(v: &mut Tensor<f32, [N]>)
    where tile: T, grid: (b in tiles(N, T)), block: t in T
    {
        v[b * T + t] = half(v[b * T + t]);
    }

    fn unused<T: Element>(x: T, y: T) -> bool {
        x == y
    }
}
