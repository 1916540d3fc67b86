// errors: 2
use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// Transposes each square tile of a matrix in its place.
    pub fn block_transpose<T: Number>(#[pad = 0] a: &mut Tensor<T, [R, C]>)
    where tile: (B), grid: (by in tiles(R, B), bx in tiles(C, B)), block: (ty in B, tx in B),
    {
        shared s: [T; B, B];
        s[ty, tx] = a[by * B + ty, bx * B + tx];
        a[by * B + ty, bx * B + tx] = s[tx, ty];
    }
}

fn main() {}
