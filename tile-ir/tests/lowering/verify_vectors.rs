//! Vector accesses in the verifier: a valid one is broken in one place.

use expect_test::{Expect, expect};
use tile_ir::op::CompareOp;
use tile_ir::program::{
    Access, DomainId, ExprKind, ItemLayout, Literal, Program, Stmt, StmtKind, Target, TileId, Ty,
    verify_program,
};

use crate::support::{Case, id, matmul, unhoisted};

/// A matmul whose threads take four items in a row, and whose reads of `b_s`
/// and writes of `c` are vectors.
fn with_vectors() -> Program {
    let case = Case { run: 4, axes: vec![16, 8], threads: 128, divisor: 64, ..unhoisted() };
    let mut program = case.program();
    let kernel = &mut program.kernels[0];
    for (_, expr) in kernel.exprs.iter_mut() {
        if let ExprKind::Load(Access { target, width, .. }) = &mut expr.kind
            && *target == Target::Tile(id::<TileId>(1))
        {
            *width = 4;
        }
    }
    let last = kernel.body.last_mut().expect("the matmul stores");
    last_access(last).width = 4;
    program
}

fn last_access(stmt: &mut Stmt) -> &mut Access {
    match &mut stmt.kind {
        StmtKind::Items { body, .. } => body[0].kind.written_accesses_mut().expect("it is a store"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(break_it: impl FnOnce(&mut Program, DomainId), expect: Expect) {
    let mut program = with_vectors();
    assert_eq!(verify_program(&program), Ok(()));
    let block = program.kernels[0].block_domain;
    break_it(&mut program, block);
    let faults = verify_program(&program).expect_err("the program was broken");
    let text: Vec<String> = faults.iter().map(|fault| fault.to_string()).collect();
    expect.assert_eq(&text.join("\n"));
}

fn layout(program: &mut Program, domain: DomainId) -> &mut ItemLayout {
    &mut program.kernels[0].domains[domain].layout
}

#[test]
fn registers() {
    // Rows in place of columns: the lowest digit runs along `ty`.
    check(
        |program, block| layout(program, block).registers.swap(0, 1),
        expect![[r#"
        program `matmul`, line 29, `acc = fma(a_s[ty, k], b_s.x4[k, tx], acc);`: an access of width 4 is not consecutive in memory
        program `matmul`, line 35, `c.x4[by * 64 + ty, bx * 32 + tx] = acc;`: an access of width 4 is not consecutive in memory: `by * 64 + ty`"#]],
    );
    // Registers that are not neighbours.
    check(
        |program, block| {
            let layout = layout(program, block);
            layout.registers[0].stride = 8;
            layout.threads[0].stride = 1;
        },
        expect![[r#"
            program `matmul`, line 29, `acc = fma(a_s[ty, k], b_s.x4[k, tx], acc);`: an access of width 4 runs along registers of `tx`, 4 by 8
            program `matmul`, line 35, `c.x4[by * 64 + ty, bx * 32 + tx] = acc;`: an access of width 4 runs along registers of `tx`, 4 by 8"#]],
    );
}

#[test]
fn memory() {
    // A row of another length than a multiple of the vector.
    check(
        |program, _| {
            let tile = &mut program.kernels[0].tiles[id(1)];
            tile.layout.strides = vec![33, 1];
            tile.layout.size_elems = 33 * 16;
        },
        expect![
            "program `matmul`, line 29, `acc = fma(a_s[ty, k], b_s.x4[k, tx], acc);`: an access of width 4 may not be aligned: `k` by 33 elements"
        ],
    );
    // Stored by columns.
    check(
        |program, _| program.kernels[0].tiles[id(1)].layout.strides = vec![1, 16],
        expect![
            "program `matmul`, line 29, `acc = fma(a_s[ty, k], b_s.x4[k, tx], acc);`: an access of width 4 is not consecutive in memory: `tx`"
        ],
    );
}

#[test]
fn places() {
    // Under a condition on which the items of a group do not agree: `tx < 5`.
    check(
        |program, _| {
            let kernel = &mut program.kernels[0];
            let mut push = |kind, ty| kernel.exprs.push(tile_ir::program::Expr { kind, ty });
            let tx = ExprKind::Coord { domain: kernel.block_domain, axis: 1 };
            let lhs = push(tx, Ty::INDEX32);
            let rhs = push(ExprKind::Literal(Literal::Int(5)), Ty::INDEX32);
            let cond = push(ExprKind::Compare { op: CompareOp::Lt, lhs, rhs }, Ty::BOOL);
            let last = kernel.body.last_mut().expect("the matmul stores");
            match &mut last.kind {
                StmtKind::Items { body, .. } => {
                    let store = body[0].clone();
                    let then = vec![store.clone()];
                    body[0] =
                        Stmt { kind: StmtKind::If { cond, then, otherwise: Vec::new() }, ..store };
                }
                other => panic!("{other:?}"),
            }
        },
        expect![
            "program `matmul`, line 36, `c.x4[by * 64 + ty, bx * 32 + tx] = acc;`: an access of width 4 stands where an item alone may come"
        ],
    );
}

/// One instruction reads and writes: as many elements on both sides.
#[test]
fn both_sides_of_an_asynchronous_copy_are_alike() {
    fn narrow(stmts: &mut [Stmt]) -> bool {
        stmts.iter_mut().any(|stmt| match &mut stmt.kind {
            StmtKind::Copy { dst, token: Some(_), .. } if dst.width == 4 => {
                dst.width = 1;
                true
            }
            kind => kind.bodies_mut().into_iter().any(|body| narrow(body)),
        })
    }
    let case = Case { run: 4, copy_bytes: 16, divisor: 32, axes: vec![16, 8], ..matmul() };
    let mut program = Case { threads: 128, stages: 2, ..case }.program();
    assert_eq!(verify_program(&program), Ok(()));
    assert!(narrow(&mut program.kernels[0].body), "there is such a copy");
    let faults = verify_program(&program).expect_err("the program was broken");
    let text = faults.iter().map(|fault| fault.to_string()).collect::<Vec<_>>().join("\n");
    assert!(text.contains("an asynchronous copy reads 4 elements and writes 1"), "{text}");
}
