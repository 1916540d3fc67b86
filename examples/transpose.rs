//! Transposes a matrix through a shared tile, so that it is both read and
//! written along rows.
//!
//! ```sh
//! cargo run --release --example transpose
//! ```
//!
//! prints the device and `[1000, 1031] transposed`. Remove the `barrier;` below
//! to see what the compiler says.

use tile_runtime::{Device, tiled_kernel};

tiled_kernel! {
    /// `b = aᵀ`.
    pub fn transpose<T: Element>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [C, R]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
    {
        shared s: [T; TR, TC];
        load s[i, j] = a[by * TR + i, bx * TC + j];
        barrier;
        each (j, i) in (TC, TR) {
            b[bx * TC + j, by * TR + i] = s[i, j];
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best()?;
    println!("{}", device.name());

    let (rows, cols) = (1000, 1031);
    let host_a: Vec<u32> = (0..rows * cols).collect();
    let (rows, cols) = (rows as usize, cols as usize);
    let a = device.tensor([rows, cols], &host_a)?;
    let mut b = device.zeros([cols, rows])?;
    transpose::launch(&a, &mut b)?;

    let host_b = b.to_vec()?;
    for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
        if host_b[j * rows + i] != host_a[i * cols + j] {
            return Err(format!("element [{j}, {i}] is wrong").into());
        }
    }
    println!("[{rows}, {cols}] transposed");
    Ok(())
}
