//! Kernels whose barriers stand in control flow that takes thought: bounds that
//! are the same for the block only for a time, or only because of their sizes.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// Each tile reversed, then three times a neighbour's value added: the value
    /// of the work-item `k` further on, for `k` of 3, 2, 1. `k` is a work-item's
    /// own number before and after.
    pub fn reused_counter(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        s[tx] = x[i];
        barrier;
        let mut k = TN - 1 - tx;
        let mut sum = s[k];
        barrier;
        k = 3;
        while k > 0 {
            s[tx] = sum;
            barrier;
            sum += s[(tx + k) % TN];
            barrier;
            k -= 1;
        }
        k = k + tx;
        c[i] = sum + (k as i32);
    }
}

tiled_kernel! {
    /// Each tile reversed, by code that only looks as if not all come by.
    #[allow(redundant_barrier)]
    pub fn idle_conditions(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN in 1..=64),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        s[tx] = x[i];
        if tx < 64 {
            barrier;
        }
        if tx >= TN {
            barrier;
            c[i] = 0 - 1;
        } else {
            c[i] = s[TN - 1 - tx];
        }
    }
}

tiled_kernel! {
    /// For each element the sum of those before it in its tile, up to the first
    /// above 40 and without multiples of 3; nothing where 13 comes before that.
    pub fn early_exits(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        s[tx] = x[i];
        barrier;
        if i >= N {
            return;
        }
        let mut sum = 0;
        for k in 0..tx {
            let y = s[k];
            if y > 40 {
                break;
            }
            if y % 3 == 0 {
                continue;
            }
            if y == 13 {
                return;
            }
            sum += y;
        }
        c[i] = sum;
    }
}

tiled_kernel! {
    /// Each tile, turned by none and by one less than all, reversed and added up, with its
    /// sum added to each number: what the block fills its tile with has names.
    pub fn named_places(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        let first = bx * TN;
        let total = reduce_sum(x[first + tx]);
        let mut turn = 0;
        let mut sum = 0;
        for _ in 0..2 {
            load s[j] = x[first + (j + turn) % TN] + total;
            barrier;
            sum += s[TN - 1 - tx];
            barrier;
            turn += TN - 1;
        }
        c[first + tx] = sum;
    }
}

tiled_kernel! {
    /// Each number plus its right neighbour's (around its tile), up to 6 times,
    /// until the first of the tile is above 40; nothing where the ends of the tile
    /// come to add up to 13.
    pub fn joint_exits(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        shared s: [i32; TN];
        let mut y = x[i];
        for k in 0..6 {
            s[tx] = y;
            barrier;
            let first = uniform(s[0]);
            if first > 40 {
                break;
            }
            if first + uniform(s[TN - 1]) == 13 {
                return;
            }
            y += s[(tx + 1) % TN];
            barrier;
        }
        c[i] = y;
    }
}

tiled_kernel! {
    /// Each tile's numbers, all of them halved until the first is at most 20; turned
    /// round where the last one is odd.
    pub fn agreed_values(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
    {
        shared s: [i32; TN];
        load s[j] = x[bx * TN + j];
        barrier;
        while uniform(s[0]) > 20 {
            barrier;
            each j in TN {
                s[j] /= 2;
            }
            barrier;
        }
        let last = uniform(s[TN - 1]);
        if last % 2 != 0 {
            each j in TN {
                c[bx * TN + j] = s[TN - 1 - j];
            }
        } else {
            each j in TN {
                c[bx * TN + j] = s[j] + last;
            }
        }
    }
}

tiled_kernel! {
    /// How many steps take each number to 1, halved where it is even and else tripled
    /// and one more; 99 for those that take longer, 0 for what is no such number.
    pub fn steps_to_one(x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i >= N {
            return;
        }
        let mut n = x[i];
        let mut steps = 0;
        loop {
            if n <= 1 || steps == 99 {
                break;
            }
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        c[i] = steps;
    }

    /// Each tile sorted, by neighbours that change places until none does.
    pub fn settled(#[pad = i32::MAX] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        load s[i] = x[bx * TN + i];
        barrier;
        loop {
            let mut moved = false;
            for odd in 0..2 {
                let at = 2 * tx + odd;
                if at + 1 < TN && s[at] > s[at + 1] {
                    let larger = s[at];
                    s[at] = s[at + 1];
                    s[at + 1] = larger;
                    moved = true;
                }
                barrier;
            }
            if !any(moved) {
                break;
            }
        }
        c[bx * TN + tx] = s[tx];
    }
}
