//! What the macro does with a kernel, from its text to its verdict: the price of
//! each at every build.
//!
//! ```sh
//! cargo bench -p tile-benches --bench checker
//! ```
//!
//! The kernels are those of the examples and the suite's first of each family.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use tile_ir::check::check_kernel;
use tile_ir::resolve::resolve_kernel;

/// Sources with `tiled_kernel! { … }` in them.
const EXAMPLES: [&str; 3] = [
    include_str!("../examples/add.rs"),
    include_str!("../examples/transpose.rs"),
    include_str!("../examples/matmul/main.rs"),
];

/// Kernels with verdicts; the first of each file is taken.
const FAMILIES: [(&str, &str); 6] = [
    ("reductions", include_str!("../tile-ir/tests/language/suite/reductions.kernels")),
    ("scans", include_str!("../tile-ir/tests/language/suite/scans.kernels")),
    ("sorts", include_str!("../tile-ir/tests/language/suite/sorts.kernels")),
    ("stencils", include_str!("../tile-ir/tests/language/suite/stencils.kernels")),
    ("layers", include_str!("../tile-ir/tests/language/suite/layers.kernels")),
    ("grids", include_str!("../tile-ir/tests/language/suite/grids.kernels")),
];

/// What stands in the braces of each invocation of the macro.
fn kernels(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, name) in source.match_indices("\ntiled_kernel! {") {
        let body = &source[at + name.len()..];
        let mut depth = 1;
        let end = body.find(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        found.extend(end.map(|end| &body[..end]));
    }
    found
}

/// The kernel after a file's first verdict.
fn first(family: &str) -> Option<&str> {
    let (_, rest) = family.split_once("// accept")?;
    let (_, kernel) = rest.split_once('\n')?;
    Some(kernel.split("\n// ").next().unwrap_or(kernel))
}

/// Parses, resolves and checks.
fn judge(text: &str) -> bool {
    let item = tile_syntax::parse_kernel_text(text).expect("in the language");
    resolve_kernel(&item).and_then(check_kernel).is_ok()
}

fn checker(criterion: &mut Criterion) {
    let mut measure = |name: &str, text: &str| {
        let name = format!("{name}, {} lines", text.trim().lines().count());
        criterion.bench_function(&name, |bencher| bencher.iter(|| judge(black_box(text))));
    };
    for text in EXAMPLES.iter().flat_map(|source| kernels(source)) {
        let item = tile_syntax::parse_kernel_text(text).expect("in the language");
        measure(&item.name.text, text);
    }
    for (name, family) in FAMILIES {
        first(family).into_iter().for_each(|text| measure(name, text));
    }
}

criterion_group!(benches, checker);
criterion_main!(benches);
