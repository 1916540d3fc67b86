//! FDTD-2D: Maxwell's equations in the plane by finite differences in time and space: two
//! electric fields and a magnetic one, three launches a time step.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, floats, roundings};
use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::reference::{close_to_largest, places};

tiled_kernel! {
    /// The electric field along `y`; its first row is the source's at `step`.
    pub fn update_ey<T: Float>(
        step: u32,
        source: &Tensor<T, [S]>,
        hz: &Tensor<T, [R, C]>,
        ey: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        let i = by * TR + ty;
        let j = bx * TC + tx;
        if i > 0 {
            ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j]);
        } else if in_bounds(source[step]) {
            ey[i, j] = source[step];
        }
    }

    /// The electric field along `x`.
    pub fn update_ex<T: Float>(hz: &Tensor<T, [R, C]>, ex: &mut Tensor<T, [R, C]>)
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        let i = by * TR + ty;
        let j = bx * TC + tx;
        if j > 0 {
            ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1]);
        }
    }

    /// The magnetic field.
    pub fn update_hz<T: Float>(
        ex: &Tensor<T, [R, C]>,
        ey: &Tensor<T, [R, C]>,
        hz: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR, TC),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        let i = by * TR + ty;
        let j = bx * TC + tx;
        if i + 1 < R && j + 1 < C {
            hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j]);
        }
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "fdtd2d",
    about: "electric and magnetic fields over time",
    sizes: &["rows", "columns", "steps"],
    small: &[&[1, 1, 1], &[2, 3, 4], &[33, 40, 3], &[50, 66, 2]],
    full: &[4096, 4096, 10],
    kernels: || {
        vec![update_ey::kernel::<f32>(), update_ex::kernel::<f32>(), update_hz::kernel::<f32>()]
    },
    prepare: |device, sizes| Ok(Box::new(Fields::new(device, [sizes[0], sizes[1]], sizes[2])?)),
};

struct Fields {
    /// `ex`, `ey`, `hz` and the source, as they were.
    host: [Vec<f32>; 4],
    source: Tensor<f32, 1>,
    ex: Tensor<f32, 2>,
    ey: Tensor<f32, 2>,
    hz: Tensor<f32, 2>,
}

impl Fields {
    fn new(device: &Device, shape: [usize; 2], steps: usize) -> Result<Self, Failure> {
        let n = shape[0] * shape[1];
        let host = [floats(1, n)?, floats(2, n)?, floats(3, n)?, floats(4, steps)?];
        Ok(Self {
            source: device.tensor([steps], &host[3])?,
            ex: device.tensor(shape, &host[0])?,
            ey: device.tensor(shape, &host[1])?,
            hz: device.tensor(shape, &host[2])?,
            host,
        })
    }

    /// `ex`, `ey` and `hz` after all steps.
    fn expected(&self) -> [Vec<f64>; 3] {
        let shape @ [rows, cols] = self.hz.shape();
        let wide = |field: &Vec<f32>| field.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let [mut ex, mut ey, mut hz] = [0, 1, 2].map(|field| wide(&self.host[field]));
        for &source in &self.host[3] {
            for (i, j) in places(shape) {
                let at = i * cols + j;
                ey[at] = if i == 0 {
                    f64::from(source)
                } else {
                    ey[at] - 0.5 * (hz[at] - hz[at - cols])
                };
                if j > 0 {
                    ex[at] -= 0.5 * (hz[at] - hz[at - 1]);
                }
            }
            for (i, j) in places([rows.saturating_sub(1), cols.saturating_sub(1)]) {
                let at = i * cols + j;
                hz[at] -= 0.7 * (ex[at + 1] - ex[at] + ey[at + cols] - ey[at]);
            }
        }
        [ex, ey, hz]
    }
}

impl Prepared for Fields {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { source, ex, ey, hz, .. } = self;
        for step in 0..self.host[3].len() {
            update_ey::with(options.clone()).launch(step as u32, source, hz, ey)?;
            update_ex::with(options.clone()).launch(hz, ex)?;
            update_hz::with(options.clone()).launch(ex, ey, hz)?;
        }
        Ok(())
    }

    fn verify(&self) -> Result<(), Failure> {
        let [ex, ey, hz] = self.expected();
        let tolerance = roundings(10 * self.host[3].len());
        close_to_largest("ex", &self.ex.to_vec()?, &ex, tolerance)?;
        close_to_largest("ey", &self.ey.to_vec()?, &ey, tolerance)?;
        close_to_largest("hz", &self.hz.to_vec()?, &hz, tolerance)
    }

    /// Each field read and written once a step.
    fn cost(&self) -> Cost {
        let updates = (self.host[0].len() * self.host[3].len()) as f64;
        Cost { bytes: 24.0 * updates, flops: 11.0 * updates }
    }
}
