//! 3DCONV: a volume's inner elements, each replaced by a weighted sum over the cube of
//! three by three by three around it. The border stays 0.

use tile_examples::frame::{Cost, Entry, Failure, Prepared, close, floats, roundings};
use tile_runtime::{Constant, Device, Options, Tensor, tiled_kernel};

tiled_kernel! {
    /// `y` is `x` weighted by `filter` around each inner element.
    pub fn conv3d<T: Float>(
        x: &Tensor<T, [D, R, C]>,
        filter: &Constant<T, [3, 3, 3]>,
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
        if i > 0 && i < D - 1 && j > 0 && j < R - 1 && k > 0 && k < C - 1 {
            let mut sum: Acc<T> = 0;
            for u in 0..3 {
                for v in 0..3 {
                    for w in 0..3 {
                        sum += filter[u, v, w] * x[i + u - 1, j + v - 1, k + w - 1];
                    }
                }
            }
            y[i, j, k] = sum;
        }
    }
}

/// What the tests run.
pub const ENTRY: Entry = Entry {
    name: "3dconv",
    about: "a volume weighted by three by three by three factors",
    sizes: &["planes", "rows", "columns"],
    small: &[&[1, 1, 1], &[3, 3, 3], &[2, 5, 9], &[7, 18, 35]],
    full: &[256, 512, 512],
    kernels: || vec![conv3d::kernel::<f32>()],
    prepare: |device, sizes| Ok(Box::new(Volume::new(device, [sizes[0], sizes[1], sizes[2]])?)),
};

struct Volume {
    host_x: Vec<f32>,
    host_filter: Vec<f32>,
    x: Tensor<f32, 3>,
    filter: Constant<f32, 3>,
    y: Tensor<f32, 3>,
}

impl Volume {
    fn new(device: &Device, shape: [usize; 3]) -> Result<Self, Failure> {
        let (host_x, host_filter) = (floats(1, shape.iter().product())?, floats(2, 27)?);
        Ok(Self {
            x: device.tensor(shape, &host_x)?,
            filter: device.constant([3, 3, 3], &host_filter)?,
            y: device.zeros(shape)?,
            host_x,
            host_filter,
        })
    }
}

impl Prepared for Volume {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        conv3d::with(options.clone()).launch(&self.x, &self.filter, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        let [planes, rows, cols] = self.x.shape();
        let mut expected = vec![0.0; self.host_x.len()];
        let inner = |extent: usize| 1..extent.saturating_sub(1).max(1);
        for (i, j, k) in inner(planes)
            .flat_map(|i| inner(rows).flat_map(move |j| inner(cols).map(move |k| (i, j, k))))
        {
            let at = |i: usize, j: usize, k: usize| (i * rows + j) * cols + k;
            let terms = self.host_filter.iter().enumerate().map(|(place, &weight)| {
                let from = at(i + place / 9 - 1, j + place / 3 % 3 - 1, k + place % 3 - 1);
                f64::from(weight) * f64::from(self.host_x[from])
            });
            expected[at(i, j, k)] = terms.sum();
        }
        close("y", &self.y.to_vec()?, &expected, roundings(27))
    }

    fn cost(&self) -> Cost {
        let n = self.host_x.len() as f64;
        Cost { bytes: 8.0 * n, flops: 54.0 * n }
    }
}
