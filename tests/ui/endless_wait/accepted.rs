use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// Tried again only where another work-item's update came first.
    pub fn total(a: &Tensor<i32, [N]>, c: &mut Tensor<i32, [1]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let mut expected = 0;
            let mut done = false;
            while !done {
                let old = atomic c[0].compare_exchange(expected, expected + a[i]);
                done = old == expected;
                expected = old;
            }
        }
    }
}

tiled_kernel! {
    /// The counter grows by every question.
    pub fn pieces(next: &mut Tensor<u32, [1]>, c: &mut Tensor<i32, [N]>)
    where
        tile: (TN),
        grid: (bx in 64),
        block: (tx in TN),
    {
        let mut more = true;
        while more {
            let piece = atomic next[0] += 1;
            more = (piece as index) < N;
            if more {
                c[piece] = 1;
            }
        }
    }
}
