//! Program → CUDA C++: text for NVRTC, headerless, readable, deterministic.
//!
//! One kernel of the plan becomes one `extern "C"` function. Its buffers come
//! first, then its arguments, in the order of their tables. The grid is
//! launched linearly and unflattened here. An `Items` becomes one loop per
//! register digit of its domain's layout, unrolled; a fragment becomes a
//! register array, indexed by constants once the loops are unrolled.
//!
//! The language's integers wrap, its division is total and its conversions
//! saturate; where C++ does not say so, functions of the prelude do. The prelude
//! consists of real `.cuh` files, of which only what a kernel uses is written.

mod expr;
mod names;
mod prelude;
mod stmt;
mod types;

use crate::program::{Names, Program, ProgramKernel};

/// CUDA C++ text and the entry points in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaSource {
    /// The text.
    pub text: String,
    /// The `extern "C"` name of each kernel of the plan, in order.
    pub entries: Vec<String>,
}

/// Why a program cannot be written as CUDA C++.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// A threads-per-block count that no device runs.
    #[error("kernel `{kernel}` has {threads} threads per block; CUDA allows 1024")]
    TooManyThreads {
        /// The kernel.
        kernel: String,
        /// Its threads per block.
        threads: u32,
    },
}

/// Most threads per block that CUDA allows.
const MAX_THREADS: u32 = 1024;

/// Writes a program as CUDA C++. `file` is the user's source file for `#line`;
/// without one no `#line` is written.
///
/// # Errors
///
/// Where the program says what CUDA C++ cannot.
pub fn emit_cuda(program: &Program, file: Option<&str>) -> Result<CudaSource, EmitError> {
    let mut kernels = String::new();
    let mut entries = Vec::new();
    for kernel in &program.kernels {
        if kernel.threads > MAX_THREADS {
            return Err(EmitError::TooManyThreads {
                kernel: kernel.name.clone(),
                threads: kernel.threads,
            });
        }
        let writer = Writer::new(program, kernel, file);
        entries.push(writer.names.kernel.clone());
        kernels.push_str(&writer.write());
    }
    let text = format!("{}{kernels}", prelude::used_by(&kernels));
    Ok(CudaSource { text, entries })
}

/// The text of one kernel under construction.
struct Writer<'a> {
    program: &'a Program,
    kernel: &'a ProgramKernel,
    file: Option<&'a str>,
    names: Names,
    out: String,
    depth: usize,
    line: u32,
    /// Register number of the present item, where inside an `Items`.
    register: Option<String>,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program, kernel: &'a ProgramKernel, file: Option<&'a str>) -> Self {
        Self {
            program,
            kernel,
            file,
            names: Names::of(kernel, &names::identifier),
            out: String::new(),
            depth: 0,
            line: 0,
            register: None,
        }
    }

    fn write(mut self) -> String {
        self.signature();
        self.depth = 1;
        self.declare_tiles();
        self.unflatten_grid();
        self.declare_fragments();
        let kernel = self.kernel;
        self.stmts(&kernel.body);
        self.depth = 0;
        self.put("}");
        self.out
    }

    /// Writes one line at the present depth.
    fn put(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }
}
