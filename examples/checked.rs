//! Shows what a checked launch tells: of a kernel that the compiler accepts, integers that
//! wrap; of one whose author bypasses the checks, a race.
//!
//! ```sh
//! cargo run --example checked
//! ```
//!
//! prints one note and one finding, each with its work-items. Nothing is special about the
//! second kernel but its attribute: without it, the program does not compile.

use tile_runtime::{CheckLog, Device, Options, tiled_kernel};

tiled_kernel! {
    /// The mean of each row, rounded down.
    pub fn means(x: &Tensor<i32, [R, C]>, y: &mut Tensor<i32, [R]>)
    where tile: (TR), grid: (by in tiles(R, TR)), block: (ty in TR),
    {
        let mut sum = 0;
        for c in 0..C {
            sum += x[by * TR + ty, c];
        }
        y[by * TR + ty] = sum / C as i32;
    }

    /// Each tile backwards. Who turns it does not wait until it is filled.
    #[unsafe(unchecked)]
    pub fn hasty(a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [f32; TN];
        s[tx] = a[bx * TN + tx];
        c[bx * TN + tx] = s[TN - 1 - tx];
    }
}

fn main() -> tile_runtime::Result<()> {
    let device = Device::cpu();

    let x = device.tensor([2, 2], &[i32::MAX, 1, 2, 3])?;
    let mut y = device.zeros([2])?;
    let log = CheckLog::new();
    means::with(Options::new().tile("TR", 2).checked(true).check_log(&log)).launch(&x, &mut y)?;
    for report in log.take() {
        println!("{report}");
    }
    println!("the means are {:?}\n", y.to_vec()?);

    let a = device.tensor([8], &[1.0f32; 8])?;
    let mut c = device.zeros([8])?;
    match hasty::launch(&a, &mut c) {
        Ok(()) => println!("nothing was found"),
        Err(error) => println!("error: {error}"),
    }
    Ok(())
}
