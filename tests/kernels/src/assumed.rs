//! Kernels that are free of races only for the data that their author expects.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// Puts each element where its index says: a permutation, or a part of one.
    pub fn scatter(ind: &Tensor<i32, [N]>, x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [M]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        assume(distinct(ind));
        let i = bx * TN + tx;
        if i < N {
            c[ind[i]] = x[i];
        }
    }
}

tiled_kernel! {
    /// Each element into one of the four places that are its own.
    pub fn own_slots(#[pad = 0] slot: &Tensor<i32, [N]>, #[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [M]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let k = slot[i];
        assume(k >= 0 && k < 4);
        c[4 * i + k] = x[i];
    }
}

tiled_kernel! {
    /// Spreads a tile's elements out by a stride, in a cooperative loop.
    pub fn strided(stride: i32, x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [M]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
    {
        each j in TN {
            assume(stride > 0);
            if bx * TN + j < N {
                c[(bx * TN + j) * stride] = x[bx * TN + j];
            }
        }
    }
}

tiled_kernel! {
    /// Each row's number into the places of the row, which lies behind the one before it.
    pub fn spread_rows(first: &Tensor<i32, [R]>, c: &mut Tensor<i32, [M]>)
    where
        tile: (TN),
        grid: (bx in tiles(R, TN)),
        block: (tx in TN),
    {
        assume(sorted(first));
        let row = bx * TN + tx;
        if row + 1 < R {
            for at in first[row]..first[row + 1] {
                c[at] = row as i32;
            }
        }
    }
}
