//! Makes the accesses of a program vectors, as far as its verifier lets them:
//! what a pass does that knows the alignment of global memory.

use tile_runtime::ir::program::{
    Access, ExprId, ExprKind, Program, Stmt, StmtKind, Target, verify_program,
};

/// Widens each access of each kernel to the most elements, up to `bytes`, that
/// the verifier lets stand; how many were widened.
///
/// Accesses to global memory are taken to be aligned and whole vectors to be
/// inside or outside: so they are where the dimensions are multiples of 16 and
/// tiles are too.
pub fn widen_accesses(program: &mut Program, bytes: u32) -> usize {
    let mut n_widened = 0;
    for kernel in 0..program.kernels.len() {
        let loads: Vec<ExprId> = program.kernels[kernel].exprs.ids().collect();
        for id in loads {
            n_widened += usize::from(widen(program, kernel, bytes, &|program| match &mut program
                .kernels[kernel]
                .exprs[id]
                .kind
            {
                ExprKind::Load(access) => Some(access),
                _ => None,
            }));
        }
        let mut number = 0;
        while nth_written(&mut program.kernels[kernel].body, number).is_some() {
            n_widened += usize::from(widen(program, kernel, bytes, &|program| {
                nth_written(&mut program.kernels[kernel].body, number)
            }));
            number += 1;
        }
    }
    n_widened
}

/// Widens one access; whether it could be.
fn widen(
    program: &mut Program,
    kernel: usize,
    bytes: u32,
    access: &dyn Fn(&mut Program) -> Option<&mut Access>,
) -> bool {
    let Some(target) = access(program).map(|access| access.target) else { return false };
    let size_bytes = match target {
        Target::Buffer(id) => program.kernels[kernel].buffers[id].dtype.size_bytes(),
        Target::Tile(id) => program.kernels[kernel].tiles[id].dtype.size_bytes(),
    };
    let mut width = (bytes / size_bytes) as u8;
    while width > 1 {
        if let Some(access) = access(program) {
            access.width = width;
        }
        if verify_program(program).is_ok() {
            return true;
        }
        width /= 2;
    }
    if let Some(access) = access(program) {
        access.width = 1;
    }
    false
}

/// What the `number`-th store or copy of the statements writes.
fn nth_written(stmts: &mut [Stmt], number: usize) -> Option<&mut Access> {
    fn search<'s>(stmts: &'s mut [Stmt], left: &mut usize) -> Option<&'s mut Access> {
        for stmt in stmts {
            if matches!(stmt.kind, StmtKind::Store { .. } | StmtKind::Copy { .. }) {
                if *left == 0 {
                    return stmt.kind.written_accesses_mut();
                }
                *left -= 1;
                continue;
            }
            for body in stmt.kind.bodies_mut() {
                if let Some(access) = search(body, left) {
                    return Some(access);
                }
            }
        }
        None
    }
    let mut left = number;
    search(stmts, &mut left)
}
