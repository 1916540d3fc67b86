//! Runs the examples on the CPU and reads what they print.
//!
//! `cargo test` has built them by the time this runs; a run of this target alone
//! (`--test run`) needs `cargo build --examples` before it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What an example did.
struct Run {
    succeeded: bool,
    output: String,
    errors: String,
}

fn run(example: &str, arguments: &[&str]) -> Run {
    let program = examples_folder().join(example);
    assert!(program.exists(), "{} is not built: run `cargo build --examples`", program.display());
    // No device: the examples must run where there is none.
    let mut command = Command::new(&program);
    let output =
        command.args(arguments).env("CUDA_VISIBLE_DEVICES", "").env("TILE_CACHE_DIR", "").output();
    let output = output.expect("the example can be started");
    Run {
        succeeded: output.status.success(),
        output: String::from_utf8(output.stdout).expect("the output is text"),
        errors: String::from_utf8(output.stderr).expect("the errors are text"),
    }
}

/// `target/<profile>/examples`, next to this test in `target/<profile>/deps`.
fn examples_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the test is a file");
    let profile = test.ancestors().nth(2).expect("the test lies in target/<profile>/deps");
    profile.join("examples")
}

#[track_caller]
fn succeeds(example: &str, arguments: &[&str], expected: &str) -> String {
    let run = run(example, arguments);
    assert!(run.succeeded, "{example} {arguments:?} failed:\n{}{}", run.output, run.errors);
    assert!(run.output.contains(expected), "no `{expected}` in:\n{}", run.output);
    run.output
}

#[track_caller]
fn fails(example: &str, arguments: &[&str], expected: &str) {
    let run = run(example, arguments);
    assert!(!run.succeeded, "{example} {arguments:?} should fail:\n{}", run.output);
    assert!(run.errors.contains(expected), "no `{expected}` in:\n{}", run.errors);
    assert!(!run.errors.contains("panicked"), "{}", run.errors);
}

/// A `.npy` file as NumPy writes it, format version 1.0.
fn write_npy(path: &Path, descr: &str, fortran: bool, shape: &str, data: &[u8]) {
    let fortran = if fortran { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).expect("the header is short").to_le_bytes();
    let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat();
    std::fs::write(path, bytes).expect("the folder can be written");
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn add_and_transpose() {
    succeeds("add", &[], "1000003 sums, all of them right");
    succeeds("transpose", &[], "[1000, 1031] transposed");
}

#[test]
fn convolution() {
    succeeds("convolution", &[], "[600, 801] blurred, all elements right");
}

#[test]
fn show_prints_cuda_for_a_device_that_is_not_there() {
    let text = succeeds("show", &["RTX 4090", "1000", "1000", "64"], "sm_89");
    assert!(text.contains("__global__"), "{text}");
    fails("show", &["GTX 280"], "`GTX 280` is not known; these are: ");
    fails("show", &["H200", "many"], "`many` is not an extent");
}

#[test]
fn tune_prints_what_it_measured_and_what_not() {
    let arguments = ["add", "4096", "--budget", "0.3", "--device", "cpu", "--pruned"];
    let text = succeeds("tune", &arguments, "add<f32> [4096] on CPU");
    for part in
        ["of best", "(default)", "not measured: ", "as fast as the default", "the model expects"]
    {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    fails(
        "tune",
        &["add", "4x4", "--device", "cpu"],
        "`add` has 1 dimensions (N), 2 values are given",
    );
    fails("tune", &["add", "four", "--device", "cpu"], "`four` is not an extent");
}

#[test]
fn devices_says_what_is_missing() {
    succeeds("devices", &[], "CPU");
}

#[test]
fn matmul_of_random_matrices() {
    let shape = ["--m", "65", "--n", "33", "--k", "100", "--device", "cpu"];
    let text = succeeds("matmul", &shape, "[65, 100] · [100, 33]");
    for word in ["device ", "tile ", "time ", "GFLOP/s", "error ", "65 of 65 rows checked"] {
        assert!(text.contains(word), "no `{word}` in:\n{text}");
    }
    succeeds("matmul", &["--m", "0", "--device", "cpu"], "0 of 0 rows checked");
}

#[test]
fn matmul_of_files() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (a, b, c) = (path("a.npy"), path("b.npy"), path("c.npy"));
    write_npy(a.as_ref(), "<f4", false, "(2, 3)", &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    // The same three rows, stored by columns.
    write_npy(b.as_ref(), "<f4", true, "(3, 2)", &floats(&[1.0, 0.0, 2.0, 0.0, 1.0, -1.0]));
    let arguments = ["--a", &a, "--b", &b, "--out", &c, "--device", "cpu"];
    succeeds("matmul", &arguments, "[2, 3] · [3, 2]");
    let written = std::fs::read(&c).expect("the product was written");
    let product = floats(&[7.0, -1.0, 16.0, -1.0]);
    assert!(written.ends_with(&product), "{written:?}");
}

#[test]
fn matmul_says_what_is_wrong_with_its_files() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (a, b, doubles, flat, cut, text) = (
        path("a.npy"),
        path("b.npy"),
        path("doubles.npy"),
        path("flat.npy"),
        path("cut.npy"),
        path("text.npy"),
    );
    write_npy(a.as_ref(), "<f4", false, "(2, 3)", &floats(&[0.0; 6]));
    write_npy(b.as_ref(), "<f4", false, "(5, 2)", &floats(&[0.0; 10]));
    write_npy(doubles.as_ref(), "<f8", false, "(1, 1)", &[0; 8]);
    write_npy(flat.as_ref(), "<f4", false, "(6,)", &floats(&[0.0; 6]));
    write_npy(cut.as_ref(), "<f4", false, "(2, 3)", &floats(&[0.0; 5]));
    std::fs::write(&text, "no matrix").expect("the folder can be written");

    let with = |a: &str, expected: &str| fails("matmul", &["--a", a, "--device", "cpu"], expected);
    with(&doubles, "doubles.npy holds '<f8'; f32 is needed");
    with(&flat, "flat.npy has 1 axes; a matrix has 2");
    with(&cut, "cannot read");
    with(&text, "text.npy is not a .npy file");
    with(&path("none.npy"), "cannot open");
    fails(
        "matmul",
        &["--a", &a, "--b", &b, "--device", "cpu"],
        "a is [2, 3] and b is [5, 2]: a's columns must be b's rows",
    );
    fails("matmul", &["--a", &a, "--m", "7", "--device", "cpu"], "--m, --n or --k says otherwise");
    fails("matmul", &["--device", "tpu"], "`tpu` is no device: it is best, cpu, cuda or cuda:1");
    fails("matmul", &["--device", "cuda:x"], "`x` is not a device's number");
}
