//! Adds two vectors: the shortest kernel there is.
//!
//! ```sh
//! cargo run --release --example add
//! ```
//!
//! prints the device and `1000003 sums, all of them right`.

use tile_runtime::{Device, tiled_kernel};

tiled_kernel! {
    /// `c = a + b`. Where the last tile stands over the end, nothing is read or written.
    pub fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = a[i] + b[i];
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::best()?;
    println!("{}", device.name());

    let n = 1_000_003;
    let host_a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    let host_b: Vec<f32> = (0..n).map(|i| 1.0 / (i + 1) as f32).collect();
    let a = device.tensor([n], &host_a)?;
    let b = device.tensor([n], &host_b)?;
    let mut c = device.zeros([n])?;
    add::launch(&a, &b, &mut c)?;

    // An addition is one IEEE operation on every device: the bits are equal.
    let sums = c.to_vec()?;
    let wrong = (0..n).filter(|&i| sums[i] != host_a[i] + host_b[i]).count();
    if wrong > 0 {
        return Err(format!("{wrong} of {n} sums are wrong").into());
    }
    println!("{n} sums, all of them right");
    Ok(())
}
