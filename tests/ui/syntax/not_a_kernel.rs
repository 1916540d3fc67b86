use tile_runtime::tiled_kernel;

tiled_kernel! {
    struct Matrix {
        rows: usize,
    }
}

fn main() {}
