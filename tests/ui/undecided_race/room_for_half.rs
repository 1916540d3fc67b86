use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k(#[pad = 0] a: &Tensor<f32, [N]>, out: &mut Tensor<f32, [M]>, #[pad = 0] total: &mut Tensor<u32, [1]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared base: [u32; 1];
        let i = bx * TN + tx;
        let keep = a[i] > 0.0;
        let rank = scan_sum_exclusive(keep as u32);
        let count = reduce_sum(keep as u32);
        if tx == 0 {
            let first = atomic total[0] += count / 2;
            base[0] = first;
        }
        barrier;
        if keep {
            out[base[0] + rank] = a[i];
        }
    }
}

fn main() {}
