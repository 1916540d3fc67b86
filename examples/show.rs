//! Prints the CUDA C++ of a kernel for a device that need not be there.
//!
//! ```sh
//! cargo run --example show                            # for an H200, 4096 × 4096 × 4096
//! cargo run --example show -- "RTX 4090" 1000 1000 64
//! ```
//!
//! The tile sizes are those that a launch of these extents would take.

use tile_runtime::ir::device::{all_known, known};
use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `c = a · b`, row-major, any shape.
    pub fn matmul<T: Number>(a: &Tensor<T, [M, K]>, b: &Tensor<T, [K, N]>, c: &mut Tensor<T, [M, N]>)
    where
        tile: (TM, TN, TK),
        grid: (by in tiles(M, TM), bx in tiles(N, TN)),
        block: (ty in TM, tx in TN),
    {
        shared a_s: [T; TM, TK];
        shared b_s: [T; TK, TN];
        let mut acc: Acc<T> = 0;

        phase p in tiles(K, TK) {
            load a_s[i, k] = a[by * TM + i, p * TK + k];
            load b_s[k, j] = b[p * TK + k, bx * TN + j];
            barrier;
            for k in 0..TK {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[by * TM + ty, bx * TN + tx] = acc;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "H200".to_owned());
    let device = known(&name).ok_or_else(|| {
        let names: Vec<String> = all_known().into_iter().map(|device| device.name).collect();
        format!("`{name}` is not known; these are: {}", names.join(", "))
    })?;
    let mut dims = [4096; 3];
    for (dim, word) in dims.iter_mut().zip(&mut words) {
        *dim = word.parse().map_err(|_| format!("`{word}` is not an extent"))?;
    }

    let kernel = matmul::kernel::<f32>();
    let config = kernel.config_for(&device, &dims)?;
    let tiles = config.describe_tiles(kernel.checked().kernel());
    println!(
        "// {} ({}), {} = {dims:?}",
        device.name,
        device.architecture(),
        kernel.dims().join(", ")
    );
    println!("// {tiles}; {} threads per block", config.threads);
    print!("{}", kernel.cuda_source_for(&config, &device, &dims)?);
    Ok(())
}
