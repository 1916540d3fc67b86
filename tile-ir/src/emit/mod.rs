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
//!
//! | file | what it writes |
//! | --- | --- |
//! | `kernel` | the signature, tiles, the grid's coordinates, register arrays |
//! | `stmt` | statements and counted loops |
//! | `items` | loops over items: registers, coordinates |
//! | `vector` | items whose accesses are vectors: groups of registers together |
//! | `access` | elements of memory, their comparisons |
//! | `expr` | expressions |

mod access;
mod expr;
mod items;
mod kernel;
mod math;
mod names;
mod prelude;
mod stmt;
mod types;
mod vector;

use std::collections::BTreeSet;

use crate::program::{DomainId, Names, Program, ProgramKernel, VarId, assigned_vars};

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
    /// Warps with roles of their own.
    #[error("kernel `{kernel}` gives its warps {roles} roles; all warps run the same text")]
    Roles {
        /// The kernel.
        kernel: String,
        /// Number of roles.
        roles: usize,
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
        let (name, threads, roles) = (kernel.name.clone(), kernel.threads, kernel.roles.len());
        if threads > MAX_THREADS {
            return Err(EmitError::TooManyThreads { kernel: name, threads });
        }
        if roles > 1 {
            return Err(EmitError::Roles { kernel: name, roles: roles - 1 });
        }
        let writer = Writer::new(program, kernel, file);
        entries.push(writer.names.kernel.clone());
        kernels.push_str(&writer.write());
    }
    let prelude = prelude::used_by(&kernels);
    let between = if prelude.is_empty() { "" } else { "\n" };
    let text = format!("{prelude}{between}{kernels}");
    Ok(CudaSource { text, entries })
}

/// The text of one kernel under construction.
struct Writer<'a> {
    program: &'a Program,
    kernel: &'a ProgramKernel,
    file: Option<&'a str>,
    names: Names,
    /// Whether what is known of arguments is of use.
    says_facts: bool,
    /// Variables that are assigned after their declaration.
    assigned: BTreeSet<VarId>,
    out: String,
    depth: usize,
    /// The line of the user's file that the next line of the text stands for.
    line: u32,
    /// The domain of the present item, where inside an `Items`.
    present: Option<DomainId>,
    /// The registers that are written together, where inside such an `Items`.
    group: Option<vector::Group>,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program, kernel: &'a ProgramKernel, file: Option<&'a str>) -> Self {
        let assigned = assigned_vars(&kernel.body);
        Self {
            program,
            kernel,
            file,
            names: Names::of(kernel, &names::identifier),
            says_facts: kernel::has_long_walks(kernel),
            assigned,
            out: String::new(),
            depth: 0,
            line: 0,
            present: None,
            group: None,
        }
    }

    fn write(mut self) -> String {
        self.signature();
        self.depth = 1;
        self.declare_facts();
        self.declare_tiles();
        self.unflatten_grid();
        self.declare_thread();
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
        self.line += 1;
    }

    /// Writes a line that opens a block.
    fn open(&mut self, head: &str) {
        self.put(head);
        self.depth += 1;
    }

    /// Closes the block opened last.
    fn close(&mut self) {
        self.depth -= 1;
        self.put("}");
    }
}
