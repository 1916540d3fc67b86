use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<i32, [N]>, count: &mut Tensor<u32, [1]>, other: &mut Tensor<u32, [1]>, out: &mut Tensor<i32, [M]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N && a[i] > 0 {
            let slot = atomic count[0] += 1;
            out[slot] = a[i];
        }
        if i < N && a[i] < 0 {
            let slot = atomic other[0] += 1;
            out[slot] = a[i];
        }
    }
}

fn main() {}
// errors: 2
