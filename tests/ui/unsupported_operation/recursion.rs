use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn even(n: i32) -> bool {
        if n == 0 { true } else { odd(n - 1) }
    }

    fn odd(n: i32) -> bool {
        if n == 0 { false } else { even(n - 1) }
    }

    pub fn k(c: &mut Tensor<bool, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = even(3);
    }
}

fn main() {}
