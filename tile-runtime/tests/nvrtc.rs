//! Compiles with NVRTC, with no GPU. Needs NVRTC, unless the variable that the
//! workspace's test command sets says that there is none.
#![cfg(feature = "cuda")]
#![expect(clippy::print_stderr, reason = "what is skipped is said aloud")]

use tile_runtime::nvrtc::{CompileOptions, Cubin, Image, compile, find};
use tile_runtime::{EnvironmentError, Error, Result};

const KERNEL: &str = "extern \"C\" __global__ void twice(float *x, int n) {\n\
    __shared__ float s[32];\n\
    int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
    s[threadIdx.x] = i < n ? x[i] : 0.0f;\n\
    __syncthreads();\n\
    if (i < n) x[i] = s[threadIdx.x] + s[31 - threadIdx.x];\n\
}\n";

/// Whether the tests may pass over NVRTC; says so.
fn skipped() -> bool {
    let skipped = std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some();
    if skipped {
        eprintln!("SKIPPED: TILE_TEST_WITHOUT_NVRTC is set");
    }
    skipped
}

fn compile_fast(source: &str, architecture: &str) -> Result<Cubin> {
    let options = CompileOptions { fast: true, ..CompileOptions::default() };
    compile(source, architecture, &options)
}

#[test]
fn cubins_with_their_resources() {
    if skipped() {
        return;
    }
    for architecture in ["sm_75", "sm_80", "sm_90", "sm_120"] {
        let compiled = compile_fast(KERNEL, architecture).unwrap();
        let Image::Cubin(bytes) = &compiled.image else { panic!("{:?}", compiled.image) };
        assert_eq!(bytes[..4], *b"\x7fELF");
        let [twice] = &compiled.report.kernels[..] else { panic!("{}", compiled.log) };
        assert_eq!(twice.name, "twice");
        assert!((1..=64).contains(&twice.registers), "{twice:?}");
        assert_eq!((twice.shared_bytes, twice.spill_store_bytes), (128, 0), "{}", compiled.log);
    }
}

#[test]
fn ptx_for_virtual_architectures() {
    if skipped() {
        return;
    }
    let compiled = compile_fast(KERNEL, "compute_90").unwrap();
    let Image::Ptx(text) = &compiled.image else { panic!("{:?}", compiled.image) };
    assert!(text.contains(".target sm_90") && text.contains(".entry twice"), "{text}");
    assert!(!text.contains('\0'));
}

#[test]
fn products_are_not_fused_with_sums() {
    if skipped() {
        return;
    }
    let source = "extern \"C\" __global__ void f(float *x) { x[0] = x[1] * x[2] + x[3]; }";
    let compiled = compile_fast(source, "compute_90").unwrap();
    let Image::Ptx(text) = &compiled.image else { panic!("{:?}", compiled.image) };
    assert!(text.contains("mul.rn.f32") && text.contains("add.rn.f32"), "{text}");
    assert!(!text.contains("fma"), "{text}");
}

#[test]
fn text_that_is_refused_is_shown() {
    if skipped() {
        return;
    }
    let source =
        "#line 17 \"src/kernels.rs\"\nextern \"C\" __global__ void f() {\n  missing = 1;\n}";
    let error = compile_fast(source, "sm_90").unwrap_err();
    let Error::Internal(internal) = &error else { panic!("{error}") };
    assert_eq!(internal.what, "NVRTC refuses generated CUDA C++");
    let text = error.to_string();
    for part in [
        "NVRTC_ERROR_COMPILATION",
        "--gpu-architecture=sm_90",
        "--fmad=false",
        "src/kernels.rs(18): error: identifier \"missing\" is undefined",
        "    3 |   missing = 1;",
        "please report it",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let path = text.split_once("the source is in ").unwrap().1.lines().next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), source);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn architectures_that_it_does_not_know() {
    if skipped() {
        return;
    }
    let error = compile_fast(KERNEL, "sm_20").unwrap_err();
    let Error::Environment(cause) = &error else { panic!("{error}") };
    assert!(matches!(**cause, EnvironmentError::Architecture { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("does not compile for sm_20; it knows "), "{text}");
    assert!(text.contains("pip install nvidia-cuda-nvrtc-cu12"), "{text}");
    let text = compile_fast(KERNEL, "sm_999").unwrap_err().to_string();
    assert!(text.contains("help: use a newer NVRTC"), "{text}");
}

#[test]
fn what_was_found() {
    if skipped() {
        return;
    }
    let nvrtc = find().unwrap();
    assert!(nvrtc.version() >= (11, 2), "{nvrtc:?}");
    assert!(nvrtc.architectures().contains(&"sm_90".to_owned()));
    assert!(!nvrtc.source().is_empty());
}
