//! What stands for many counts as the many do: sampled counts are those of every block
//! and iteration.

use tile_ir::config::{Config, TilePadding};
use tile_ir::dtype::DType;
use tile_ir::explain::count::Limits;

use crate::counts::window_scalars;
use crate::kernels::{
    ADD, CONVERGENT_TREE, MATMUL, NAIVE, ROWS, SPARSE, STENCIL, TRANSPOSE, TREE, TRIANGLE, WINDOW,
};
use crate::support::{checked, chosen, counts, counts_with, textbook};

#[track_caller]
fn check(text: &str, config: &Config, dims: &[u64]) {
    let kernel = checked(text);
    let full = Limits { max_steps: u64::MAX, is_full: true };
    let every = counts(&kernel, DType::F32, config, dims, full);
    let sampled = counts(&kernel, DType::F32, config, dims, Limits::default());
    assert!(every.is_exact);
    assert_eq!(sampled, every, "{dims:?}");
}

#[test]
fn textbook_configurations() {
    for dims in [[64, 64, 64], [100, 70, 130], [33, 161, 48]] {
        check(MATMUL, &textbook(&[16, 16, 16], &[16, 16]), &dims);
        check(NAIVE, &textbook(&[16, 16], &[16, 16]), &dims);
    }
    for n in [1, 255, 1000, 20_000] {
        check(ADD, &textbook(&[128], &[128]), &[n]);
        check(STENCIL, &textbook(&[128, 3], &[128]), &[n]);
        check(TREE, &textbook(&[64], &[64]), &[n]);
        check(CONVERGENT_TREE, &textbook(&[64], &[64]), &[n]);
    }
    for dims in [[64, 64], [100, 1001]] {
        let config = Config { threads: 256, ..textbook(&[32, 32], &[]) };
        check(TRANSPOSE, &config, &dims);
        check(TRANSPOSE, &Config { padding: TilePadding::Swizzled, ..config }, &dims);
        check(ROWS, &textbook(&[64], &[64]), &dims);
    }
    check(SPARSE, &textbook(&[64], &[64]), &[300, 5000, 777]);
    check(TRIANGLE, &textbook(&[32], &[32]), &[200]);
}

/// Pipelined, hoisted, vectorised, split into interior and edge.
#[test]
fn chosen_configurations() {
    for dims in [[512, 512, 256], [300, 259, 517], [129, 640, 64]] {
        let config = chosen(&checked(MATMUL), DType::F32, &dims);
        check(MATMUL, &config, &dims);
        check(MATMUL, &Config { stages: 3, ..config.clone() }, &dims);
        check(MATMUL, &Config { unroll_stages: true, ..config }, &dims);
    }
    for dims in [[512, 512], [511, 513]] {
        check(TRANSPOSE, &chosen(&checked(TRANSPOSE), DType::F32, &dims), &dims);
    }
    for n in [4096, 100_001] {
        check(ADD, &chosen(&checked(ADD), DType::F32, &[n]), &[n]);
        check(STENCIL, &chosen(&checked(STENCIL), DType::F32, &[n]), &[n]);
    }
}

/// Loops from one scalar to another.
#[test]
fn of_known_scalars() {
    let kernel = checked(WINDOW);
    let full = Limits { max_steps: u64::MAX, is_full: true };
    for (n, radius) in [(64, 0), (1000, 3), (5000, 200)] {
        for config in [textbook(&[64], &[64]), chosen(&kernel, DType::F32, &[n])] {
            let scalars = window_scalars(radius, n > 64);
            let of = |limits| counts_with(&kernel, DType::F32, &config, (&[n], &scalars), limits);
            let (every, sampled) = (of(full), of(Limits::default()));
            assert!(every.is_exact);
            assert_eq!(sampled, every, "{n}, {radius}");
        }
    }
}
