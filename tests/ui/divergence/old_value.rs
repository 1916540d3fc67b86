// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<i32, [N]>, out: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared seen: [u32; TN];
        load seen[k] = 0;
        barrier;
        let i = bx * TN + tx;
        let before = atomic seen[0] += 1;
        if before == 0 {
            barrier;
        }
        out[i] = a[i];
    }
}

fn main() {}
