//! The programs of three kernels after each pass, and their CUDA C++, against
//! the files in `expect/`; `UPDATE_EXPECT=1` writes them anew.

use expect_test::{ExpectFile, expect_file};
use tile_ir::dtype::DType;
use tile_ir::emit::emit_cuda;
use tile_ir::program::print_program;

use crate::support::{Case, add, filtered, matmul, transpose};

/// All passes in one text; where a pass changes nothing, its name alone.
fn check_passes(case: &Case, expect: ExpectFile) {
    let mut text = String::new();
    let mut before = String::new();
    for (pass, program) in case.programs() {
        let now = print_program(&program);
        let shown = if now == before { "nothing changed\n" } else { now.as_str() };
        text.push_str(&format!("// after {pass}\n{shown}\n"));
        before = now;
    }
    expect.assert_eq(text.trim_end());
}

fn check_cuda(case: &Case, expect: ExpectFile) {
    let source = emit_cuda(&case.program(), None).expect("256 threads run everywhere");
    expect.assert_eq(&source.text);
}

#[test]
fn passes_of_matmul() {
    check_passes(&matmul(), expect_file!["expect/matmul.passes"]);
}

/// Vectors, two buffers, one operand fetched through registers and the other
/// copied asynchronously.
#[test]
fn passes_of_a_pipelined_matmul() {
    let wide = Case { run: 4, copy_bytes: 16, divisor: 32, ..matmul() };
    let case = Case { axes: vec![16, 8], threads: 128, stages: 2, ..wide };
    let case = Case { fragment_buffers: 2, split_edges: true, ..case };
    check_passes(&case, expect_file!["expect/matmul_pipelined.passes"]);
    check_cuda(&case, expect_file!["expect/matmul_pipelined.cu"]);
}

#[test]
fn passes_of_transpose() {
    check_passes(&transpose(), expect_file!["expect/transpose.passes"]);
}

/// Rows that begin anywhere, written from their first aligned element on; where
/// they are known to begin at one, nothing is done.
#[test]
fn an_aligned_transpose() {
    let as_it_comes = Case {
        tiles: vec![("TR", 64), ("TC", 32)],
        copy_bytes: 16,
        split_edges: true,
        ..transpose()
    };
    let aligned = Case { align_bytes: 32, ..as_it_comes.clone() };
    check_passes(&aligned, expect_file!["expect/transpose_aligned.passes"]);
    check_cuda(&aligned, expect_file!["expect/transpose_aligned.cu"]);
    let is_known = |case: Case| print_program(&Case { divisor: 8, ..case }.program());
    assert_eq!(is_known(aligned), is_known(as_it_comes));
}

/// Rows that begin anywhere, read in vectors and written in whole sectors; where
/// they are known to begin at one, nothing is done.
#[test]
fn a_transpose_in_whole_vectors() {
    let as_it_comes = Case {
        dtype: DType::F16,
        tiles: vec![("TR", 64), ("TC", 64)],
        copy_bytes: 16,
        split_edges: true,
        ..transpose()
    };
    let whole = Case { align_bytes: 32, whole_vectors: true, ..as_it_comes.clone() };
    check_passes(&whole, expect_file!["expect/transpose_whole.passes"]);
    check_cuda(&whole, expect_file!["expect/transpose_whole.cu"]);
    let is_known = |case: Case| print_program(&Case { divisor: 16, ..case }.program());
    assert_eq!(is_known(whole), is_known(as_it_comes));
}

#[test]
fn passes_of_add() {
    check_passes(&add(), expect_file!["expect/add.passes"]);
}

#[test]
fn cuda_of_matmul() {
    check_cuda(&matmul(), expect_file!["expect/matmul.cu"]);
    check_cuda(&Case { divisor: 128, ..matmul() }, expect_file!["expect/matmul_whole_tiles.cu"]);
}

#[test]
fn cuda_of_transpose() {
    check_cuda(&transpose(), expect_file!["expect/transpose.cu"]);
}

#[test]
fn cuda_of_add() {
    check_cuda(&add(), expect_file!["expect/add.cu"]);
}

/// A constant with a place in the launch's parameters, and one without.
#[test]
fn cuda_of_constants() {
    check_cuda(&filtered(), expect_file!["expect/filtered.cu"]);
    let wide = Case { run: 4, copy_bytes: 16, divisor: 128, stages: 2, ..filtered() };
    check_cuda(
        &Case { axes: vec![32], threads: 32, ..wide },
        expect_file!["expect/filtered_wide.cu"],
    );
}

#[test]
fn the_text_is_the_same_each_time() {
    for case in [matmul(), transpose(), add()] {
        let [first, second] = [case.program(), case.program()];
        assert_eq!(print_program(&first), print_program(&second));
        let [first, second] = [first, second].map(|program| emit_cuda(&program, Some("a.rs")));
        assert_eq!(first, second);
    }
}
