//! Memory in bytes, each element with its shadow.

use super::cell::Cell;
use crate::dtype::DType;
use crate::value::ScalarValue;

/// An array, or all of a block's shared memory.
pub(super) struct Memory {
    bytes: Vec<u8>,
    /// Bytes that have a cell together: the smallest element.
    unit_bytes: usize,
    cells: Vec<Cell>,
    /// Whether other blocks use it too.
    pub(super) is_shared: bool,
}

/// Where an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Which memory.
    pub(super) memory: usize,
    /// The first byte.
    pub(super) byte: usize,
    /// Number of bytes.
    pub(super) n_bytes: usize,
}

impl Memory {
    pub(super) fn new(bytes: Vec<u8>, unit_bytes: u32, is_shared: bool) -> Self {
        let unit_bytes = unit_bytes.max(1) as usize;
        let cells = vec![Cell::default(); bytes.len().div_ceil(unit_bytes)];
        Self { bytes, unit_bytes, cells, is_shared }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The cells of an element; none of one outside.
    pub(super) fn cells(&mut self, at: Address) -> &mut [Cell] {
        let first = at.byte / self.unit_bytes;
        let end = (at.byte + at.n_bytes).div_ceil(self.unit_bytes).min(self.cells.len());
        &mut self.cells[first.min(end)..end]
    }

    pub(super) fn read(&self, at: Address, dtype: DType) -> ScalarValue {
        read(&self.bytes, at.byte, dtype)
    }

    pub(super) fn write(&mut self, at: Address, value: ScalarValue) {
        write(&mut self.bytes, at.byte, value);
    }
}

/// An element's value; zero of one outside.
pub(super) fn read(bytes: &[u8], at: usize, dtype: DType) -> ScalarValue {
    let size = dtype.size_bytes() as usize;
    let mut word = [0; 8];
    if let Some(found) = bytes.get(at..at + size) {
        word[..size].copy_from_slice(found);
    }
    ScalarValue { dtype, bits: u64::from_le_bytes(word) }
}

/// Sets an element; does nothing to one outside.
pub(super) fn write(bytes: &mut [u8], at: usize, value: ScalarValue) {
    let size = value.dtype.size_bytes() as usize;
    if let Some(place) = bytes.get_mut(at..at + size) {
        place.copy_from_slice(&value.bits.to_le_bytes()[..size]);
    }
}
