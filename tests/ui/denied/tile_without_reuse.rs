use tile_runtime::tiled_kernel;

tiled_kernel! {
    #[deny(tile_without_reuse, device = "A100", T = f16, R = 4096, C = 4096)]
    pub fn double<T: Number>(a: &Tensor<T, [R, C]>, c: &mut Tensor<T, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared a_s: [T; TR, TC];
        load a_s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        c[by * TR + ty, bx * TC + tx] = 2 * a_s[ty, tx];
    }
}

fn main() {}
