//! Matrices of f32 in memory and in NumPy's files.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use npyz::{DType, NpyFile, Order, TypeChar, WriterBuilder as _};

/// A row-major matrix.
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Vec<f32>,
}

impl Matrix {
    /// A matrix of values in -1 to 1.
    pub(crate) fn random(
        rows: usize,
        cols: usize,
        rng: &mut fastrand::Rng,
    ) -> Result<Self, String> {
        let mut values = Vec::new();
        let n_elems = rows.checked_mul(cols);
        let n_elems = n_elems.filter(|n_elems| values.try_reserve_exact(*n_elems).is_ok());
        let n_elems = n_elems
            .ok_or_else(|| format!("there is no memory for a matrix of [{rows}, {cols}]"))?;
        values.extend(std::iter::repeat_with(|| rng.f32() * 2.0 - 1.0).take(n_elems));
        Ok(Self { rows, cols, values })
    }

    /// The shape as people write it.
    pub(crate) fn shape(&self) -> String {
        format!("[{}, {}]", self.rows, self.cols)
    }

    /// Reads a `.npy` file: two axes, f32, stored by rows or by columns.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let file = File::open(path).map_err(|error| format!("cannot open {name}: {error}"))?;
        let n_bytes = file.metadata().map_or(u64::MAX, |file| file.len());
        let npy = NpyFile::new(BufReader::new(file))
            .map_err(|error| format!("{name} is not a .npy file: {error}"))?;
        if !is_f32(&npy.dtype()) {
            let dtype = npy.dtype().descr();
            return Err(format!("{name} holds {dtype}; f32 is needed: `a.astype('float32')`"));
        }
        let &[rows, cols] = npy.shape() else {
            return Err(format!("{name} has {} axes; a matrix has 2", npy.shape().len()));
        };
        // What its header says is believed as far as the file goes.
        let said = rows.checked_mul(cols).and_then(|n_elems| n_elems.checked_mul(4));
        if said.is_none_or(|said| said > n_bytes) {
            return Err(format!("{name} has {n_bytes} bytes, too few for [{rows}, {cols}] of f32"));
        }
        let by_columns = npy.order() == Order::Fortran;
        let (rows, cols) = (rows as usize, cols as usize);
        let values: Vec<f32> =
            npy.into_vec().map_err(|error| format!("cannot read {name}: {error}"))?;
        if by_columns {
            let by_rows = (0..rows * cols).map(|at| values[at % cols * rows + at / cols]);
            return Ok(Self { rows, cols, values: by_rows.collect() });
        }
        Ok(Self { rows, cols, values })
    }

    /// Writes a `.npy` file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let written = File::create(path).and_then(|file| {
            let shape = [self.rows as u64, self.cols as u64];
            let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
            let mut writer = options.writer(BufWriter::new(file)).begin_nd()?;
            writer.extend(self.values.iter())?;
            writer.finish()
        });
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

fn is_f32(dtype: &DType) -> bool {
    matches!(dtype, DType::Plain(plain) if plain.type_char() == TypeChar::Float && plain.size_field() == 4)
}
