use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let mut x = 1;
        loop {
            x += 1;
            for k in 0..4 {
                if x > k as i32 {
                    break;
                }
            }
        }
        c[bx * TN + tx] = x;
    }
}

fn main() {}
