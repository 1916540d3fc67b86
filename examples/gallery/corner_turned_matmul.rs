//! A product whose second factor lies in memory column by column, twice.
//!
//! `corner_turned_matmul` is the textbook's corner turning: for the tile of `b` the
//! work-items exchange their roles, `ty` counts columns and `tx` goes along them, so that
//! neighbours read neighbours; the tile has the elements back in their places.
//!
//! `column_major_matmul` is the plain kernel of `tiled_matmul`, given a transposed view.
//! Which work-item brings which element of a `load` is the compiler's choice, and it sees
//! how the elements lie: the corner is turned without a word about it.
//!
//! ```sh
//! cargo run --release --example gallery -- corner_turned_matmul 300 200 100
//! cargo run --release --example gallery -- column_major_matmul 300 200 100
//! ```

use tile_runtime::{Device, Options, Tensor, tiled_kernel};

use super::tiled_matmul::tiled_matmul;
use crate::frame::{Cost, Entry, Failure, Prepared, Product};

tiled_kernel! {
    /// `c = a · bᵀ`: `b` holds the second factor column by column.
    pub fn corner_turned_matmul<T: Number>(
        a: &Tensor<T, [M, K]>,
        b: &Tensor<T, [N, K]>,
        c: &mut Tensor<T, [M, N]>,
    )
    where
        tile: (W),
        grid: (by in tiles(M, W), bx in tiles(N, W)),
        block: (ty in W, tx in W),
    {
        shared a_s: [T; W, W];
        shared b_s: [T; W, W];
        let mut acc: Acc<T> = 0;

        phase p in tiles(K, W) {
            a_s[ty, tx] = a[by * W + ty, p * W + tx];
            b_s[tx, ty] = b[bx * W + ty, p * W + tx];   // the corner
            barrier;
            for k in 0..W {
                acc += a_s[ty, k] * b_s[k, tx];
            }
            barrier;
        }
        c[by * W + ty, bx * W + tx] = acc;
    }
}

/// What the gallery runs: the corner turned by hand.
pub const ENTRY: Entry = Entry {
    name: "corner_turned_matmul",
    about: "c = a · b, b column by column, the corner turned in the tile",
    sizes: &["m", "k", "n"],
    small: &[&[1, 1, 1], &[13, 0, 5], &[17, 40, 33], &[65, 64, 70]],
    full: &[4096, 4096, 4096],
    kernels: || vec![corner_turned_matmul::kernel::<f32>(), corner_turned_matmul::kernel::<i64>()],
    prepare: |device, sizes| prepare(device, sizes, Corner::ByHand),
};

/// What the gallery runs: the corner turned by the compiler.
pub const COLUMN_MAJOR: Entry = Entry {
    name: "column_major_matmul",
    about: "c = a · b, b column by column, the plain kernel and a view",
    kernels: Vec::new,
    prepare: |device, sizes| prepare(device, sizes, Corner::ByCompiler),
    ..ENTRY
};

#[derive(Clone, Copy)]
enum Corner {
    ByHand,
    ByCompiler,
}

struct Matrices {
    product: Product,
    a: Tensor<f32, 2>,
    /// `[n, k]`: the second factor's columns, one after the other.
    columns: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
    corner: Corner,
}

fn prepare(device: &Device, sizes: &[usize], corner: Corner) -> Result<Box<dyn Prepared>, Failure> {
    let extents @ [m, k, n] = [sizes[0], sizes[1], sizes[2]];
    let product = Product::new(extents)?;
    let columns: Vec<f32> =
        (0..n).flat_map(|j| product.b.iter().skip(j).step_by(n).copied()).collect();
    Ok(Box::new(Matrices {
        a: device.tensor([m, k], &product.a)?,
        columns: device.tensor([n, k], &columns)?,
        c: device.zeros([m, n])?,
        product,
        corner,
    }))
}

impl Prepared for Matrices {
    fn launch(&mut self, options: &Options) -> tile_runtime::Result<()> {
        let Self { a, columns, c, .. } = self;
        match self.corner {
            Corner::ByHand => corner_turned_matmul::with(options.clone()).launch(a, columns, c),
            Corner::ByCompiler => {
                tiled_matmul::with(options.clone()).launch(a, &columns.transposed(), c)
            }
        }
    }

    fn verify(&self) -> Result<(), Failure> {
        self.product.verify(&self.c.to_vec()?)
    }

    fn cost(&self) -> Cost {
        self.product.cost()
    }
}
