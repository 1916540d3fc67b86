//! Launches: grids, roles and barriers, and everything that is refused.

use tile_ir::dtype::DType;
use tile_ir::op::BinaryOp;
use tile_ir::program::{LoopRange, Scope};
use tile_ir::program::{Participants, Raster, Role, RoleId, Stmt, StmtKind, Ty, Unroll};
use tile_ir::value::ArgValue;

use super::builder::{Builder, INDEX, at, buffer, execute, index, of, scalar, tile};
use crate::cpu::{CpuBuffer, CpuError, Order, prepare, run};

const I32: Ty = Ty::Scalar(DType::I32);

/// `out[b] = scale * b` with one block for each element, `b` over two axes.
fn grid_kernel(raster: Raster) -> Builder {
    let mut b = Builder::new(1);
    let (_, rows) = b.arg("rows", INDEX);
    let (_, columns) = b.arg("columns", INDEX);
    let (_, scale) = b.arg("scale", I32);
    let by = b.grid_axis(rows);
    let bx = b.grid_axis(columns);
    b.kernel.raster = raster;
    let out = b.buffer("out", DType::I32, &[rows, columns], true);
    let domain = b.domain(&[]);
    let (byv, bxv) = (b.var(by), b.var(bx));
    let scaled = b.mul(byv, columns);
    let number = b.add(scaled, bxv);
    let number = b.cast(number, I32);
    let value = b.mul(number, scale);
    let store = b.store(at(buffer(out), &[byv, bxv]), value);
    b.kernel.body = vec![b.items(domain, vec![store])];
    b
}

#[test]
fn every_block_runs_once() {
    for raster in [Raster::RowMajor, Raster::Grouped { rows: 3 }, Raster::Grouped { rows: 64 }] {
        let compiled = prepare(&grid_kernel(raster).kernel, Order::Numbered).unwrap();
        for (rows, columns) in [(1, 1), (7, 5), (1, 100), (100, 1), (0, 5), (5, 0)] {
            let mut out = vec![-1; rows * columns];
            let args = [index(rows as i64), index(columns as i64), scalar(3i32)];
            run(&compiled, &[of(&mut out)], &args).unwrap();
            assert_eq!(out, (0..(rows * columns) as i32).map(|at| at * 3).collect::<Vec<_>>());
        }
    }
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let compiled = prepare(&grid_kernel(Raster::RowMajor).kernel, Order::Numbered).unwrap();
    let args = [index(2), index(3), scalar(1i32)];
    let check = |buffers: &[CpuBuffer], args: &[ArgValue], text: &str| {
        assert_eq!(run(&compiled, buffers, args).unwrap_err().to_string(), text);
    };
    let mut six = vec![0i32; 6];
    check(&[], &args, "kernel `k` takes 1 buffers, 0 given");
    check(&[of(&mut six)], &args[..2], "kernel `k` takes 3 arguments, 2 given");
    check(
        &[of(&mut six)],
        &[index(2), index(3), scalar(1u32)],
        "argument `scale` of kernel `k` is of another type than declared",
    );
    check(
        &[of(&mut six[..5])],
        &args,
        "buffer `out` of kernel `k`: its shape reaches elements 0 to 5, it has 5",
    );
    check(
        &[of(&mut [0u32; 6])],
        &args,
        "buffer `out` of kernel `k`: its elements are u32, i32 is declared",
    );
    check(
        &[of(&mut six)],
        &[index(-1), index(3), scalar(1i32)],
        "buffer `out` of kernel `k`: an extent is -1",
    );
    // SAFETY: the vector outlives the buffer and is not used beside it.
    let constant = unsafe { CpuBuffer::new(six.as_mut_ptr().cast(), 6, DType::I32, false) };
    check(
        &[constant],
        &args,
        "buffer `out` of kernel `k`: the kernel writes it, and it may not be written",
    );
    let mut odd = vec![0i32; 7];
    let unaligned = odd.as_mut_ptr().cast::<u8>().wrapping_add(1);
    // SAFETY: within the vector, and refused before anything is accessed.
    let unaligned = unsafe { CpuBuffer::new(unaligned, 6, DType::I32, true) };
    check(&[unaligned], &args, "buffer `out` of kernel `k`: it is not aligned to 4 bytes");
}

#[test]
fn the_first_block_that_fails_is_reported() {
    // Blocks from 5 on write behind the array's end.
    let mut b = Builder::new(1);
    let (hundred, five) = (b.int(100), b.int(5));
    let bx = b.grid_axis(hundred);
    let out = b.buffer("out", DType::I32, &[five], true);
    let domain = b.domain(&[]);
    let bxv = b.var(bx);
    let value = b.cast(bxv, I32);
    let store = b.store(at(buffer(out), &[bxv]), value);
    b.kernel.body = vec![b.items(domain, vec![store])];
    for _ in 0..20 {
        let mut values = vec![-1; 5];
        let error = execute(&b, &[of(&mut values)], &[]).unwrap_err();
        let text = "kernel `k`, block 5: axis 0 of `out` is indexed by 5, its extent is 5";
        assert_eq!(error.to_string(), text);
        assert_eq!(values, [0, 1, 2, 3, 4]);
    }
}

/// A program of two roles that hand values over through a tile: in each of
/// `n` rounds the producer writes a value, and the consumer sums it up.
fn handover(rounds_of_consumer: i128) -> Builder {
    let mut b = Builder::new(64);
    let [producer, consumer]: [RoleId; 2] =
        [("producer", 0), ("consumer", 1)].map(|(name, first)| {
            b.kernel.roles.push(Role { name: name.into(), first_warp: first, n_warps: Some(1) })
        });
    let one = b.int(1);
    let out = b.buffer("out", DType::I32, &[one], true);
    let s = b.tile("s", DType::I32, &[1]);
    let domain = b.domain(&[]);
    let sum = b.fragment(domain, I32);
    let zero = b.int(0);
    let zero32 = b.cast(zero, I32);
    let clear = b.set(sum, zero32);
    let k = [0, 1].map(|_| b.new_var(INDEX, Scope::Block));
    let kv = b.var(k[0]);
    let square = b.mul(kv, kv);
    let value = b.cast(square, I32);
    let produce = b.store(at(tile(s), &[zero]), value);
    let received = b.load(at(tile(s), &[zero]));
    let old = b.fragment_value(sum);
    let ten = b.literal(tile_ir::program::Literal::Int(10), DType::I32);
    let shifted = b.mul(old, ten);
    let total = b.add(shifted, received);
    let consume = b.set(sum, total);
    let last = b.fragment_value(sum);
    let write = b.store(at(buffer(out), &[zero]), last);
    let items = |b: &Builder, role, stmt: Stmt| {
        b.stmt_of(role, StmtKind::Items { domain, body: vec![stmt] })
    };
    let own = |b: &Builder, role| b.stmt_of(role, StmtKind::Barrier(Participants::Role(role)));
    let loop_of = |b: &mut Builder, role, var, end: i128, body| {
        let (start, end, step) = (b.int(0), b.int(end), b.int(1));
        let range = LoopRange::Between { start, end, step, reversed: false };
        b.stmt_of(role, StmtKind::For { var, range, unroll: Unroll::Never, body })
    };
    let produced = vec![items(&b, producer, produce), own(&b, producer), b.barrier(), b.barrier()];
    let consumed = vec![b.barrier(), items(&b, consumer, consume), own(&b, consumer), b.barrier()];
    b.kernel.body = vec![
        items(&b, consumer, clear),
        loop_of(&mut b, producer, k[0], 4, produced),
        loop_of(&mut b, consumer, k[1], rounds_of_consumer, consumed),
        items(&b, consumer, write),
    ];
    b
}

#[test]
fn roles_take_turns_at_barriers() {
    let mut out = [0];
    execute(&handover(4), &[of(&mut out)], &[]).unwrap();
    assert_eq!(out, [149]);
}

#[test]
fn barriers_that_not_all_roles_reach_are_reported() {
    for (rounds, role) in [(3, "producer"), (5, "consumer")] {
        let error = execute(&handover(rounds), &[of(&mut [0])], &[]).unwrap_err().to_string();
        let text =
            format!("kernel `k`, block 0: role `{role}` waits at a barrier that not all reach");
        assert_eq!(error, text);
    }
}

#[test]
fn more_items_than_any_device_has_threads() {
    let mut b = Builder::new(1 << 20);
    let (side, n) = (b.int(1 << 10), 1usize << 20);
    let out = b.buffer("out", DType::I32, &[side, side], true);
    let domain = b.domain(&[1 << 10, 1 << 10]);
    let held = b.fragment(domain, I32);
    let [i, j] = [0, 1].map(|axis| b.coord(domain, axis));
    let mixed = b.binary(BinaryOp::Xor, i, j);
    let value = b.cast(mixed, I32);
    let kept = b.fragment_value(held);
    let store = b.store(at(buffer(out), &[j, i]), kept);
    b.kernel.body = vec![b.items(domain, vec![b.set(held, value)]), b.items(domain, vec![store])];
    let mut values = vec![-1; n];
    execute(&b, &[of(&mut values)], &[]).unwrap();
    assert!(values.iter().enumerate().all(|(at, &value)| value == (at >> 10 ^ at & 1023) as i32));
}

#[test]
fn broken_programs_are_refused() {
    type Break = fn(&mut Builder);
    let cases: [(&str, Break); 7] = [
        ("kernel `k`: a store at block scope", |b| {
            let (zero, value) = (b.int(0), b.int(7));
            let value = b.cast(value, I32);
            let out = buffer(tile_ir::arena::EntityId::from_index(0));
            b.kernel.body = vec![b.store(at(out, &[zero]), value)];
        }),
        ("kernel `k`: `Items` within `Items`", |b| {
            let domain = b.domain(&[]);
            b.kernel.body = vec![b.items(domain, vec![b.items(domain, vec![])])];
        }),
        ("kernel `k`: a barrier within `Items`", |b| {
            let domain = b.domain(&[]);
            b.kernel.body = vec![b.items(domain, vec![b.barrier()])];
        }),
        ("kernel `k`: `v` (v0) is read before it exists", |b| {
            let var = b.new_var(INDEX, Scope::Block);
            let other = b.new_var(INDEX, Scope::Block);
            let value = b.var(var);
            b.kernel.body = vec![b.let_(other, value)];
        }),
        ("kernel `k`: fragment f0 outside `Items` of its domain", |b| {
            let (first, second) = (b.domain(&[2]), b.domain(&[2]));
            let fragment = b.fragment(first, INDEX);
            let value = b.int(1);
            b.kernel.threads = 2;
            b.kernel.body = vec![b.items(second, vec![b.set(fragment, value)])];
        }),
        ("kernel `k`: an access to `out` of another rank than its", |b| {
            let domain = b.domain(&[]);
            let out = buffer(tile_ir::arena::EntityId::from_index(0));
            let zero = b.int(0);
            let value = b.load(at(out, &[zero, zero]));
            b.kernel.body = vec![b.items(domain, vec![b.store(at(out, &[zero]), value)])];
        }),
        ("kernel `k`: a store to `in`, declared as never written", |b| {
            let domain = b.domain(&[]);
            let one = b.int(1);
            let input = b.buffer("in", DType::I32, &[one], false);
            let zero = b.int(0);
            let value = b.cast(zero, I32);
            b.kernel.body = vec![b.items(domain, vec![b.store(at(buffer(input), &[zero]), value)])];
        }),
    ];
    for (text, make) in cases {
        let mut b = Builder::new(1);
        let one = b.int(1);
        b.buffer("out", DType::I32, &[one], true);
        make(&mut b);
        let error = prepare(&b.kernel, Order::Numbered).unwrap_err();
        assert!(matches!(error, CpuError::Malformed { .. }));
        assert_eq!(error.to_string(), text);
    }
}
