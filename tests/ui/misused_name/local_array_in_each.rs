use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let x: [i32; 2] = [1, 2];
        each j in 2 {
            c[bx * TN + j] = x[j];
        }
        c[i] = a[i];
    }
}

fn main() {}
