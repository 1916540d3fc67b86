use tile_runtime::tiled_kernel;

tiled_kernel! {
    pub fn k<T: Number>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
    where tile: (TR, TC), grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [T; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR) {
            b[bx * TC + j, by * TR + i] = s[j, i];
        }
    }
}

fn main() {}
