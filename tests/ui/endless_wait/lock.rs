//! The lock is free again only when its owner has run on.

use tile_runtime::tiled_kernel;

tiled_kernel! {
    fn largest(a: &Tensor<i32, [N]>, lock: &mut Tensor<i32, [1]>, c: &mut Tensor<i32, [1]>)
    where
        tile: (TN),
        grid: (bx in tiles(N, TN)),
        block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let mut done = false;
            while !done {
                let held = atomic lock[0].compare_exchange(0, 1);
                if held == 0 {
                    atomic c[0].max(a[i]);
                    atomic lock[0].swap(0);
                    done = true;
                }
            }
        }
    }
}

fn main() {}
