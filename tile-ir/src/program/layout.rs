//! Layouts: which thread runs which item, and where a tile's element lies.

/// One digit of a mixed-radix number, and what it adds to a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digit {
    /// The axis whose coordinate it adds to.
    pub axis: u32,
    /// It runs from 0 to here, exclusive.
    pub size: u32,
    /// Added to the coordinate per unit of the digit.
    pub stride: u32,
}

/// A function (thread, register) → item of a domain.
///
/// The thread's number within the block, and the register's number within the
/// thread, are each written in a mixed radix, least significant digit first.
/// The item's coordinate along an axis is the sum over that axis's digits of
/// digit × stride. Strided, blocked, warp-tiled and tensor-core fragment
/// layouts are all of this form.
///
/// Threads beyond the product of the thread digits have no item. Where the
/// digits of an axis reach beyond its extent, those (thread, register) pairs
/// have no item either; every item of the domain is some pair's, exactly once.
///
/// # Examples
///
/// A 32 × 64 domain on 128 threads, 16 items each: threads `[(axis 1, 32, 1),
/// (axis 0, 4, 1)]`, registers `[(axis 1, 2, 32), (axis 0, 8, 4)]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ItemLayout {
    /// Digits of the thread's number, least significant first.
    pub threads: Vec<Digit>,
    /// Digits of the register's number, least significant first.
    pub registers: Vec<Digit>,
    /// How a thread goes through its items.
    pub walk: Walk,
}

/// In which order a thread goes through its items where they compute on operands that
/// they share and touch no memory. What each of them computes does not depend on it; which
/// operands the next one finds in the registers' operand cache does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Walk {
    /// Along rows, the last axis innermost, every other row backwards, so that a row
    /// begins with the operand that the one before ended with.
    #[default]
    BackAndForth,
    /// Down columns, the first axis innermost.
    DownColumns,
}

impl ItemLayout {
    /// One thread per item, in row-major order: the last axis fastest.
    pub fn one_per_thread(extents: &[u32]) -> Self {
        let mut threads: Vec<Digit> =
            (0u32..).zip(extents).map(|(axis, &size)| Digit { axis, size, stride: 1 }).collect();
        threads.reverse();
        Self { threads, ..Self::default() }
    }

    /// Number of threads that have items.
    pub fn n_threads(&self) -> u32 {
        self.threads.iter().map(|digit| digit.size).product()
    }

    /// Registers per thread.
    pub fn n_registers(&self) -> u32 {
        self.registers.iter().map(|digit| digit.size).product()
    }

    /// The layout of the items with only these axes' coordinates: a thread keeps
    /// the items that its own fall on. A digit of a forgotten axis tells threads
    /// apart that have the same items: its stride is 0.
    pub fn projected(&self, axes: &[u32]) -> Self {
        let kept = |digit: &Digit| {
            let axis = axes.iter().position(|axis| *axis == digit.axis)?;
            Some(Digit { axis: axis as u32, ..*digit })
        };
        let repeated = |digit: &Digit| Digit { axis: 0, stride: 0, ..*digit };
        Self {
            threads: self
                .threads
                .iter()
                .map(|digit| kept(digit).unwrap_or_else(|| repeated(digit)))
                .collect(),
            registers: self.registers.iter().filter_map(kept).collect(),
            walk: Walk::default(),
        }
    }

    /// Registers that differ in the coordinate along an axis.
    pub fn registers_along(&self, axis: u32) -> u32 {
        self.registers.iter().filter(|digit| digit.axis == axis).map(|digit| digit.size).product()
    }

    /// The coordinates that a pair stands for, one per axis, which may lie
    /// outside the extents; `None` for a thread without items.
    pub fn coords(&self, n_axes: usize, thread: u32, register: u32) -> Option<Vec<u32>> {
        if thread >= self.n_threads() {
            return None;
        }
        let mut coords = vec![0; n_axes];
        for (digits, number) in [(&self.threads, thread), (&self.registers, register)] {
            let mut rest = number;
            for digit in digits {
                if let Some(coord) = coords.get_mut(digit.axis as usize) {
                    *coord += rest % digit.size * digit.stride;
                }
                rest /= digit.size;
            }
        }
        Some(coords)
    }

    /// One past the largest coordinate that the digits of `axis` reach.
    pub fn reach(&self, axis: u32) -> u32 {
        let digits = self.threads.iter().chain(&self.registers);
        1 + digits
            .filter(|digit| digit.axis == axis)
            .map(|digit| (digit.size - 1) * digit.stride)
            .sum::<u32>()
    }
}

/// Spreads a tile's rows over the banks without extra memory: the index along
/// the fastest axis is XORed with bits of the row's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    /// The rows repeat their pattern after 2^`bits`.
    pub bits: u32,
    /// The lowest bit of the element offset that is changed.
    pub shift: u32,
    /// The lowest bit of the element offset that is read, above the changed ones.
    pub source: u32,
}

/// Where an element of a tile lies: the sum of index × stride, in elements,
/// then the swizzle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileLayout {
    /// Elements per unit of each axis. Storage order and padding are in them:
    /// 32 × 32 padded by 1 is `[33, 1]`, stored transposed `[1, 33]`.
    pub strides: Vec<u32>,
    /// How rows are spread over the banks.
    pub swizzle: Option<Swizzle>,
    /// Elements that one buffer takes, padding included.
    pub size_elems: u32,
}

impl TileLayout {
    /// Row-major without padding.
    pub fn row_major(extents: &[u32]) -> Self {
        Self::padded(extents, 0)
    }

    /// Row-major with `pad_elems` unused elements at the end of each row (the
    /// last axis). One-dimensional tiles take no pad.
    pub fn padded(extents: &[u32], pad_elems: u32) -> Self {
        Self::along(extents, extents.len().saturating_sub(1), pad_elems)
    }

    /// Stored with `fastest` as the innermost axis, the others row-major around
    /// it, and `pad_elems` unused elements after each of its rows.
    pub fn along(extents: &[u32], fastest: usize, pad_elems: u32) -> Self {
        let mut order: Vec<usize> = (0..extents.len()).rev().collect();
        order.sort_by_key(|&axis| axis != fastest);
        let mut strides = vec![1; extents.len()];
        let mut size_elems = 1;
        for (depth, &axis) in order.iter().enumerate() {
            strides[axis] = size_elems;
            size_elems *= extents[axis];
            if depth == 0 && order.len() > 1 {
                size_elems += pad_elems;
            }
        }
        Self { strides, swizzle: None, size_elems }
    }

    /// The element offset of `indices`.
    pub fn offset(&self, indices: &[u32]) -> u32 {
        let offset = self.strides.iter().zip(indices).map(|(stride, index)| stride * index).sum();
        match self.swizzle {
            None => offset,
            Some(Swizzle { bits, shift, source }) => {
                offset ^ (((offset >> source) & ((1 << bits) - 1)) << shift)
            }
        }
    }
}
