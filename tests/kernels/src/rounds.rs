//! Kernels whose work-items meet in rounds of loops, and under conditions, that each of them
//! counts and computes from numbers of its own.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// Each tile reversed, by three blocks that take every third one; as often as there are
    /// tiles, filled up to three.
    pub fn grid_rounds(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in 3),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        let stride = 3 * TN;
        let rounded = ((N - 1) / stride + 1) * stride;
        for i in (bx * TN + tx..rounded).step_by(stride) {
            s[tx] = x[i];
            barrier;
            c[i] = s[TN - 1 - tx];
            barrier;
        }
    }
}

tiled_kernel! {
    /// The same counted by hand, each number less that of the round; the fourth round of
    /// each block leaves its tile as it is.
    pub fn hand_rounds(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in 3),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        let stride = 3 * TN;
        let rounded = ((N - 1) / stride + 1) * stride;
        let mut i = bx * TN + tx;
        let mut round: i32 = 0;
        while i < rounded {
            if i / stride != 3 {
                s[tx] = x[i];
                barrier;
                c[i] = s[TN - 1 - tx] - round;
                barrier;
            }
            i += stride;
            round += 1;
        }
    }
}

tiled_kernel! {
    /// Every other tile reversed, and four times three times that with the number that
    /// follows in the tile's ring and a place, from the last place to the first.
    #[allow(redundant_barrier)]
    pub fn own_places(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i / TN % 2 == 1 {
            return;
        }
        shared s: [i32; TN];
        s[tx] = x[i];
        if (tx as u32).leading_zeros() <= 32 {
            barrier;
        }
        let mut sum = s[TN - 1 - tx];
        for j in (tx..4 * TN).step_by(TN).rev() {
            barrier;
            s[tx] = sum;
            barrier;
            sum = 3 * sum + s[(tx + 1) % TN] + (j as i32);
        }
        c[i] = sum;
    }
}

tiled_kernel! {
    /// Four sums of a number that follows in the tile's ring, one further each time, and of
    /// the place where that work-item is: a loop of five that all leave after the fourth.
    pub fn shifted_rounds(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        let mut sum: i32 = 0;
        for j in tx..tx + 5 {
            s[tx] = x[bx * TN + tx] + (j as i32);
            barrier;
            sum += s[(j + 1) % TN];
            barrier;
            if j - tx == 3 {
                break;
            }
        }
        c[bx * TN + tx] = sum;
    }
}

tiled_kernel! {
    /// Three sums of a number that follows in the tile's ring, one further each time, and a
    /// place: each has turns of its own, in the first three of which all meet. Twice the sum
    /// that follows is added to it, or taken away, as each one's number says; twice the one
    /// in the opposite place, in a loop of five that all leave, each by a condition of its own.
    pub fn first_turns(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        let own = x[bx * TN + tx];
        let mut sum: i32 = 0;
        for i in 0..3 + tx {
            if i < 3 {
                s[tx] = own + (i as i32);
                barrier;
                sum += s[(tx + 1) % TN];
                barrier;
            } else {
                sum += 1;
            }
        }
        let mut k: i32 = 0;
        while k < 4 {
            s[tx] = sum;
            barrier;
            let next = s[(tx + 1) % TN];
            barrier;
            if own > 0 {
                sum += next;
                k += 2;
            } else {
                sum -= next;
                k += 2;
            }
        }
        for i in 0..5 {
            if i == 2 && tx < TN / 2 {
                break;
            }
            if i == 2 && tx >= TN / 2 {
                break;
            }
            s[tx] = sum;
            barrier;
            sum += s[TN - 1 - tx];
            barrier;
        }
        c[bx * TN + tx] = sum;
    }
}

tiled_kernel! {
    /// Three sums of a number and of the one that follows in the tile's ring, with the turn's
    /// number added to each; whoever has begun with more than 0 leaves in the last turn in which
    /// all meet, behind that, and the others go on alone.
    pub fn last_meetings(#[pad = 0] x: &Tensor<i32, [N]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        shared s: [i32; TN];
        let own = x[bx * TN + tx];
        let mut sum = own;
        for i in 0..6 {
            if i < 3 {
                s[tx] = sum;
                barrier;
                sum += s[(tx + 1) % TN];
                barrier;
            }
            if i >= 2 && own > 0 {
                break;
            }
            sum += i as i32;
        }
        c[bx * TN + tx] = sum;
    }
}
