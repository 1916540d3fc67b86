//! What a kernel assumes of scalars and sizes: each launch is asked.

use tile_runtime::{AssumptionError, Device, Error, Result, tiled_kernel};

tiled_kernel! {
    /// Sums up a block's 64 elements by a tree whose size is a parameter, of which only one
    /// value is right.
    pub fn tree(#[pad = 0] x: &Tensor<i32, [N]>, y: &mut Tensor<i32, [B]>, size: i32)
    where grid: (b in tiles(N, 64)), block: (t in 64),
    {
        shared s: [i32; 64];
        assume(size == 64);
        assume(N % 2 == 0);
        s[t] = x[b * 64 + t];
        let mut d = size / 2;
        while d > 0 {
            barrier;
            if t < d { s[t] += s[t + d]; }
            d /= 2;
        }
        if t == 0 { y[b] = s[0]; }
    }
}

#[test]
fn a_launch_that_breaks_an_assumption_about_it_is_refused() -> Result<()> {
    let device = Device::cpu();
    let ones = device.tensor([128], &[1; 128])?;
    let odd = device.tensor([127], &[1; 127])?;
    // The first launch of a kind, and those like it.
    for _ in 0..2 {
        let mut y = device.zeros([2])?;
        tree::launch(&ones, &mut y, 64)?;
        assert_eq!(y.to_vec()?, [64, 64]);
        let error = tree::launch(&ones, &mut y, 32).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`assume(size == 64)` of `tree`"), "{text}");
        assert!(text.contains("does not hold for this launch: size = 32"), "{text}");
        let Error::Assumption(assumption) = error else { panic!("{text}") };
        assert!(matches!(*assumption, AssumptionError::Condition { .. }), "{text}");
        let text = tree::launch(&odd, &mut y, 64).unwrap_err().to_string();
        assert!(text.contains("`assume(N % 2 == 0)`"), "{text}");
        assert!(text.contains("this launch: N = 127"), "{text}");
        // What was there is there still.
        assert_eq!(y.to_vec()?, [64, 64]);
    }
    Ok(())
}
