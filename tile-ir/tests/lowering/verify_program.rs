//! The program's verifier: a valid program is broken in one place, and the
//! verifier names the place and the rule.

use expect_test::{Expect, expect};
use tile_ir::dtype::DType;
use tile_ir::op::{BinaryOp, MathFn};
use tile_ir::program::{
    Access, AxisGuard, BufferSource, BufferSpace, Expr, ExprId, ExprKind, ItemLayout, Literal,
    LoopRange, Participants, Program, ProgramKernel, Raster, Role, Scope, SharedMemory, Stmt,
    StmtKind, Swizzle, Target, TileId, TileLayout, TokenId, Ty, Unroll, Workspace, verify_launch,
    verify_program,
};

use crate::support::{device, id, transpose, unhoisted};

/// Breaks the matmul's program and compares what is found.
#[track_caller]
fn check(break_it: impl FnOnce(&mut ProgramKernel), expect: Expect) {
    check_plan(|program| break_it(&mut program.kernels[0]), expect);
}

#[track_caller]
fn check_plan(break_it: impl FnOnce(&mut Program), expect: Expect) {
    let mut program = unhoisted().program();
    assert_eq!(verify_program(&program), Ok(()));
    break_it(&mut program);
    let faults = verify_program(&program).expect_err("the program was broken");
    let text: Vec<String> = faults.iter().map(|fault| fault.to_string()).collect();
    expect.assert_eq(&text.join("\n"));
}

/// The first statement, outer before inner, that `pick` picks.
fn find<'s>(stmts: &'s mut [Stmt], pick: &dyn Fn(&StmtKind) -> bool) -> Option<&'s mut Stmt> {
    for stmt in stmts {
        if pick(&stmt.kind) {
            return Some(stmt);
        }
        for body in stmt.kind.bodies_mut() {
            // The borrow of a statement that is not returned must end first.
            if find(body, pick).is_some() {
                return find(body, pick);
            }
        }
    }
    None
}

fn stmt(kernel: &mut ProgramKernel, pick: impl Fn(&StmtKind) -> bool) -> &mut Stmt {
    find(&mut kernel.body, &pick).expect("the matmul has such a statement")
}

fn is_barrier(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Barrier(_))
}

fn is_store(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Store { .. })
}

fn is_loop(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::For { .. })
}

fn is_items(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Items { .. })
}

fn is_set(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::SetFragment { .. })
}

fn first_expr(kernel: &ProgramKernel, pick: impl Fn(&ExprKind) -> bool) -> ExprId {
    let mut exprs = kernel.exprs.iter();
    exprs.find(|(_, expr)| pick(&expr.kind)).expect("the matmul has such an expression").0
}

fn load_of(kernel: &mut ProgramKernel, pick: impl Fn(&Access) -> bool) -> &mut Access {
    let expr = first_expr(kernel, |kind| matches!(kind, ExprKind::Load(access) if pick(access)));
    match &mut kernel.exprs[expr].kind {
        ExprKind::Load(access) => access,
        other => panic!("{other:?} is no load"),
    }
}

/// Adds an expression that loads as another does, but for a change.
fn push_load(
    kernel: &mut ProgramKernel,
    pick: impl Fn(&Access) -> bool,
    change: impl FnOnce(&mut Access),
) {
    let mut access = load_of(kernel, pick).clone();
    change(&mut access);
    kernel.exprs.push(Expr { kind: ExprKind::Load(access), ty: Ty::Scalar(DType::F32) });
}

fn is_of_tile(access: &Access) -> bool {
    matches!(access.target, Target::Tile(_))
}

fn int(kernel: &mut ProgramKernel, value: i128) -> ExprId {
    kernel.exprs.push(Expr { kind: ExprKind::Literal(Literal::Int(value)), ty: Ty::INDEX32 })
}

fn coord(kernel: &mut ProgramKernel) -> ExprId {
    let kind = ExprKind::Coord { domain: kernel.block_domain, axis: 0 };
    kernel.exprs.push(Expr { kind, ty: Ty::INDEX32 })
}

#[test]
fn ids() {
    check(
        |kernel| stmt(kernel, is_barrier).role = id(7),
        expect![
            "program `matmul`, line 26, `#[role = r7] barrier;`: there is no role r7; there are 1"
        ],
    );
    check(
        |kernel| match &mut stmt(kernel, is_set).kind {
            StmtKind::SetFragment { fragment, .. } => *fragment = id(9),
            other => panic!("{other:?}"),
        },
        expect!["program `matmul`, line 17, `f9 = 0.0;`: there is no fragment f9; there are 1"],
    );
    check(
        |kernel| {
            let sum = first_expr(kernel, |kind| matches!(kind, ExprKind::Binary { .. }));
            match &mut kernel.exprs[sum].kind {
                ExprKind::Binary { lhs, .. } => *lhs = sum,
                other => panic!("{other:?}"),
            }
        },
        expect![
            "program `matmul`, expression e23 (`e23`): operand e23 does not come before its user"
        ],
    );
    check(
        |kernel| load_of(kernel, is_of_tile).target = Target::Tile(id(5)),
        expect!["program `matmul`, expression e55 (`s5[ty, k]`): there is no tile s5; there are 2"],
    );
    check(
        |kernel| {
            load_of(kernel, is_of_tile).indices.pop();
        },
        expect![[r#"
            program `matmul`, expression e55 (`a_s[ty]`): 1 indices for an array of 2 axes
            program `matmul`, expression e55 (`a_s[ty]`): 2 guards stand for 1 indices"#]],
    );
    check(
        |kernel| {
            let kind = ExprKind::Coord { domain: kernel.block_domain, axis: 2 };
            kernel.exprs.push(Expr { kind, ty: Ty::INDEX32 });
        },
        expect!["program `matmul`, expression e72 (`d0.2`): domain d0 has no axis 2"],
    );
    check(
        |kernel| kernel.buffers[id(0)].source = BufferSource::Workspace(id(0)),
        expect!["program `matmul`, buffer `a`: there is no workspace w0; there are 0"],
    );
}

#[test]
fn the_launch() {
    check(
        |kernel| kernel.name = "mat mul".to_owned(),
        expect!["program `mat mul`, launch: `mat mul` is no identifier"],
    );
    check(
        |kernel| kernel.buffers[id(0)].extents[0] = coord(kernel),
        expect![
            "program `matmul`, buffer `a`: `ty`, an extent or stride, cannot be computed by the host"
        ],
    );
    check(
        |kernel| {
            kernel.buffers[id(0)].strides.pop();
        },
        expect!["program `matmul`, buffer `a`: 1 strides for 2 axes"],
    );
    check(
        |kernel| kernel.grid[1].var = kernel.grid[0].var,
        expect![[r#"
        program `matmul`, axis 1 of the grid: its coordinate `by` is another axis's too
        program `matmul`, line 24, `b_s[k, j] = b[p * 16 + k < K, bx * 32 + j < N else 0.0];`: `bx` is read where it is not declared
        program `matmul`, line 35, `c[by * 64 + ty < M, bx * 32 + tx < N else 0.0] = acc;`: `bx` is read where it is not declared"#]],
    );
    check(
        |kernel| kernel.grid.truncate(1),
        expect![[r#"
        program `matmul`, launch: bands need a grid of two axes
        program `matmul`, line 24, `b_s[k, j] = b[p * 16 + k < K, bx * 32 + j < N else 0.0];`: `bx` is read where it is not declared
        program `matmul`, line 35, `c[by * 64 + ty < M, bx * 32 + tx < N else 0.0] = acc;`: `bx` is read where it is not declared"#]],
    );
    check(
        |kernel| kernel.raster = Raster::Grouped { rows: 0 },
        expect!["program `matmul`, launch: a band of the grid has no row"],
    );
    check(
        |kernel| kernel.args[id(0)].ty = Ty::Scalar(DType::I32),
        expect![[r#"
        program `matmul`, argument `M`: a dimension is i32 and no index
        program `matmul`, buffer `a`: `M`, an extent or stride, cannot be computed by the host
        program `matmul`, buffer `c`: `M`, an extent or stride, cannot be computed by the host
        program `matmul`, axis 0 of the grid: `tiles(M, 64)`, an extent or stride, cannot be computed by the host
        program `matmul`, expression e0 (`M`): it is of type index32 and should be i32
        program `matmul`, expression e6 (`M`): it is of type index32 and should be i32
        program `matmul`, expression e9 (`M`): it is of type index32 and should be i32"#]],
    );
    check(
        |kernel| kernel.vars[kernel.grid[0].var].scope = Scope::Warp,
        expect![[r#"
        program `matmul`, axis 0 of the grid: its coordinate is not the block's
        program `matmul`, variable `by`: a variable is of the block or of an item"#]],
    );
    check_plan(
        |program| {
            let workspace =
                Workspace { name: "partial".to_owned(), dtype: DType::F64, size_elems: 0 };
            let workspace = program.workspaces.push(workspace);
            program.kernels[0].buffers[id(0)].source = BufferSource::Workspace(workspace);
        },
        expect![[r#"
            program `matmul`, buffer `a`: it holds f32 in a workspace of f64
            program `matmul`, workspace `partial`: it has no element"#]],
    );
}

#[test]
fn roles() {
    let role = |first_warp, n_warps| Role { name: "loader".to_owned(), first_warp, n_warps };
    check(
        |kernel| kernel.roles[id(0)].n_warps = Some(1),
        expect!["program `matmul`, role `all`: role 0 stands for all warps"],
    );
    check(
        |kernel| {
            kernel.roles.push(role(6, Some(4)));
        },
        expect!["program `matmul`, role `loader`: warps 6..10 of a block of 8"],
    );
    check(
        |kernel| {
            kernel.roles.push(role(0, Some(2)));
            kernel.roles.push(role(1, None));
        },
        expect!["program `matmul`, role `loader`: warps 1..8 have another role too"],
    );
    check(
        |kernel| {
            let loader = kernel.roles.push(role(0, Some(2)));
            stmt(kernel, is_barrier).kind = StmtKind::Barrier(Participants::Role(loader));
        },
        expect![
            "program `matmul`, line 27, `barrier loader;`: a barrier's participants are not those that run it"
        ],
    );
}

#[test]
fn item_layouts() {
    fn layout(kernel: &mut ProgramKernel) -> &mut ItemLayout {
        let block = kernel.block_domain;
        &mut kernel.domains[block].layout
    }
    // An item is forgotten.
    check(
        |kernel| layout(kernel).registers[0].size -= 1,
        expect![
            "program `matmul`, domain d0: its layout gives `tx = 16` to no (thread, register) pair"
        ],
    );
    // Items run twice.
    check(
        |kernel| layout(kernel).registers[0].stride = 8,
        expect![
            "program `matmul`, domain d0: its layout gives `tx = 8` to 2 (thread, register) pairs"
        ],
    );
    check(
        |kernel| layout(kernel).threads[0].stride = 0,
        expect![
            "program `matmul`, domain d0: its layout gives `tx = 0` to 3 (thread, register) pairs"
        ],
    );
    check(
        |kernel| layout(kernel).threads[0].axis = 2,
        expect![[r#"
        program `matmul`, domain d0: its layout has a digit of axis 2
        program `matmul`, domain d0: its layout gives `tx = 1` to no (thread, register) pair"#]],
    );
    check(
        |kernel| kernel.threads = 128,
        expect![[r#"
        program `matmul`, domain d0: its layout takes 256 threads of a block of 128
        program `matmul`, domain d1: its layout takes 256 threads of a block of 128
        program `matmul`, domain d2: its layout takes 256 threads of a block of 128"#]],
    );
    check(
        |kernel| layout(kernel).threads[0].size = 1 << 30,
        expect!["program `matmul`, domain d0: its layout has more than 2^32 threads or registers"],
    );
}

#[test]
fn tile_layouts() {
    fn layout(kernel: &mut ProgramKernel) -> &mut TileLayout {
        &mut kernel.tiles[id(0)].layout
    }
    check(
        |kernel| layout(kernel).strides = vec![15, 1],
        expect!["program `matmul`, tile `a_s`: element [1, 0] is at 15, where another is"],
    );
    check(
        |kernel| layout(kernel).size_elems -= 17,
        expect![
            "program `matmul`, tile `a_s`: element [62, 15] is at 1007 of a buffer of 1007 elements"
        ],
    );
    check(
        |kernel| layout(kernel).strides = vec![1],
        expect!["program `matmul`, tile `a_s`: its layout has 1 strides for 2 axes"],
    );
    check(
        |kernel| layout(kernel).swizzle = Some(Swizzle { bits: 3, shift: 0, source: 2 }),
        expect![
            "program `matmul`, tile `a_s`: its swizzle reads bits that it changes, or that no offset has"
        ],
    );
    // Rows of 16 in 64 rows: the changed bits stay inside.
    check(
        |kernel| {
            *layout(kernel) = TileLayout::row_major(&[64, 16]);
            layout(kernel).swizzle = Some(Swizzle { bits: 2, shift: 2, source: 4 });
            layout(kernel).size_elems -= 1;
        },
        expect![
            "program `matmul`, tile `a_s`: element [63, 3] is at 1023 of a buffer of 1023 elements"
        ],
    );
    check(
        |kernel| kernel.tiles[id(0)].buffers = 2,
        expect![[r#"
        program `matmul`, expression e55 (`a_s[ty, k]`): it chooses none of 2 buffers
        program `matmul`, line 21, `a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0];`: it chooses none of 2 buffers"#]],
    );
    // Too large to try each element.
    check(
        |kernel| {
            let tile = &mut kernel.tiles[id(0)];
            tile.extents = vec![1 << 10, 1 << 10];
            tile.layout = TileLayout::row_major(&tile.extents);
            tile.layout.strides[0] -= 1;
        },
        expect![
            "program `matmul`, tile `a_s`: a stride of 1023 meets elements up to 1023 of smaller strides"
        ],
    );
}

#[test]
fn shared_memory() {
    fn dynamic(kernel: &mut ProgramKernel, offset_bytes: u32, bytes: u32) {
        kernel.tiles[id(1)].offset_bytes = offset_bytes;
        kernel.shared_memory = SharedMemory::Dynamic { bytes };
    }
    let mut program = unhoisted().program();
    let [a_s, b_s] = [0, 1].map(|tile| {
        let tile: &tile_ir::program::Tile = &program.kernels[0].tiles[id::<TileId>(tile)];
        u32::try_from(tile.size_bytes()).expect("a tile is small")
    });
    dynamic(&mut program.kernels[0], a_s, a_s + b_s);
    assert_eq!(verify_program(&program), Ok(()));
    check(
        |kernel| dynamic(kernel, a_s - 16, a_s + b_s - 16),
        expect![
            "program `matmul`, tile `b_s`: it takes bytes 4080..6128, where `a_s` takes 0..4096 at the same time"
        ],
    );
    check(
        |kernel| dynamic(kernel, a_s, a_s + b_s - 16),
        expect![[r#"
        program `matmul`, tile `b_s`: it takes bytes 4096..6144 of 6128
        program `matmul`, launch: 6128 bytes of shared memory are stated; the tiles take 6144"#]],
    );
    check(
        |kernel| dynamic(kernel, a_s + 4, a_s + b_s + 16),
        expect!["program `matmul`, tile `b_s`: it begins at byte 4100, not a multiple of 16"],
    );
    check(
        |kernel| dynamic(kernel, a_s, a_s + b_s + 64),
        expect![
            "program `matmul`, launch: 6208 bytes of shared memory are stated; the tiles take 6144"
        ],
    );
}

#[test]
fn what_a_device_has() {
    let mut program = transpose().program();
    assert_eq!(verify_launch(&program, &device()), Ok(()));
    program.kernels[0].threads = 2048;
    program.kernels[0].tiles[id(0)].layout.size_elems = 1 << 14;
    let faults = verify_launch(&program, &device()).expect_err("the program was broken");
    let text: Vec<String> = faults.iter().map(|fault| fault.to_string()).collect();
    expect![[r#"
        program `transpose`, launch: 2048 threads per block; `NVIDIA A100-SXM4-40GB` runs 1024
        program `transpose`, launch: 65536 bytes of static shared memory; `NVIDIA A100-SXM4-40GB` has 49152"#]].assert_eq(&text.join("\n"));
}

#[test]
fn types() {
    fn push(kernel: &mut ProgramKernel, kind: ExprKind, ty: Ty) {
        kernel.exprs.push(Expr { kind, ty });
    }
    const F32: Ty = Ty::Scalar(DType::F32);
    check(
        |kernel| push(kernel, ExprKind::Literal(Literal::Float(0.1)), F32),
        expect!["program `matmul`, expression e72 (`0.1`): it cannot be of type f32"],
    );
    check(
        |kernel| push(kernel, ExprKind::Literal(Literal::Int(300)), Ty::Scalar(DType::U8)),
        expect!["program `matmul`, expression e72 (`300`): it cannot be of type u8"],
    );
    check(
        |kernel| {
            let [lhs, rhs] = [1, 2].map(|value| int(kernel, value));
            push(kernel, ExprKind::Binary { op: BinaryOp::Add, lhs, rhs }, Ty::INDEX64);
        },
        expect![[r#"
            program `matmul`, expression e74 (`1 + 2`): `1`, an operand, is index32 and not index64
            program `matmul`, expression e74 (`1 + 2`): `2`, an operand, is index32 and not index64"#]],
    );
    check(
        |kernel| {
            let [a, b, c] = [1, 2, 3].map(|value| int(kernel, value));
            push(kernel, ExprKind::Fma { a, b, c }, Ty::INDEX32);
        },
        expect!["program `matmul`, expression e75 (`fma(1, 2, 3)`): index32 has no `fma`"],
    );
    check(
        |kernel| {
            let arg = int(kernel, 4);
            push(kernel, ExprKind::Math { func: MathFn::Sqrt, arg }, Ty::INDEX32);
        },
        expect!["program `matmul`, expression e73 (`sqrt(4)`): index32 has no `sqrt`"],
    );
    check(
        |kernel| {
            let operand = int(kernel, 1);
            push(kernel, ExprKind::Cast(operand), Ty::BOOL);
        },
        expect![
            "program `matmul`, expression e73 (`1 as bool`): there is no conversion from index32 to bool"
        ],
    );
    check(
        |kernel| {
            let [n, d] = [8, 0].map(|value| int(kernel, value));
            push(kernel, ExprKind::CeilDiv { n, d }, Ty::INDEX32);
        },
        expect!["program `matmul`, expression e74 (`tiles(8, 0)`): the divisor 0 is not positive"],
    );
    check(
        |kernel| kernel.fragments[id(0)].ty = Ty::Scalar(DType::F64),
        expect![[r#"
        program `matmul`, expression e52 (`acc`): it is of type f32 and should be f64
        program `matmul`, expression e60 (`acc`): it is of type f32 and should be f64
        program `matmul`, line 17, `acc = 0.0;`: `0.0`, what the fragment is set to, is f32 and not f64
        program `matmul`, line 29, `acc = fma(a_s[ty, k], b_s[k, tx], acc);`: `fma(a_s[ty, k], b_s[k, tx], acc)`, what the fragment is set to, is f32 and not f64"#]],
    );
}

#[test]
fn accesses() {
    let is_buffer = |access: &Access| matches!(access.target, Target::Buffer(_));
    check(
        |kernel| load_of(kernel, is_buffer).pad = None,
        expect![
            "program `matmul`, expression e32 (`a[by * 64 + i < M, p * 16 + k < K]`): a read with comparisons has no pad"
        ],
    );
    check(
        |kernel| load_of(kernel, is_buffer).guards.fill(AxisGuard::NONE),
        expect![
            "program `matmul`, expression e32 (`a[by * 64 + i, p * 16 + k else 0.0]`): `0.0`, the pad of a read without comparisons, is never read"
        ],
    );
    check(
        |kernel| {
            let pad = Some(int(kernel, 0));
            push_load(kernel, is_buffer, |access| access.pad = pad);
        },
        expect![
            "program `matmul`, expression e73 (`a[by * 64 + i < M, p * 16 + k < K else 0]`): `0`, the pad, is index32 and not f32"
        ],
    );
    check(
        |kernel| {
            let slot = Some(int(kernel, 0));
            push_load(kernel, is_of_tile, |access| access.slot = slot);
        },
        expect![
            "program `matmul`, expression e73 (`a_s@(0)[ty, k]`): it chooses among buffers where there is one"
        ],
    );
    check(
        |kernel| {
            let outside = int(kernel, 64);
            push_load(kernel, is_of_tile, |access| access.indices[0] = outside);
        },
        expect![
            "program `matmul`, expression e73 (`a_s[64, k]`): its index 64 along axis 0 is not below 64"
        ],
    );
    check(
        |kernel| load_of(kernel, is_of_tile).width = 3,
        expect![[r#"
            program `matmul`, expression e55 (`a_s.x3[ty, k]`): no memory instruction moves 3 elements of f32
            program `matmul`, line 29, `acc = fma(a_s.x3[ty, k], b_s[k, tx], acc);`: an access of width 3 runs along registers of `tx`, 2 by 16"#]],
    );
    check(
        |kernel| load_of(kernel, is_of_tile).width = 8,
        expect![[r#"
            program `matmul`, expression e55 (`a_s.x8[ty, k]`): no memory instruction moves 8 elements of f32
            program `matmul`, line 29, `acc = fma(a_s.x8[ty, k], b_s[k, tx], acc);`: an access of width 8 runs along registers of `tx`, 2 by 16"#]],
    );
    check(
        |kernel| kernel.buffers[id(2)].written = false,
        expect![
            "program `matmul`, line 35, `c[by * 64 + ty < M, bx * 32 + tx < N else 0.0] = acc;`: `c` is written and is marked as never written"
        ],
    );
}

#[test]
fn scopes() {
    check(
        |kernel| stmt(kernel, is_barrier).scope = Scope::Warp,
        expect![
            "program `matmul`, line 26, `#[warp] barrier;`: a statement outside items is not at block scope"
        ],
    );
    check(
        |kernel| stmt(kernel, is_store).scope = Scope::Block,
        expect![
            "program `matmul`, line 21, `#[block] a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0];`: a statement of an item is not at thread scope"
        ],
    );
    // A barrier that only the threads of an item meet.
    check(
        |kernel| {
            let barrier = stmt(kernel, is_barrier).clone();
            match &mut stmt(kernel, is_items).kind {
                StmtKind::Items { body, .. } => {
                    body.push(Stmt { scope: Scope::Thread, ..barrier });
                }
                other => panic!("{other:?}"),
            }
        },
        expect![
            "program `matmul`, line 18, `barrier;`: a barrier stands inside items, which not every thread runs"
        ],
    );
    // A barrier in a loop whose end is the item's own.
    check(
        |kernel| {
            let own = coord(kernel);
            match &mut stmt(kernel, is_loop).kind {
                StmtKind::For { range: LoopRange::Between { end, .. }, .. } => *end = own,
                other => panic!("{other:?}"),
            }
        },
        expect![
            "program `matmul`, line 19, `#[no_unroll] for p in 0..ty {`: `ty`, of one item, is read outside items: threads may differ"
        ],
    );
    // A condition that reads what threads write.
    check(
        |kernel| {
            let zero = int(kernel, 0);
            let mut access = load_of(kernel, is_of_tile).clone();
            access.indices.fill(zero);
            let load = ExprKind::Load(access);
            let load = kernel.exprs.push(Expr { kind: load, ty: Ty::Scalar(DType::F32) });
            let cond = ExprKind::Compare { op: tile_ir::op::CompareOp::Lt, lhs: load, rhs: load };
            let cond = kernel.exprs.push(Expr { kind: cond, ty: Ty::BOOL });
            let barrier = stmt(kernel, is_barrier);
            let inside = vec![barrier.clone()];
            barrier.kind = StmtKind::If { cond, then: inside, otherwise: Vec::new() };
        },
        expect![
            "program `matmul`, line 26, `if a_s[0, 0] < a_s[0, 0] {`: `a_s[0, 0]`, in memory that the kernel writes, is read outside items: threads may differ"
        ],
    );
    check(
        |kernel| {
            let store = stmt(kernel, is_store).clone();
            kernel.body.push(Stmt { scope: Scope::Block, ..store });
        },
        expect![[r#"
            program `matmul`, line 37, `a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0];`: `i`, of one item, is read outside items: threads may differ
            program `matmul`, line 37, `a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0];`: `k`, of one item, is read outside items: threads may differ
            program `matmul`, line 37, `a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0];`: memory is written outside items, by every thread
            program `matmul`, line 37, `a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0];`: `p` is read where it is not declared"#]],
    );
    check(
        |kernel| {
            let barrier = stmt(kernel, is_barrier).clone();
            kernel.body.push(Stmt {
                kind: StmtKind::Wait { token: id::<TokenId>(0), pending: 0 },
                ..barrier
            });
        },
        expect!["program `matmul`, line 37, `wait k0;`: nothing is in flight under token k0"],
    );
}

#[test]
fn loops() {
    check(
        |kernel| match &mut stmt(kernel, is_loop).kind {
            StmtKind::For { unroll, .. } => *unroll = Unroll::Full,
            other => panic!("{other:?}"),
        },
        expect![
            "program `matmul`, line 19, `#[unroll] for p in 0..tiles(K, 16) {`: a loop without constant bounds is unrolled"
        ],
    );
    check(
        |kernel| match &mut stmt(kernel, is_loop).kind {
            StmtKind::For { unroll, .. } => *unroll = Unroll::By(0),
            other => panic!("{other:?}"),
        },
        expect![
            "program `matmul`, line 19, `#[unroll = 0] for p in 0..tiles(K, 16) {`: a body is repeated 0 times"
        ],
    );
}

#[test]
fn values_before_their_use() {
    // The accumulator's first value goes.
    check(
        |kernel| {
            kernel.body.remove(0);
        },
        expect![[r#"
            program `matmul`, line 26, `acc = fma(a_s[ty, k], b_s[k, tx], acc);`: the fragment `acc` is read and may not have been set
            program `matmul`, line 32, `c[by * 64 + ty < M, bx * 32 + tx < N else 0.0] = acc;`: the fragment `acc` is read and may not have been set"#]],
    );
    // It is set in a loop that may run no iteration.
    check(
        |kernel| {
            let init = kernel.body.remove(0);
            match &mut stmt(kernel, is_loop).kind {
                StmtKind::For { body, .. } => body.insert(0, init),
                other => panic!("{other:?}"),
            }
        },
        expect![
            "program `matmul`, line 35, `c[by * 64 + ty < M, bx * 32 + tx < N else 0.0] = acc;`: the fragment `acc` is read and may not have been set"
        ],
    );
    // A variable is declared where it has ended.
    check(
        |kernel| {
            let moved = match &mut stmt(kernel, is_loop).kind {
                StmtKind::For { body, .. } => body.remove(0),
                other => panic!("{other:?}"),
            };
            kernel.body.push(moved);
        },
        expect![
            "program `matmul`, line 35, `a_s[i, k] = a[by * 64 + i < M, p * 16 + k < K else 0.0];`: `p` is read where it is not declared"
        ],
    );
    check(
        |kernel| {
            let value = int(kernel, 0);
            let counter = match &stmt(kernel, is_loop).kind {
                StmtKind::For { var, .. } => *var,
                other => panic!("{other:?}"),
            };
            let barrier = stmt(kernel, is_barrier);
            barrier.kind = StmtKind::Assign { var: counter, value };
        },
        expect!["program `matmul`, line 26, `p = 0;`: the counter `p` is assigned"],
    );
    check(
        |kernel| {
            let value = int(kernel, 0);
            let counter = match &stmt(kernel, is_loop).kind {
                StmtKind::For { var, .. } => *var,
                other => panic!("{other:?}"),
            };
            let barrier = stmt(kernel, is_barrier);
            barrier.kind = StmtKind::Let { var: counter, value: Some(value) };
        },
        expect!["program `matmul`, line 26, `let p: index32 = 0;`: `p` is declared here already"],
    );
}

#[test]
fn constant_memory() {
    let first = |kernel: &mut ProgramKernel, elems| {
        let one = int(kernel, 1);
        let a = &mut kernel.buffers[id(0)];
        a.space = BufferSpace::Constant { elems };
        a.extents = vec![one, one];
    };
    check(
        |kernel| first(kernel, 2),
        expect![
            "program `matmul`, buffer `a`: 2 elements in constant memory are not those of its extents"
        ],
    );
    check(
        |kernel| {
            first(kernel, 1);
            kernel.buffers[id(0)].written = true;
        },
        expect!["program `matmul`, buffer `a`: it is written in constant memory"],
    );
    check(
        |kernel| {
            first(kernel, 1);
            let (many, one) = (int(kernel, 1025), int(kernel, 1));
            let b = &mut kernel.buffers[id(1)];
            b.space = BufferSpace::Constant { elems: 1025 };
            b.extents = vec![many, one];
        },
        expect!["program `matmul`, launch: 4104 bytes of constants are no parameters of a launch"],
    );
}
