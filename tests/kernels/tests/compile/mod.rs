//! CUDA C++ through NVRTC to machine code, on each processor one text.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tile_runtime::nvrtc::{self, CompileOptions, Image};

/// A text to compile.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Case {
    pub(crate) architecture: String,
    /// What it is, for messages.
    pub(crate) name: String,
    pub(crate) source: String,
}

/// Compiles all of them, or says aloud that it was told not to.
#[track_caller]
pub(crate) fn compile_all(cases: &[Case]) {
    if std::env::var_os("TILE_TEST_WITHOUT_NVRTC").is_some() {
        eprintln!("SKIPPED: TILE_TEST_WITHOUT_NVRTC is set; nothing was compiled");
        return;
    }
    if let Err(error) = nvrtc::find() {
        panic!("{error}\n(`cargo xtask test` fetches it)");
    }
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = compile(case) {
                        failures.lock().expect("no worker panics").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no worker panics");
    println!("{} texts compiled, {} refused", cases.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn compile(case: &Case) -> Result<(), String> {
    let options = CompileOptions { fast: true, extra: Vec::new() };
    let cubin = nvrtc::compile(&case.source, &case.architecture, &options)
        .map_err(|error| format!("{} for {}: {error}", case.name, case.architecture))?;
    match cubin.image {
        Image::Cubin(bytes) if bytes.starts_with(b"\x7fELF") => Ok(()),
        Image::Cubin(_) => Err(format!("{}: the CUBIN is no ELF file", case.name)),
        Image::Ptx(_) => Err(format!("{}: PTX where a CUBIN was asked for", case.name)),
    }
}
