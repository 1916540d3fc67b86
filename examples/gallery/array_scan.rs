//! The inclusive scan of a whole array in three launches: each block sums a segment, one
//! block scans those sums, and each segment is scanned from what comes before it. So the
//! array is read twice and written once; to scan the segments first and to add what comes
//! before them afterwards would write it twice as well. Within a block `scan_sum` scans a
//! tile, and what came before the tile is carried from one to the next.
//!
//! ```sh
//! cargo run --release --example gallery -- array_scan 1000003
//! cargo run --release --example gallery -- array_scan_f32 1000003
//! ```

use tile_runtime::{Device, Number, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, equal, floats, ints};

tiled_kernel! {
    /// Elements of a segment.
    const SEGMENT: index = 8192;

    /// The sum of each segment of `x`.
    pub fn segment_sums<T: Number>(
        #[pad = 0] x: &Tensor<T, [N]>,
        totals: &mut Tensor<T, [tiles(N, SEGMENT)]>,
    )
    where
        tile: (TN),
        grid: (segment in tiles(N, SEGMENT)),
        block: (tx in TN),
    {
        let mut total: T = 0;
        for p in tiles(SEGMENT, TN) {
            total += x[segment * SEGMENT + p * TN + tx];
        }
        total = reduce_sum(total);
        if tx == 0 {
            totals[segment] = total;
        }
    }

    /// The exclusive scan of `totals`, in place, by one block.
    pub fn scan_of_totals<T: Number>(#[pad = 0] totals: &mut Tensor<T, [S]>)
    where
        tile: (TN = 1024),
        block: (tx in TN),
    {
        let mut before: T = 0;
        for p in tiles(S, TN) {
            let total = totals[p * TN + tx];
            totals[p * TN + tx] = before + scan_sum_exclusive(total);
            before += reduce_sum(total);
        }
    }

    /// `y` is the inclusive scan of `x`: of each segment, from what comes before it.
    pub fn segment_scans<T: Number>(
        #[pad = 0] x: &Tensor<T, [N]>,
        before: &Tensor<T, [tiles(N, SEGMENT)]>,
        y: &mut Tensor<T, [N]>,
    )
    where
        tile: (TN in [512, 1024, 2048, 4096]),
        grid: (segment in tiles(N, SEGMENT)),
        block: (tx in TN),
    {
        let start = before[segment];
        // Of the segment alone: a small sum is rounded less than a large one.
        let mut sum: T = 0;
        for p in tiles(SEGMENT, TN) {
            let i = segment * SEGMENT + p * TN + tx;
            let value = x[i];
            y[i] = start + (sum + scan_sum(value));
            sum += reduce_sum(value);
        }
    }
}

/// Elements of a segment.
const SEGMENT: usize = 8192;

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "array_scan",
    about: "the inclusive scan of an array of integers, in three launches",
    sizes: &["elements"],
    small: &[&[1], &[511], &[8192], &[50_001]],
    full: &[1 << 27],
    kernels: || {
        vec![
            segment_sums::kernel::<i32>(),
            scan_of_totals::kernel::<i32>(),
            segment_scans::kernel::<i32>(),
        ]
    },
    prepare: |device, sizes| {
        let x: Vec<i32> = ints(1, sizes[0], u32::MAX)?.iter().map(|&x| x as i32).collect();
        Ok(Box::new(Scan::new(device, &x, |sum, x| sum.wrapping_add(x), equal)?))
    },
};

/// The same of floating-point numbers.
pub const OF_FLOATS: Entry = Entry {
    name: "array_scan_f32",
    about: "the inclusive scan of an array of f32, in three launches",
    kernels: || {
        vec![
            segment_sums::kernel::<f32>(),
            scan_of_totals::kernel::<f32>(),
            segment_scans::kernel::<f32>(),
        ]
    },
    prepare: |device, sizes| {
        let x = floats(1, sizes[0])?;
        Ok(Box::new(Scan::new(
            device,
            &x,
            |sum, x| sum + f64::from(x),
            |what, found, expected| {
                // Four roundings of sums like the root of their length, 1e4.
                close(what, found, expected, 4e-3)
            },
        )?))
    },
    ..ENTRY
};

type Compare<T, E> = fn(&'static str, &[T], &[E]) -> Result<(), Failure>;

struct Scan<T: Number, E> {
    x: Tensor<T, 1>,
    y: Tensor<T, 1>,
    totals: Tensor<T, 1>,
    expected: Vec<E>,
    compare: Compare<T, E>,
}

impl<T: Number + Copy, E: Copy + Default> Scan<T, E> {
    fn new(
        device: &Device,
        x: &[T],
        add: fn(E, T) -> E,
        compare: Compare<T, E>,
    ) -> Result<Self, Failure> {
        let n = x.len();
        let mut sum = E::default();
        let mut expected = Vec::with_capacity(n);
        for &x in x {
            sum = add(sum, x);
            expected.push(sum);
        }
        Ok(Self {
            x: device.tensor([n], x)?,
            y: device.zeros([n])?,
            totals: device.zeros([n.div_ceil(SEGMENT)])?,
            expected,
            compare,
        })
    }
}

impl<T: Number, E> Prepared for Scan<T, E> {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        segment_sums::with(options.clone()).launch(&self.x, &mut self.totals)?;
        scan_of_totals::with(options.clone()).launch(&mut self.totals)?;
        segment_scans::with(options.clone()).launch(&self.x, &self.totals, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        (self.compare)("y", &self.y.to_vec()?, &self.expected)
    }

    fn cost(&self) -> Cost {
        let n = self.x.shape()[0] as f64;
        Cost { bytes: 8.0 * n, flops: n }
    }
}
