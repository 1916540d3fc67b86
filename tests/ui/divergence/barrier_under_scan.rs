// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        s[tx] = a[i];
        let rank = scan_sum((a[i] > 0) as i32);
        if rank > 3 {
            barrier;
            c[i] = s[TN - 1 - tx];
        }
    }
}

fn main() {}
