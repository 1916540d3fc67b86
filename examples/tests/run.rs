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
fn gallery() {
    succeeds("gallery", &[], "sizes: rows, columns");
    let arguments = ["convolution_2d", "600", "801", "--device", "cpu"];
    succeeds("gallery", &arguments, "convolution_2d [600, 801]");
    succeeds("gallery", &["tiled_matmul", "0", "5", "0", "--device", "cpu"], "all right");
    let tiled = ["matrix_add_tiled", "1000", "2000", "--device", "cpu"];
    let buys_nothing = "each element of the tile `a_s` is read once: it saves no traffic";
    succeeds("gallery", &tiled, buys_nothing);
    let plain = ["matrix_add", "1000", "2000", "--device", "cpu"];
    succeeds("gallery", &plain, "nothing to be changed");
    fails("gallery", &["convolution"], "there is no `convolution`; without a name");
    fails("gallery", &["saxpy", "1", "2"], "`saxpy` takes elements");
    fails(
        "gallery",
        &["saxpy", "99999999999999"],
        "there is no memory for arrays of 99999999999999",
    );
    let all = usize::MAX.to_string();
    fails("gallery", &["tiled_matmul", &all, "2", "2"], "make more than can be addressed");
    fails("gallery", &["saxpy", "-1"], "unexpected argument");
    fails("gallery", &["saxpy", "many"], "invalid value 'many'");
}

#[test]
fn picture() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (drawn, from_drawn, from_shipped) = (path("a.png"), path("b.png"), path("c.png"));
    succeeds("picture", &["--draw", &drawn], "");
    succeeds("picture", &["--in", &drawn, "--out", &from_drawn], "320 by 240 pixels");
    succeeds("picture", &["--out", &from_shipped], "grey, radius 3");
    let [one, other] = [&from_drawn, &from_shipped].map(|path| std::fs::read(path).unwrap());
    assert!(one == other, "the picture that is shipped is not the one that is drawn");
}

/// One pixel or two in each of the kinds of PNG, and what they are in grey.
#[test]
fn picture_of_every_kind() {
    use png::{BitDepth, ColorType};
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (from, to) = (path("from.png"), path("to.png"));
    let kinds: [(ColorType, BitDepth, &[u8], [u8; 2]); 6] = [
        (ColorType::Grayscale, BitDepth::One, &[0b0100_0000], [0, 255]),
        (ColorType::Grayscale, BitDepth::Sixteen, &[7, 1, 200, 2], [7, 200]),
        (ColorType::GrayscaleAlpha, BitDepth::Eight, &[9, 255, 9, 0], [9, 255]),
        (ColorType::Indexed, BitDepth::Four, &[0x10], [100, 21]),
        (ColorType::Rgb, BitDepth::Eight, &[0, 100, 0, 0, 0, 100], [72, 7]),
        (ColorType::Rgba, BitDepth::Eight, &[10, 10, 10, 255, 0, 0, 0, 51], [10, 204]),
    ];
    for (color, depth, data, grey) in kinds {
        let file = std::fs::File::create(&from).expect("the folder can be written");
        let mut encoder = png::Encoder::new(file, 2, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.set_palette([100, 0, 0, 100, 100, 100].as_slice());
        let mut writer = encoder.write_header().expect("the header is right");
        writer.write_image_data(data).expect("there are two pixels");
        writer.finish().expect("the folder can be written");
        succeeds("picture", &["--in", &from, "--out", &to, "--radius", "0"], "2 by 1 pixels");
        let file = std::fs::File::open(&to).expect("the file is there");
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
        let mut found = [0; 2];
        reader.next_frame(&mut found).unwrap();
        assert_eq!(found, grey, "{color:?} {depth:?}");
    }
}

#[test]
fn picture_says_what_is_wrong_with_its_files() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (text, whole, cut, out) = (path("text"), path("whole"), path("cut"), path("no/out.png"));
    std::fs::write(&text, "no picture").expect("the folder can be written");
    succeeds("picture", &["--draw", &whole], "");
    let bytes = std::fs::read(&whole).expect("it was written");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).expect("the folder can be written");
    fails("picture", &["--in", &text], "text as a PNG: ");
    fails("picture", &["--in", &cut], "cut as a PNG: ");
    fails("picture", &["--in", &path("none")], "cannot open");
    fails("picture", &["--out", &out], "cannot write");
    fails("picture", &["--radius", "256"], "256 is not in 0..=255");
}

#[test]
fn show_prints_cuda_for_a_device_that_is_not_there() {
    let text = succeeds("show", &["RTX 4090", "1000", "1000", "64"], "sm_89");
    assert!(text.contains("__global__"), "{text}");
    fails("show", &["GTX 280"], "`GTX 280` is not known; these are: ");
    fails("show", &["H200", "many"], "`many` is not an extent");
}

#[test]
fn explain_needs_no_device() {
    let matmul = ["tiled_matmul", "--device", "A100", "--shape", "1024"];
    let tiles = ["--tile", "TM=16", "--tile", "TN=16", "--tile", "TK=16"];
    let text = succeeds("explain", &[&matmul[..], &tiles].concat(), "4 FLOP/B");
    assert!(text.contains("0.25 FLOP/B, 16"), "{text}");
    let add = ["matrix_add_tiled", "--device", "RTX 4090", "--shape", "1000", "2000"];
    succeeds("explain", &add, "is read once: it saves no traffic");
    let json = succeeds("explain", &[&add[..], &["--json"]].concat(), "\"tile_without_reuse\"");
    assert!(json.starts_with('{'), "{json}");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("roofline.svg");
    let name = file.to_str().expect("the path is text");
    succeeds("explain", &[&matmul[..], &["--svg", name]].concat(), "compute-bound");
    let picture = std::fs::read_to_string(&file).expect("it is written");
    assert!(picture.starts_with("<svg") && picture.contains("DRAM"), "{picture}");
    fails("explain", &["no_kernel"], "there is no `no_kernel`");
    fails("explain", &["tiled_matmul", "--device", "GTX 280"], "is not known");
    succeeds("explain", &[], "textbook 200 GFLOPS");
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
fn checked_tells_of_a_note_and_of_a_race() {
    let text = succeeds("checked", &[], "note: `+` of `i32` wraps: work-item (ty = 0)");
    assert!(text.contains("error: race on the tile `s`: two work-items"), "{text}");
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
    let (a, b, doubles, flat, cut, vast, text) = (
        path("a.npy"),
        path("b.npy"),
        path("doubles.npy"),
        path("flat.npy"),
        path("cut.npy"),
        path("vast.npy"),
        path("text.npy"),
    );
    write_npy(a.as_ref(), "<f4", false, "(2, 3)", &floats(&[0.0; 6]));
    write_npy(b.as_ref(), "<f4", false, "(5, 2)", &floats(&[0.0; 10]));
    write_npy(doubles.as_ref(), "<f8", false, "(1, 1)", &[0; 8]);
    write_npy(flat.as_ref(), "<f4", false, "(6,)", &floats(&[0.0; 6]));
    write_npy(cut.as_ref(), "<f4", false, "(20, 30)", &floats(&[0.0; 5]));
    let said = format!("({}, 3)", usize::MAX / 2);
    write_npy(vast.as_ref(), "<f4", false, &said, &floats(&[0.0; 5]));
    std::fs::write(&text, "no matrix").expect("the folder can be written");

    let with = |a: &str, expected: &str| fails("matmul", &["--a", a, "--device", "cpu"], expected);
    with(&doubles, "doubles.npy holds '<f8'; f32 is needed");
    with(&flat, "flat.npy has 1 axes; a matrix has 2");
    with(&cut, "cut.npy has 148 bytes, too few for [20, 30] of f32");
    with(&vast, "vast.npy");
    with(&text, "text.npy is not a .npy file");
    with(&path("none.npy"), "cannot open");
    fails(
        "matmul",
        &["--a", &a, "--b", &b, "--device", "cpu"],
        "a is [2, 3] and b is [5, 2]: a's columns must be b's rows",
    );
    fails("matmul", &["--a", &a, "--m", "7", "--device", "cpu"], "--m, --n or --k says otherwise");
    let vast = "99999999999999";
    fails("matmul", &["--m", vast, "--device", "cpu"], "there is no memory for a matrix of");
    fails("matmul", &["--k", &usize::MAX.to_string(), "--device", "cpu"], "there is no memory");
    fails("matmul", &["--device", "tpu"], "`tpu` is no device: it is best, cpu, cuda or cuda:1");
    fails("matmul", &["--device", "cuda:x"], "`cuda:x` is no device");
}
