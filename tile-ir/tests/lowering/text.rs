//! The CUDA C++ as a reader sees it: which line of the user's file each of its lines
//! is for, and where it computes with 64 bits.

use tile_ir::config::Config;
use tile_ir::emit::emit_cuda;
use tile_ir::lower::{Binding, lower};
use tile_ir::program::IndexWidth;

use crate::support::{Case, device, matmul, n_dims};

/// The line of the kernel's text that each line of its CUDA C++ stands for, by the
/// rules of `#line`.
fn sources(case: &Case) -> Vec<(String, &'static str)> {
    let text = emit_cuda(&case.program(), Some("a \"file\".rs")).expect("it can be written").text;
    let mut at = None;
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("#line ") {
            let (number, file) = rest.split_once(' ').expect("a number and a file");
            assert_eq!(file, "\"a \\\"file\\\".rs\"");
            at = Some(number.parse::<usize>().expect("a number"));
            continue;
        }
        let source = at.and_then(|number| case.text.lines().nth(number - 1)).unwrap_or("");
        found.push((line.trim().to_owned(), source.trim()));
        at = at.map(|number| number + 1);
    }
    found
}

#[test]
fn lines_point_at_the_statement_that_they_are_of() {
    let wide = Case { run: 4, copy_bytes: 16, divisor: 32, axes: vec![16, 8], ..matmul() };
    for case in [matmul(), Case { threads: 128, stages: 2, fragment_buffers: 2, ..wide }] {
        let lines = sources(&case);
        let of = |part: &str| {
            let of_part: Vec<&str> =
                lines.iter().filter(|(line, _)| line.contains(part)).map(|(_, s)| *s).collect();
            assert!(!of_part.is_empty(), "{part}");
            of_part
        };
        assert!(of("__fmaf_rn").iter().all(|line| *line == "acc += a_s[ty, k] * b_s[k, tx];"));
        let source = if case.stages == 1 { "? a[" } else { "tk_at<4>(a + " };
        assert!(
            of(source).iter().all(|line| *line == "load a_s[i, k] = a[by * TM + i, p * TK + k];")
        );
    }
}

/// The text for tensors whose offsets take so many bits.
fn of_width(index_width: IndexWidth) -> String {
    let case = matmul();
    let checked = case.checked();
    let binding = Binding {
        types: vec![case.dtype],
        index_width,
        dim_divisors: vec![1; n_dims(&checked)],
        layouts: Vec::new(),
    };
    let program = lower(&checked, &binding, &case.config(&checked), &device());
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    emit_cuda(&program, None).expect("it can be written").text
}

/// Offsets into large tensors take 64 bits; places in tiles, counters of short loops and
/// coordinates of items do not, and nothing does where 32 are enough.
#[test]
fn only_large_offsets_are_wide() {
    let wide = of_width(IndexWidth::Bits64);
    assert!(!of_width(IndexWidth::Bits32).contains("long long"));
    assert!(wide.contains("const long long K"), "{wide}");
    assert!(wide.contains("const long long by = "), "{wide}");
    for narrow in ["for (int k = 0;", "const int ty = ", "const int thread = "] {
        assert!(wide.contains(narrow), "{narrow}\n{wide}");
    }
    let of_tiles: Vec<&str> =
        wide.lines().filter(|line| line.contains("a_s[") && !line.contains("? a[")).collect();
    assert!(of_tiles.iter().all(|line| !line.contains("(long long)")), "{of_tiles:#?}");
}

/// The two loops around the multiply-add of a product whose threads have 4 x 4 items.
fn nest(by_columns: bool) -> Vec<String> {
    let case = Case { axes: vec![16, 8], threads: 128, ..matmul() };
    let checked = case.checked();
    let config = Config { by_columns, ..case.config(&checked) };
    let binding = Binding {
        types: vec![case.dtype],
        index_width: IndexWidth::Bits32,
        dim_divisors: vec![1; n_dims(&checked)],
        layouts: Vec::new(),
    };
    let program = lower(&checked, &binding, &config, &device());
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let text = emit_cuda(&program, None).expect("it can be written").text;
    let (before, _) = text.split_once("__fmaf_rn").expect("products are summed up");
    let counters = before.lines().rev().filter_map(|line| line.trim().strip_prefix("for (int "));
    let counters = counters.filter_map(|counter| counter.split(' ').next());
    let mut loops: Vec<String> = counters.take(2).map(str::to_owned).collect();
    loops.reverse();
    loops
}

#[test]
fn a_thread_goes_along_rows_or_down_columns() {
    assert_eq!(nest(false), ["ty_step", "tk_tx_step"], "every other row is walked backwards");
    assert_eq!(nest(true), ["tx_step", "ty_step"]);
}
