//! Kernels whose work-items combine their values.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `sums[r] = sum over c of a[r, c]`, a block for each row: every work-item
    /// sums some of the row's elements, then the block sums those sums.
    pub fn row_totals<T: Number>(a: &Tensor<T, [R, C]>, sums: &mut Tensor<T, [R]>)
    where
        tile: (TN),
        grid: (by in R),
        block: (tx in TN),
    {
        let mut sum: T = 0;
        for p in tiles(C, TN) {
            sum += a[by, p * TN + tx];
        }
        let total = reduce_sum(sum);
        if tx == 0 {
            sums[by] = total;
        }
    }
}

tiled_kernel! {
    /// `b[r, c] = exp(a[r, c] - most) / total`: the softmax of each row.
    pub fn softmax<T: Float>(a: &Tensor<T, [R, C]>, b: &mut Tensor<T, [R, C]>)
    where
        tile: (TN),
        grid: (by in R),
        block: (tx in TN),
    {
        let mut own = T::NEG_INFINITY;
        for p in tiles(C, TN) {
            if in_bounds(a[by, p * TN + tx]) {
                own = max(own, a[by, p * TN + tx]);
            }
        }
        let most = reduce_max(own);
        let mut sum: T = 0;
        for p in tiles(C, TN) {
            if in_bounds(a[by, p * TN + tx]) {
                sum += exp(a[by, p * TN + tx] - most);
            }
        }
        let total = reduce_sum(sum);
        for p in tiles(C, TN) {
            b[by, p * TN + tx] = exp(a[by, p * TN + tx] - most) / total;
        }
    }
}

tiled_kernel! {
    /// Each tile of 5 by 7 elements above its least element, and that much below
    /// its largest one: `above = a - least`, `below = most - a`.
    pub fn tile_ranges<T: Number>(
        a: &Tensor<T, [R, C]>,
        above: &mut Tensor<T, [R, C]>,
        below: &mut Tensor<T, [R, C]>,
    )
    where
        tile: (TR = 5, TC = 7),
        grid: (by in tiles(R, TR), bx in tiles(C, TC)),
        block: (ty in TR, tx in TC),
    {
        let r = by * TR + ty;
        let c = bx * TC + tx;
        let least = reduce_min(if in_bounds(a[r, c]) { a[r, c] } else { T::MAX });
        let most = reduce_max(if in_bounds(a[r, c]) { a[r, c] } else { T::MIN });
        above[r, c] = a[r, c] - least;
        below[r, c] = most - a[r, c];
    }
}

tiled_kernel! {
    /// `rank[r, c]` is how many elements of row r before c are positive,
    /// `running[r, c]` the sum of the row up to c, and `counts[r]` how many of it
    /// are positive.
    pub fn ranks(
        #[pad = 0] a: &Tensor<i32, [R, C]>,
        rank: &mut Tensor<i32, [R, C]>,
        running: &mut Tensor<i32, [R, C]>,
        counts: &mut Tensor<i32, [R]>,
    )
    where
        tile: (TN),
        grid: (by in R),
        block: (tx in TN),
    {
        let mut found: i32 = 0;
        let mut sum: i32 = 0;
        for p in tiles(C, TN) {
            let value = a[by, p * TN + tx];
            let positive = (value > 0) as i32;
            rank[by, p * TN + tx] = found + scan_sum_exclusive(positive);
            running[by, p * TN + tx] = sum + scan_sum(value);
            found += reduce_sum(positive);
            sum += reduce_sum(value);
        }
        if tx == 0 {
            counts[by] = found;
        }
    }
}

tiled_kernel! {
    /// The sums of each tile up to an element, with it and without it, from the tile's
    /// first element on.
    pub fn tile_sums<T: Number>(
        a: &Tensor<T, [N]>,
        with: &mut Tensor<T, [N]>,
        without: &mut Tensor<T, [N]>,
    )
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        with[i] = scan_sum(a[i]);
        without[i] = scan_sum_exclusive(a[i]);
    }
}

tiled_kernel! {
    /// `rounds[i]` is how often the largest of the 48 values around i can be
    /// halved before it is 0: a loop that ends when all are done.
    pub fn halvings(#[pad = 0] a: &Tensor<u32, [N]>, rounds: &mut Tensor<u32, [N]>)
    where
        tile: (TN = 48),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut value = a[i];
        let mut count: u32 = 0;
        while any(value != 0) {
            value /= 2;
            count += 1;
        }
        rounds[i] = count;
    }
}
