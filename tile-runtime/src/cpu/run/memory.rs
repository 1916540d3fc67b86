//! Memory of a worker: registers, fragments, tiles.

/// A cache line, so that memory made of it is aligned to one.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Zeroed bytes, aligned to a cache line, reached by pointer only.
#[derive(Debug)]
pub(super) struct Memory {
    lines: Vec<Line>,
}

impl Memory {
    /// At least `n_bytes` zero bytes.
    pub(super) fn new(n_bytes: usize) -> Self {
        Self { lines: vec![Line([0; 64]); n_bytes.div_ceil(64)] }
    }

    /// The first byte.
    pub(super) fn ptr(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    /// Makes everything zero.
    pub(super) fn clear(&mut self) {
        self.lines.fill(Line([0; 64]));
    }

    /// Overwrites everything with a pattern that shows: a NaN as floats, -1 or
    /// the largest value as integers.
    pub(super) fn poison(&mut self) {
        self.lines.fill(Line([0xff; 64]));
    }
}
