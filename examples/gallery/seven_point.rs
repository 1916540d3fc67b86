//! The seven-point stencil of a volume, as it is written down and as the textbook tiles it.
//!
//! `seven_point` reads the six neighbours from global memory. `seven_point_tiled` goes
//! through the planes one by one: the plane's neighbours are in a shared tile with a halo,
//! those above and below in registers, so that each element is read once and not seven
//! times. A GPU's caches do much of the same.
//!
//! ```sh
//! cargo run --release --example gallery -- seven_point 40 50 60
//! cargo run --release --example gallery -- seven_point_tiled 40 50 60
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats, roundings};

tiled_kernel! {
    /// `y = centre * x + side * (the sum of its six neighbours)`; 0 outside of the volume.
    pub fn seven_point<T: Number>(
        centre: T,
        side: T,
        #[pad = 0] x: &Tensor<T, [D, R, C]>,
        y: &mut Tensor<T, [D, R, C]>,
    )
    where
        tile: (TD, TR, TC),
        grid: (bz in tiles(D, TD), by in tiles(R, TR), bx in tiles(C, TC)),
        block: (tz in TD, ty in TR, tx in TC),
    {
        let i = bz * TD + tz;
        let j = by * TR + ty;
        let k = bx * TC + tx;
        let around = x[i - 1, j, k] + x[i + 1, j, k]
            + x[i, j - 1, k] + x[i, j + 1, k]
            + x[i, j, k - 1] + x[i, j, k + 1];
        y[i, j, k] = centre * x[i, j, k] + side * around;
    }

    /// The same, plane by plane: `TD` of them a block.
    pub fn seven_point_tiled<T: Number>(
        centre: T,
        side: T,
        #[pad = 0] x: &Tensor<T, [D, R, C]>,
        y: &mut Tensor<T, [D, R, C]>,
    )
    where
        tile: (TD in 1..=64, TR, TC),
        grid: (bz in tiles(D, TD), by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        shared plane: [T; TR + 2, TC + 2];
        let j = by * TR + ty;
        let k = bx * TC + tx;
        let mut above = x[bz * TD - 1, j, k];
        let mut here = x[bz * TD, j, k];
        for i in bz * TD..(bz + 1) * TD {
            load plane[r, c] = x[i, by * TR + r - 1, bx * TC + c - 1];
            barrier;
            let below = x[i + 1, j, k];
            let around = above + below
                + plane[ty, tx + 1] + plane[ty + 2, tx + 1]
                + plane[ty + 1, tx] + plane[ty + 1, tx + 2];
            y[i, j, k] = centre * here + side * around;
            above = here;
            here = below;
            barrier;                                    // before the next plane
        }
    }
}

/// What the gallery runs: as it is written down.
pub const ENTRY: Entry = Entry {
    name: "seven_point",
    about: "a volume's stencil of seven points",
    sizes: &["planes", "rows", "columns"],
    small: &[&[1, 1, 1], &[3, 5, 7], &[9, 17, 70]],
    full: &[512, 512, 512],
    kernels: || vec![seven_point::kernel::<f32>(), seven_point::kernel::<i32>()],
    prepare: |device, sizes| prepare(device, [sizes[0], sizes[1], sizes[2]], false),
};

/// What the gallery runs: plane by plane.
pub const TILED: Entry = Entry {
    name: "seven_point_tiled",
    about: "the same, plane by plane through a tile and registers",
    kernels: || vec![seven_point_tiled::kernel::<f32>()],
    prepare: |device, sizes| prepare(device, [sizes[0], sizes[1], sizes[2]], true),
    ..ENTRY
};

const CENTRE: f32 = -5.5;
const SIDE: f32 = 0.75;

struct Volume {
    x: Tensor<f32, 3>,
    y: Tensor<f32, 3>,
    expected: Vec<f64>,
    tiled: bool,
}

fn prepare(device: &Device, shape: [usize; 3], tiled: bool) -> Result<Box<dyn Prepared>, Failure> {
    let host_x = floats(1, shape.iter().product())?;
    let (x, y) = (device.tensor(shape, &host_x)?, device.zeros(shape)?);
    Ok(Box::new(Volume { x, y, expected: smoothed(&host_x, shape), tiled }))
}

/// Each element's own part, and then what each gives to its neighbours.
fn smoothed(x: &[f32], [planes, rows, cols]: [usize; 3]) -> Vec<f64> {
    let mut y: Vec<f64> = x.iter().map(|&x| f64::from(CENTRE) * f64::from(x)).collect();
    for (extent, stride) in [(planes, rows * cols), (rows, cols), (cols, 1)] {
        for at in 0..x.len() {
            if at / stride % extent + 1 < extent {
                y[at] += f64::from(SIDE) * f64::from(x[at + stride]);
                y[at + stride] += f64::from(SIDE) * f64::from(x[at]);
            }
        }
    }
    y
}

impl Prepared for Volume {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { x, y, .. } = self;
        if self.tiled {
            seven_point_tiled::with(options.clone()).launch(CENTRE, SIDE, x, y)
        } else {
            seven_point::with(options.clone()).launch(CENTRE, SIDE, x, y)
        }
    }

    fn verify(&self) -> Result<(), Failure> {
        // Sums of up to 10, as of so many terms.
        close("y", &self.y.to_vec()?, &self.expected, roundings(10))
    }

    fn cost(&self) -> Cost {
        let n = self.expected.len() as f64;
        Cost { bytes: 8.0 * n, flops: 8.0 * n }
    }
}
