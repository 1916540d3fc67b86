//! The textual form of a program: its tables, then its statements, one a line.
//!
//! Expressions are in Rust's syntax. What a kernel's text does not have:
//!
//! | text | meaning |
//! | --- | --- |
//! | `items (ty, tx) in d0 { … }` | the body for each item of domain `d0` |
//! | `a[i < M, 0 <= j < N else 0.0]` | an access with its comparisons and its pad |
//! | `a.x4[i, j]` | one of four accesses that are one vector access |
//! | `a_s@(p % 2)[i, k]` | an element of one of the tile's buffers |
//! | `tx 16 by 4` | a digit of a layout: axis, size, stride where it is not 1 |
//! | `any 16` | a digit that tells threads apart which have the same items |
//! | `#[unroll]` | the loop's body is repeated in the text |
//!
//! A program that breaks structural rules is printed too: an id of nothing is
//! printed as the id.

mod expr;
mod stmt;
mod table;

use super::names::Names;
use super::{Program, ProgramKernel};

/// Writes a program: each kernel's tables and statements.
pub fn print_program(program: &Program) -> String {
    list_program(program).text
}

/// A program's text, and where its statements stand in it.
pub(super) struct Listing {
    pub(super) text: String,
    /// The statements of each kernel in order of their text, outer before inner.
    pub(super) stmts: Vec<Vec<Line>>,
}

/// A line of a listing.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// 1-based.
    pub(super) number: usize,
    pub(super) text: String,
}

pub(super) fn list_program(program: &Program) -> Listing {
    let mut listing = Listing { text: String::new(), stmts: Vec::new() };
    for (id, workspace) in program.workspaces.iter() {
        listing.text.push_str(&format!(
            "workspace {id} {}: [{}; {}]\n",
            workspace.name, workspace.dtype, workspace.size_elems
        ));
    }
    for kernel in &program.kernels {
        let mut printer = Printer {
            kernel,
            names: Names::of(kernel, &str::to_owned),
            lines_before: listing.text.matches('\n').count(),
            out: String::new(),
            stmts: Vec::new(),
        };
        printer.write_kernel();
        listing.text.push_str(&printer.out);
        listing.stmts.push(printer.stmts);
    }
    listing
}

struct Printer<'a> {
    kernel: &'a ProgramKernel,
    names: Names,
    lines_before: usize,
    out: String,
    stmts: Vec<Line>,
}

impl<'a> Printer<'a> {
    /// For single expressions.
    fn of(kernel: &'a ProgramKernel) -> Self {
        let names = Names::of(kernel, &str::to_owned);
        Self { kernel, names, lines_before: 0, out: String::new(), stmts: Vec::new() }
    }

    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn write_kernel(&mut self) {
        let kernel = self.kernel;
        let at_least = match kernel.min_blocks {
            0 => String::new(),
            blocks => format!(", {blocks} blocks an SM"),
        };
        let header = format!("program {} on {} threads{at_least} {{", kernel.name, kernel.threads);
        self.line(0, &header);
        self.write_tables();
        self.line(0, "");
        self.write_stmts(1, &kernel.body, true);
        self.line(0, "}");
    }
}

/// Writes an expression.
pub(super) fn print_expr(kernel: &ProgramKernel, id: super::ExprId) -> String {
    Printer::of(kernel).whole(id)
}
