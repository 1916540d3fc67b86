//! Names that the expansion uses are the author's here, and lints are strict.
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, unsafe_code)]

use tile_runtime::tiled_kernel;

tiled_kernel! {
    /// `c = scale * a`.
    pub fn scale<T: Number>(scale: T, a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        c[i] = scale * a[i];
    }
}

tiled_kernel! {
    /// Names that could meet those of the expansion.
    pub fn Configured<Options: Number>(A: &mut Tensor<Options, [N]>, scale: Options, KERNEL: Options)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        A[i] = KERNEL * scale;
    }
}

/// Not those of `core`.
mod names {
    #![allow(dead_code, reason = "names to meet those of the expansion")]
    use tile_runtime::tiled_kernel;

    struct Result;
    struct Clone;
    struct Debug;
    struct Options;
    struct Element;
    struct Tensor;

    tiled_kernel! {
        pub(super) fn f32(b: &mut Tensor<f32, [N]>)
        where grid: (bx in N),
        {
            b[bx] = 1.0;
        }
    }
}

mod inner {
    use tile_runtime::tiled_kernel;

    tiled_kernel! {
        /// Documented.
        pub(super) fn k(r#type: &mut Tensor<i32, [N]>, n: i32)
        where grid: (bx in N),
        {
            r#type[bx] = n;
        }
    }
}

/// A kernel made by another macro, of its tokens.
macro_rules! kernel_of {
    ($name:ident, $ty:ty, $value:expr) => {
        tiled_kernel! {
            fn $name(c: &mut Tensor<f32, [N]>)
            where grid: (bx in N),
            {
                c[bx] = 2.0 * $value;
            }
        }
    };
}

kernel_of!(made, f32, 1.0 + 2.0);

#[test]
fn launched() {
    tiled_kernel! {
        fn local(c: &mut Tensor<f32, [N]>)
        where grid: (bx in N),
        {
            c[bx] = 1.0;
        }
    }
    let device = tile_runtime::Device::cpu();
    let a = device.zeros::<f32, 1>([0]).unwrap();
    let mut c = device.zeros::<f32, 1>([0]).unwrap();
    scale::launch(2.0, &a, &mut c).unwrap();
    scale::with(tile_runtime::Options::new()).launch(2.0, &a, &mut c).unwrap();
    Configured::launch(&mut c, 1.0, 2.0).unwrap();
    local::launch(&mut c).unwrap();
    names::f32::launch(&mut c).unwrap();
    made::launch(&mut c).unwrap();
    let mut n = device.zeros::<i32, 1>([0]).unwrap();
    inner::k::launch(&mut n, 3).unwrap();
    assert_eq!(scale::kernel::<f32>().name(), "scale");
}
