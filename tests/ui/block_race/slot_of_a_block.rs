use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<i32, [N]>, out: &mut Tensor<i32, [M]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared count: [u32; 1];
        if tx == 0 {
            count[0] = 0;
        }
        barrier;
        let i = bx * TN + tx;
        if i < N {
            let slot = atomic count[0] += 1;
            out[slot] = a[i];
        }
    }
}

fn main() {}
