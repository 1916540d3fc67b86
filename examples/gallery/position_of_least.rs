//! The least element of an array and where it first stands, in two launches. The
//! least of a block is one collective, its position another: the least position
//! among those work-items that hold the least value.
//!
//! ```sh
//! cargo run --release --example gallery -- position_of_least 1000003
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use crate::frame::{Cost, Entry, Failure, Prepared, equal, ints};

tiled_kernel! {
    /// Of what block `b` finds in `a`: the least element, and its first position.
    pub fn least_of_parts<T: Number>(
        a: &Tensor<T, [N]>,
        least: &mut Tensor<T, [PARTS]>,
        at: &mut Tensor<u32, [PARTS]>,
    )
    where
        tile: (TN in pow2(64..=1024)),
        grid: (b in PARTS),
        block: (tx in TN),
    {
        let mut own = T::MAX;
        let mut own_at = u32::MAX;
        for p in tiles(N, PARTS * TN) {
            let i = (p * PARTS + b) * TN + tx;
            if i < N && (a[i] < own || own_at == u32::MAX) {
                own = a[i];
                own_at = i as u32;
            }
        }
        let best = reduce_min(own);
        let best_at = reduce_min(if own == best { own_at } else { u32::MAX });
        if tx == 0 {
            least[b] = best;
            at[b] = best_at;
        }
    }

    /// The least of the parts, by one block.
    pub fn least_of_all<T: Number>(
        parts: &Tensor<T, [PARTS]>,
        part_at: &Tensor<u32, [PARTS]>,
        least: &mut Tensor<T, [1]>,
        at: &mut Tensor<u32, [1]>,
    )
    where
        tile: (TN in pow2(64..=1024)),
        block: (tx in TN),
    {
        let mut own = T::MAX;
        let mut own_at = u32::MAX;
        for p in tiles(PARTS, TN) {
            let i = p * TN + tx;
            if i < PARTS && (parts[i] < own || parts[i] == own && part_at[i] < own_at) {
                own = parts[i];
                own_at = part_at[i];
            }
        }
        let best = reduce_min(own);
        let best_at = reduce_min(if own == best { own_at } else { u32::MAX });
        if tx == 0 {
            least[0] = best;
            at[0] = best_at;
        }
    }
}

/// What the gallery runs.
pub const ENTRY: Entry = Entry {
    name: "position_of_least",
    about: "the least element of an array and where it stands, by collectives",
    sizes: &["elements"],
    small: &[&[1], &[63], &[4097], &[100_000]],
    full: &[1 << 28],
    kernels: || {
        vec![
            least_of_parts::kernel::<f32>(),
            least_of_parts::kernel::<i32>(),
            least_of_all::kernel::<f32>(),
            least_of_all::kernel::<i32>(),
        ]
    },
    prepare: |device, sizes| Ok(Box::new(Numbers::new(device, sizes[0])?)),
};

/// Blocks of the first launch: some for each of a large device's multiprocessors.
const PARTS: usize = 1024;

struct Numbers {
    a: Tensor<i32, 1>,
    parts: (Tensor<i32, 1>, Tensor<u32, 1>),
    least: (Tensor<i32, 1>, Tensor<u32, 1>),
    expected: (i32, u32),
}

impl Numbers {
    fn new(device: &Device, n: usize) -> Result<Self, Failure> {
        if n == 0 || n >= u32::MAX as usize {
            return Err(Failure::Sizes("there are 1 to 2^32 - 2 elements".to_owned()));
        }
        // Few values, so that the least one stands in many places.
        let a: Vec<i32> = ints(1, n, 20_000)?.iter().map(|&x| x as i32 - 10_000).collect();
        let mut expected = (a[0], 0);
        for (at, &x) in a.iter().enumerate() {
            if x < expected.0 {
                expected = (x, at as u32);
            }
        }
        let parts = PARTS.min(n.div_ceil(64));
        Ok(Self {
            a: device.tensor([n], &a)?,
            parts: (device.zeros([parts])?, device.zeros([parts])?),
            least: (device.zeros([1])?, device.zeros([1])?),
            expected,
        })
    }
}

impl Prepared for Numbers {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let (parts, part_at) = &mut self.parts;
        let (least, at) = &mut self.least;
        least_of_parts::with(options.clone()).launch(&self.a, parts, part_at)?;
        least_of_all::with(options.clone()).launch(parts, part_at, least, at)
    }

    fn verify(&self) -> Result<(), Failure> {
        equal("least", &self.least.0.to_vec()?, &[self.expected.0])?;
        equal("position", &self.least.1.to_vec()?, &[self.expected.1])
    }

    fn cost(&self) -> Cost {
        let n = self.a.shape()[0] as f64;
        Cost { bytes: 4.0 * n, flops: 0.0 }
    }
}
