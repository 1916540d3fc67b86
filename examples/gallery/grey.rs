//! Colour to grey: a picture's three bytes a pixel become one, its luminance. The
//! kernel's threads are two-dimensional because the picture is.
//!
//! ```sh
//! cargo run --release --example gallery -- grey 1080 1920
//! cargo run --release --example picture          # on a real picture
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, bytes, within};

tiled_kernel! {
    /// `grey = 0.21 red + 0.72 green + 0.07 blue`, to the nearest whole number.
    pub fn grey(rgb: &Tensor<u8, [R, C, 3]>, grey: &mut Tensor<u8, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        let row = by * TR + ty;
        let col = bx * TC + tx;
        let red = rgb[row, col, 0] as f32;
        let green = rgb[row, col, 1] as f32;
        let blue = rgb[row, col, 2] as f32;
        grey[row, col] = round(0.21 * red + 0.72 * green + 0.07 * blue) as u8;
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "grey",
    about: "a colour picture's luminance",
    sizes: &["rows", "columns"],
    small: &[&[1, 1], &[3, 5], &[64, 64], &[67, 131]],
    full: &[8192, 16384],
    kernels: || vec![grey::kernel()],
    prepare: |device, sizes| Ok(Box::new(Picture::new(device, sizes[0], sizes[1])?)),
};

struct Picture {
    rgb: Tensor<u8, 3>,
    grey: Tensor<u8, 2>,
    host_rgb: Vec<u8>,
}

impl Picture {
    fn new(device: &Device, rows: usize, cols: usize) -> Result<Self, Failure> {
        let host_rgb = bytes(1, rows * cols * 3)?;
        Ok(Self {
            rgb: device.tensor([rows, cols, 3], &host_rgb)?,
            grey: device.zeros([rows, cols])?,
            host_rgb,
        })
    }
}

impl Prepared for Picture {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        grey::with(options.clone()).launch(&self.rgb, &mut self.grey)
    }

    /// Half a step from rounding, and what `f32` may lose.
    fn verify(&self) -> Result<(), Failure> {
        let exact = |pixel: &[u8]| {
            let [red, green, blue] = [0, 1, 2].map(|channel| f64::from(pixel[channel]));
            (21.0 * red + 72.0 * green + 7.0 * blue) / 100.0
        };
        let expected: Vec<f64> = self.host_rgb.chunks_exact(3).map(exact).collect();
        within("grey", &self.grey.to_vec()?, &expected, 0.5001)
    }

    fn cost(&self) -> Cost {
        let pixels = (self.host_rgb.len() / 3) as f64;
        Cost { bytes: 4.0 * pixels, flops: 5.0 * pixels }
    }
}
