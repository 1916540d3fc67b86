//! A sparse matrix times a vector, `y = A x`, the matrix in *compressed sparse rows*:
//! `values` has what is not zero, row after row, `columns` where in its row each
//! stands, and row r is `starts[r]..starts[r + 1]`. With a work-item for each row,
//! neighbours read far from each other; with a warp for each row they read side by
//! side, which pays once rows are long.
//!
//! ```sh
//! cargo run --release --example gallery -- csr_matvec 100000 64
//! cargo run --release --example gallery -- csr_matvec_by_items 100000 64
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, close, floats, ints};

tiled_kernel! {
    /// `y = A x`, a work-item for each row.
    ///
    /// A matrix may hold any numbers, so each parameter says what is outside of it.
    pub fn csr_by_items<T: Float>(
        #[pad = 0] starts: &Tensor<u32, [R + 1]>,
        #[pad = 0] columns: &Tensor<u32, [E]>,
        #[pad = 0] values: &Tensor<T, [E]>,
        #[pad = 0] x: &Tensor<T, [C]>,
        y: &mut Tensor<T, [R]>,
    )
    where
        tile: (TR),
        grid: (bx in tiles(R, TR)),
        block: (tx in TR),
    {
        let row = bx * TR + tx;
        let mut sum: Acc<T> = 0;
        for k in starts[row]..starts[row + 1] {
            sum += values[k] * x[columns[k]];
        }
        y[row] = sum;
    }

    /// `y = A x`, a warp for each row.
    pub fn csr_by_warps<T: Float>(
        #[pad = 0] starts: &Tensor<u32, [R + 1]>,
        #[pad = 0] columns: &Tensor<u32, [E]>,
        #[pad = 0] values: &Tensor<T, [E]>,
        #[pad = 0] x: &Tensor<T, [C]>,
        y: &mut Tensor<T, [R]>,
    )
    where
        tile: (WARPS in [2, 4, 8]),
        grid: (bx in tiles(R, WARPS)),
        block: (w in WARPS, lane in 32),
    {
        let row = bx * WARPS + w;
        let mut sum: Acc<T> = 0;
        for k in (starts[row] + lane..starts[row + 1]).step_by(32) {
            sum += values[k] * x[columns[k]];
        }
        sum = warp_sum(sum);
        if lane == 0 {
            y[row] = sum;
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "csr_matvec",
    about: "a sparse matrix times a vector, a warp for each row",
    sizes: &["rows", "entries a row"],
    small: &[&[1, 1], &[77, 3], &[300, 40]],
    full: &[1 << 20, 64],
    kernels: || vec![csr_by_warps::kernel::<f32>(), csr_by_warps::kernel::<f64>()],
    prepare: |device, sizes| {
        Ok(Box::new(Sparse::new(device, sizes, |options, a, x, y| {
            let (starts, columns, values) = (&a.starts, &a.columns, &a.values);
            csr_by_warps::with(options.clone()).launch(starts, columns, values, x, y)
        })?))
    },
};

/// The other one.
pub const BY_ITEMS: Entry = Entry {
    name: "csr_matvec_by_items",
    about: "a sparse matrix times a vector, a work-item for each row",
    kernels: || vec![csr_by_items::kernel::<f32>(), csr_by_items::kernel::<f64>()],
    prepare: |device, sizes| {
        Ok(Box::new(Sparse::new(device, sizes, |options, a, x, y| {
            let (starts, columns, values) = (&a.starts, &a.columns, &a.values);
            csr_by_items::with(options.clone()).launch(starts, columns, values, x, y)
        })?))
    },
    ..ENTRY
};

type Vector = Tensor<f32, 1>;
type Launch = fn(&Options, &Matrix, &Vector, &mut Vector) -> tile_runtime::Result<()>;

struct Matrix {
    starts: Tensor<u32, 1>,
    columns: Tensor<u32, 1>,
    values: Vector,
}

struct Sparse {
    launch: Launch,
    matrix: Matrix,
    x: Vector,
    y: Vector,
    expected: Vec<f64>,
}

impl Sparse {
    /// Rows of 0 to twice as many entries as asked for, a square matrix.
    fn new(device: &Device, sizes: &[usize], launch: Launch) -> Result<Self, Failure> {
        let &[rows, mean] = sizes else { return Err(Failure::Sizes("two sizes".to_owned())) };
        let lengths = ints(1, rows, u32::try_from(2 * mean + 1).unwrap_or(u32::MAX))?;
        let mut starts = vec![0_u32];
        for length in lengths {
            let end = starts[starts.len() - 1].checked_add(length);
            starts.push(end.ok_or_else(|| Failure::Sizes("over 2^32 entries".to_owned()))?);
        }
        let n_entries = starts[rows] as usize;
        let columns = ints(2, n_entries, u32::try_from(rows).unwrap_or(u32::MAX).max(1))?;
        let (values, x) = (floats(3, n_entries)?, floats(4, rows)?);
        let product = |k: usize| f64::from(values[k]) * f64::from(x[columns[k] as usize]);
        let row = |r: usize| (starts[r] as usize..starts[r + 1] as usize).map(product).sum();
        let expected = (0..rows).map(row).collect();
        let matrix = Matrix {
            starts: device.tensor([rows + 1], &starts)?,
            columns: device.tensor([n_entries], &columns)?,
            values: device.tensor([n_entries], &values)?,
        };
        let (x, y) = (device.tensor([rows], &x)?, device.zeros([rows])?);
        Ok(Self { launch, matrix, x, y, expected })
    }
}

impl Prepared for Sparse {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        (self.launch)(options, &self.matrix, &self.x, &mut self.y)
    }

    fn verify(&self) -> Result<(), Failure> {
        close("y", &self.y.to_vec()?, &self.expected, 1e-5)
    }

    fn cost(&self) -> Cost {
        let (rows, entries) = (self.expected.len() as f64, self.matrix.values.shape()[0] as f64);
        Cost { bytes: 8.0 * entries + 12.0 * rows, flops: 2.0 * entries }
    }
}
