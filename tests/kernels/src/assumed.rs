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

tiled_kernel! {
    /// Sorts tiles by merging runs: each element goes behind those of the other run that come
    /// first, so that no two have one place.
    pub fn merged(keys: &Tensor<i32, [R, TN]>, c: &mut Tensor<i32, [R, TN]>)
    where
        tile: (TN in [2, 8, 64]),
        grid: (by in R),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        s[tx] = keys[by, tx];
        for run in doubling(TN) {
            barrier;
            let key = s[tx];
            let own = tx / run;
            let other = (own ^ 1) * run;
            let mut before = 0;
            for k in 0..run {
                let theirs = s[other + k];
                if theirs < key || (theirs == key && own % 2 == 1) {
                    before += 1;
                }
            }
            barrier;
            let place = own / 2 * 2 * run + tx % run + before;
            assume(distinct_in_block(place));
            s[place] = key;
        }
        barrier;
        c[by, tx] = s[tx];
    }
}

tiled_kernel! {
    /// Each element, and twice of it, where its block's list says, from the block's first place.
    pub fn listed_pairs(
        first: &Tensor<i32, [B]>,
        list: &Tensor<i32, [B, TN]>,
        x: &Tensor<i32, [B, TN]>,
        c: &mut Tensor<i32, [M]>,
    )
    where
        tile: (TN in [2, 4]),
        grid: (bx in B),
        block: (tx in TN),
    {
        let place = first[bx] + list[bx, tx];
        assume(distinct_in_grid(place, place + 1));
        c[place] = x[bx, tx];
        c[place + 1] = 2 * x[bx, tx];
    }
}
