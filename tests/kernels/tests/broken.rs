//! Programs that a broken pass would make: each rule of lowering is ignored by
//! hand, and the re-check or the result shows it.

use tile_kernels::random::{Inputs, random_inputs};
use tile_kernels::{
    chained_chunks, matmul, min_plus, quotients, reversed_pairs, sliding_sums, transpose,
};
use tile_runtime::Kernel;
use tile_runtime::inspect::{check_program, recheck_program, run_program};
use tile_runtime::ir::config::{AxisItems, Config, with_tiles};
use tile_runtime::ir::device::known;
use tile_runtime::ir::op::BinaryOp;
use tile_runtime::ir::program::{
    Access, Between, Expr, ExprId, ExprKind, Finding, Literal, Program, ProgramKernel,
    SharedMemory, Stmt, StmtKind, Target, TileId, Ty, verify_program,
};

/// More than any launch here takes.
const MAX_STEPS: u64 = 50_000_000;

/// A kernel at a small ragged shape.
struct Case {
    kernel: Kernel,
    config: Config,
    dims: Vec<usize>,
    inputs: Inputs,
}

impl Case {
    fn new(kernel: Kernel, tiles: &[(&str, u32)], dims: &[usize], stages: u32) -> Self {
        let device = known("A100").expect("the device is in the table");
        let extents: Vec<u64> = dims.iter().map(|&extent| extent as u64).collect();
        let config = with_tiles(kernel.checked(), kernel.types(), &device, &extents, tiles);
        let mut config = config.expect("the tile sizes are admissible");
        // Two threads at least along each axis, whatever the model prefers.
        for (axis, extent) in config.block.iter_mut().zip(tiles) {
            *axis = AxisItems::strided(extent.1.div_ceil(2));
        }
        let of_axes: u32 = config.block.iter().map(|axis| axis.threads).product();
        config.threads = config.threads.max(of_axes.next_multiple_of(32));
        let config = Config { stages, unroll_stages: false, async_bytes: 4, ..config };
        let inputs = random_inputs(&kernel, &config, dims, 5);
        Self { kernel, config, dims: dims.to_vec(), inputs }
    }

    fn program(&self) -> Program {
        let device = known("A100").expect("the device is in the table");
        let program = self.kernel.program(&self.config, &device, &self.dims);
        program.unwrap_or_else(|error| panic!("{error}"))
    }

    fn findings(&self, program: &Program) -> Vec<Finding> {
        let mut tensors = self.inputs.tensors.clone();
        let scalars = &self.inputs.scalars;
        let reports =
            check_program(&self.kernel, program, &self.dims, &mut tensors, scalars, MAX_STEPS);
        let reports = reports.unwrap_or_else(|error| panic!("{error}"));
        assert!(reports.iter().all(|report| report.is_complete));
        reports.into_iter().flat_map(|report| report.findings).collect()
    }

    /// What the CPU device makes of it.
    fn result(&self, program: &Program) -> Vec<Vec<u8>> {
        let mut tensors = self.inputs.tensors.clone();
        run_program(&self.kernel, program, &self.dims, &mut tensors, &self.inputs.scalars)
            .unwrap_or_else(|error| panic!("{error}"));
        tensors.iter().map(|tensor| tensor.bytes()).collect()
    }
}

/// The lists of a program's statements, outer before inner.
fn each_list(stmts: &mut Vec<Stmt>, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    f(stmts);
    for stmt in stmts {
        for body in stmt.kind.bodies_mut() {
            each_list(body, f);
        }
    }
}

/// The program without the n-th statement of a form; `None` where there is none.
fn without(program: &Program, nth: usize, is_wanted: fn(&StmtKind) -> bool) -> Option<Program> {
    let mut program = program.clone();
    let mut seen = 0;
    let mut is_found = false;
    each_list(&mut program.kernels[0].body, &mut |list| {
        let mut kept = Vec::new();
        for stmt in list.drain(..) {
            if is_wanted(&stmt.kind) {
                seen += 1;
                if seen == nth + 1 {
                    is_found = true;
                    continue;
                }
            }
            kept.push(stmt);
        }
        *list = kept;
    });
    is_found.then_some(program)
}

fn is_barrier(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Barrier(_))
}

fn is_wait(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Wait { .. })
}

fn is_race(finding: &Finding, wanted: Between) -> bool {
    matches!(finding, Finding::Race { between, .. } if *between == wanted)
}

/// Removes every barrier and every wait in turn; gives how many of each were
/// missed when they were gone, and how many there are. What a debug build does before
/// the first launch finds the same, though it stops early.
fn missed(case: &Case) -> [(usize, usize); 2] {
    let program = case.program();
    let recheck =
        |program: &Program| recheck_program(&case.kernel, &case.config, &case.dims, program);
    assert_eq!(case.findings(&program), [], "{:?}", case.kernel);
    recheck(&program).unwrap_or_else(|error| panic!("{error}"));
    let count = |is_wanted: fn(&StmtKind) -> bool, between| {
        let broken = (0..).map_while(|nth| without(&program, nth, is_wanted));
        let found = broken.map(|broken| {
            let findings = case.findings(&broken);
            let is_found = findings.iter().any(|finding| is_race(finding, between));
            assert_eq!(recheck(&broken).is_err(), is_found, "{:?}: {findings:#?}", case.kernel);
            is_found
        });
        let found: Vec<bool> = found.collect();
        (found.iter().filter(|found| **found).count(), found.len())
    };
    [count(is_barrier, Between::Threads), count(is_wait, Between::Copy)]
}

#[test]
fn every_barrier_that_is_needed_is_missed() {
    let tiles: &[(&str, u32)] = &[("TM", 8), ("TN", 8), ("TK", 4)];
    let product = |stages| Case::new(matmul::kernel::<f32>(), tiles, &[9, 10, 11], stages);
    // (found, there are) of barriers and of waits. After the loop of a pipelined
    // product nothing uses the tiles: the barrier there is not needed.
    assert_eq!(missed(&product(1)), [(2, 2), (0, 0)]);
    for stages in [2, 3, 4] {
        assert_eq!(missed(&product(stages)), [(1, 2), (1, 1)], "{stages} stages");
    }
    let registers = Case::new(min_plus::kernel::<f32>(), tiles, &[9, 10, 11], 1);
    assert_eq!(missed(&registers), [(2, 2), (0, 0)]);
    let plane = Case::new(transpose::kernel::<f32>(), &[("TR", 8), ("TC", 8)], &[9, 11], 1);
    assert_eq!(missed(&plane), [(1, 1), (0, 0)]);
    let window = Case::new(sliding_sums::kernel::<f32>(), &[("TR", 16)], &[20, 9], 2);
    let [(found, all), _] = missed(&window);
    assert!(found >= 2 && all == 3, "{found} of {all}");
    let chunks = Case::new(chained_chunks::kernel::<f32>(), &[("TC", 16)], &[2, 40], 2);
    assert_eq!(missed(&chunks), [(2, 2), (0, 0)]);
    let pairs = Case::new(reversed_pairs::kernel::<i32>(), &[("TC", 16)], &[2, 40], 1);
    assert_eq!(missed(&pairs), [(2, 2), (0, 0)]);
}

fn push(kernel: &mut ProgramKernel, kind: ExprKind, ty: Ty) -> ExprId {
    kernel.exprs.push(Expr { kind, ty })
}

/// Changes every access of a tile, in statements and expressions.
fn each_access(kernel: &mut ProgramKernel, tile: TileId, f: &dyn Fn(&mut Access)) {
    let is_of = |access: &Access| access.target == Target::Tile(tile);
    for (_, expr) in kernel.exprs.iter_mut() {
        if let ExprKind::Load(access) = &mut expr.kind
            && is_of(access)
        {
            f(access);
        }
    }
    let mut body = std::mem::take(&mut kernel.body);
    each_list(&mut body, &mut |list| {
        for stmt in list {
            if let Some(access) = stmt.kind.written_accesses_mut()
                && is_of(access)
            {
                f(access);
            }
        }
    });
    kernel.body = body;
}

#[test]
fn a_buffer_less_is_noticed() {
    for stages in [2, 3, 4] {
        let tiles: &[(&str, u32)] = &[("TM", 8), ("TN", 8), ("TK", 4)];
        let case = Case::new(matmul::kernel::<f32>(), tiles, &[9, 23, 10], stages);
        let mut program = case.program();
        let kernel = &mut program.kernels[0];
        let fewer = push(kernel, ExprKind::Literal(Literal::Int((stages - 1).into())), Ty::INDEX32);
        for tile in kernel.tiles.ids().collect::<Vec<TileId>>() {
            kernel.tiles[tile].buffers = stages - 1;
            // Each buffer in use is that of its number modulo one less.
            let slots: Vec<ExprId> = kernel.exprs.ids().collect();
            let mut folded = std::collections::BTreeMap::new();
            for slot in slots {
                if kernel.exprs[slot].ty == Ty::INDEX32 {
                    let kind = ExprKind::Binary { op: BinaryOp::Rem, lhs: slot, rhs: fewer };
                    folded.insert(slot, push(kernel, kind, Ty::INDEX32));
                }
            }
            each_access(kernel, tile, &|access| {
                access.slot = access.slot.map(|slot| folded[&slot]);
            });
        }
        let findings = case.findings(&program);
        assert!(findings.iter().any(|f| matches!(f, Finding::Race { .. })), "{stages} stages");
    }
}

#[test]
fn groups_in_flight_are_waited_for() {
    let tiles: &[(&str, u32)] = &[("TM", 8), ("TN", 8), ("TK", 4)];
    let case = Case::new(matmul::kernel::<f32>(), tiles, &[9, 23, 10], 3);
    let mut program = case.program();
    let mut n_waits = 0;
    each_list(&mut program.kernels[0].body, &mut |list| {
        for stmt in list {
            if let StmtKind::Wait { pending, .. } = &mut stmt.kind {
                *pending += 1;
                n_waits += 1;
            }
        }
    });
    assert_eq!(n_waits, 1);
    assert!(case.findings(&program).iter().any(|finding| is_race(finding, Between::Copy)));
}

/// The first loop of a body.
fn first_loop(body: &mut [Stmt]) -> &mut Stmt {
    body.iter_mut().find(|stmt| matches!(stmt.kind, StmtKind::For { .. })).expect("there is a loop")
}

#[test]
fn a_sliding_window_has_one_buffer() {
    let case = Case::new(sliding_sums::kernel::<f32>(), &[("TR", 16)], &[20, 9], 2);
    let sound = case.program();
    let tile = sound.kernels[0].tiles.ids().next().expect("there is a tile");
    assert_eq!(sound.kernels[0].tiles[tile].buffers, 1, "the window is carried");
    // As if each column's cells were written in that column.
    let mut program = sound.clone();
    let kernel = &mut program.kernels[0];
    let StmtKind::For { var, .. } = first_loop(&mut kernel.body).kind else { unreachable!() };
    let ty = kernel.vars[var].ty;
    let counter = push(kernel, ExprKind::Var(var), ty);
    let two = push(kernel, ExprKind::Literal(Literal::Int(2)), ty);
    let slot = push(kernel, ExprKind::Binary { op: BinaryOp::Rem, lhs: counter, rhs: two }, ty);
    let zero = push(kernel, ExprKind::Literal(Literal::Int(0)), ty);
    kernel.tiles[tile].buffers = 2;
    each_access(kernel, tile, &|access| access.slot = Some(slot));
    // What is written before the loop goes to the first buffer.
    for stmt in &mut kernel.body {
        if let StmtKind::Items { body, .. } = &mut stmt.kind {
            for stmt in body {
                if let Some(access) = stmt.kind.written_accesses_mut() {
                    access.slot = Some(zero);
                }
            }
        }
    }
    let findings = case.findings(&program);
    assert!(findings.iter().any(|f| matches!(f, Finding::Uninitialised { .. })), "{findings:#?}");
    assert_ne!(case.result(&program), case.result(&sound));
}

#[test]
fn a_load_stays_behind_the_writes_of_its_source() {
    let case = Case::new(chained_chunks::kernel::<f32>(), &[("TC", 16)], &[2, 40], 1);
    let sound = case.program();
    let mut program = sound.clone();
    let kernel = &mut program.kernels[0];
    // `for p { load; barrier; store; barrier }`: all loads, before any store.
    let at = kernel.body.iter().position(|stmt| matches!(stmt.kind, StmtKind::For { .. }));
    let at = at.expect("there is a loop");
    let StmtKind::For { var, body, .. } = &mut kernel.body[at].kind else { unreachable!() };
    let var = *var;
    let load = body.remove(0);
    let ty = kernel.vars[var].ty;
    let counter = push(kernel, ExprKind::Var(var), ty);
    let three = push(kernel, ExprKind::Literal(Literal::Int(3)), ty);
    let slot = push(kernel, ExprKind::Binary { op: BinaryOp::Rem, lhs: counter, rhs: three }, ty);
    let tile = kernel.tiles.ids().next().expect("there is a tile");
    kernel.tiles[tile].buffers = 3;
    let mut ahead = kernel.body[at].clone();
    let StmtKind::For { body, .. } = &mut ahead.kind else { unreachable!() };
    *body = vec![load];
    kernel.body.insert(at, ahead);
    each_access(kernel, tile, &|access| access.slot = Some(slot));
    assert_ne!(case.result(&program), case.result(&sound));
}

#[test]
fn tiles_in_one_place_need_a_barrier() {
    let case = Case::new(reversed_pairs::kernel::<i32>(), &[("TC", 16)], &[2, 40], 1);
    let mut program = case.program();
    let kernel = &mut program.kernels[0];
    let bytes = kernel.tiles.values().map(|tile| tile.size_bytes()).max().unwrap_or(0);
    kernel.shared_memory = SharedMemory::Dynamic { bytes: bytes as u32 };
    for tile in kernel.tiles.ids().collect::<Vec<TileId>>() {
        kernel.tiles[tile].offset_bytes = 0;
    }
    let findings = case.findings(&program);
    assert!(findings.iter().any(|finding| is_race(finding, Between::Threads)), "{findings:#?}");
}

#[test]
fn a_division_stays_under_its_condition() {
    let mut case = Case::new(quotients::kernel(), &[("TN", 16)], &[40], 1);
    // Random divisors are not 0; these are, here and there.
    let zeros = random_inputs(&case.kernel, &case.config, &case.dims, 5);
    let bytes: Vec<u8> = zeros.tensors[1]
        .bytes()
        .chunks(4)
        .enumerate()
        .flat_map(|(at, bytes)| if at % 3 == 0 { vec![0; 4] } else { bytes.to_vec() })
        .collect();
    case.inputs.tensors[1] =
        tile_runtime::inspect::HostTensor::new(tile_runtime::ir::dtype::DType::I32, &[40], &bytes);
    let sound = case.program();
    let mut program = sound.clone();
    each_list(&mut program.kernels[0].body, &mut |list| {
        let flat = list.drain(..).flat_map(|stmt| match stmt.kind {
            StmtKind::If { then, .. } if stmt.scope == tile_runtime::ir::program::Scope::Thread => {
                then
            }
            _ => vec![stmt],
        });
        *list = flat.collect();
    });
    assert_ne!(program, sound, "there is a condition");
    assert_ne!(case.result(&program), case.result(&sound));
}

#[test]
fn what_is_written_is_not_read_only() {
    let case = Case::new(chained_chunks::kernel::<f32>(), &[("TC", 16)], &[2, 40], 1);
    let mut program = case.program();
    for (_, buffer) in program.kernels[0].buffers.iter_mut() {
        buffer.written = false;
    }
    let faults = verify_program(&program).expect_err("a store to a read-only buffer");
    assert!(faults.iter().any(|fault| fault.to_string().contains('x')), "{faults:?}");
}
