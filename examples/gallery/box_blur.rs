//! Box blur: each pixel becomes the mean of the square around it, of what of that lies
//! inside the picture. Work-items of the edges average fewer pixels.
//!
//! ```sh
//! cargo run --release --example gallery -- box_blur 1080 1920
//! cargo run --release --example picture -- --radius 3
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, bytes, equal};

tiled_kernel! {
    /// Each pixel's mean over the square of `2 * radius + 1` pixels a side around it, as
    /// far as it is inside, rounded to the nearest, halves up.
    pub fn box_blur(radius: u8, x: &Tensor<u8, [R, C]>, y: &mut Tensor<u8, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        let row = by * TR + ty;
        let col = bx * TC + tx;
        let mut sum: u32 = 0;
        let mut pixels: u32 = 0;
        for i in row - radius..=row + radius {
            for j in col - radius..=col + radius {
                if in_bounds(x[i, j]) {
                    sum += x[i, j] as u32;
                    pixels += 1;
                }
            }
        }
        y[row, col] = ((sum + pixels / 2) / pixels) as u8;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "box_blur",
    about: "a picture's means over squares of 7 by 7 pixels",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[2, 9], &[33, 70]],
    full: &[8192, 16384],
    kernels: || vec![box_blur::kernel().scalar("radius", RADIUS as u8)],
    prepare: |device, sizes| Ok(Box::new(Picture::new(device, sizes[0], sizes[1])?)),
};

const RADIUS: usize = 3;

struct Picture {
    x: Tensor<u8, 2>,
    y: Tensor<u8, 2>,
    host_x: Vec<u8>,
}

impl Picture {
    fn new(device: &Device, rows: usize, cols: usize) -> Result<Self, Failure> {
        let host_x = bytes(1, rows * cols)?;
        Ok(Self {
            x: device.tensor([rows, cols], &host_x)?,
            y: device.zeros([rows, cols])?,
            host_x,
        })
    }
}

impl Prepared for Picture {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        box_blur::with(options.clone()).launch(RADIUS as u8, &self.x, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("y", &self.y.to_vec()?, &blurred(&self.host_x, self.x.shape()))
    }

    /// The sums could be had with two additions a pixel: only the bytes are due.
    fn cost(&self) -> Cost {
        Cost { bytes: 2.0 * self.host_x.len() as f64, flops: 0.0 }
    }
}

/// The same by sums over all rectangles that begin at the first pixel, of which four make
/// each square's.
fn blurred(x: &[u8], [rows, cols]: [usize; 2]) -> Vec<u8> {
    let width = cols + 1;
    let mut sums = vec![0u64; (rows + 1) * width];
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        let at = (row + 1) * width + col + 1;
        sums[at] =
            sums[at - width] + sums[at - 1] + u64::from(x[row * cols + col]) - sums[at - width - 1];
    }
    let mean = |row: usize, col: usize| {
        let (top, left) = (row.saturating_sub(RADIUS), col.saturating_sub(RADIUS));
        let (bottom, right) = ((row + RADIUS + 1).min(rows), (col + RADIUS + 1).min(cols));
        let at = |row: usize, col: usize| sums[row * width + col];
        let sum = at(bottom, right) + at(top, left) - at(top, right) - at(bottom, left);
        let pixels = ((bottom - top) * (right - left)) as u64;
        // A mean of bytes is one.
        ((2 * sum + pixels) / (2 * pixels)) as u8
    };
    (0..rows * cols).map(|at| mean(at / cols, at % cols)).collect()
}
