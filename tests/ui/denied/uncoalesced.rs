use tile_runtime::tiled_kernel;

tiled_kernel! {
    #[deny(uncoalesced, device = "H200", T = f32, M = 65536, N = 4096)]
    pub fn sums_of_rows<T: Float>(x: &Tensor<T, [M, N]>, sums: &mut Tensor<T, [M]>)
    where tile: (TM), grid: (by in tiles(M, TM)), block: (ty in TM),
    {
        let row = by * TM + ty;
        let mut sum: Acc<T> = 0;
        for k in 0..N {
            sum += x[row, k];
        }
        sums[row] = sum;
    }
}

fn main() {}
