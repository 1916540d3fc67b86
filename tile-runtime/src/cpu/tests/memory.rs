//! Accesses: guards, pads, layouts, several buffers, masks, gathers.

use tile_ir::dtype::DType;
use tile_ir::op::{BinaryOp, CompareOp};
use tile_ir::program::{
    Access, AxisGuard, Digit, ExprId, ExprKind, ItemLayout, Literal, Scope, SharedMemory, Stmt,
    StmtKind, Swizzle, TileLayout, TokenId, Ty,
};

use super::builder::{Builder, INDEX, at, buffer, execute, guarded, index, of, tile};
use crate::cpu::CpuError;

const I32: Ty = Ty::Scalar(DType::I32);

fn i32_literal(b: &mut Builder, value: i128) -> ExprId {
    b.literal(Literal::Int(value), DType::I32)
}

fn numbered(n: usize) -> Vec<i32> {
    (0..n as i32).map(|at| at * 10 + 1).collect()
}

/// Reads `a[f(i)]` for each of `n` items, `a` of `len` elements.
fn read(
    n: u32,
    len: usize,
    access: impl FnOnce(&mut Builder, ExprId, ExprId) -> Access,
) -> Result<Vec<i32>, CpuError> {
    let mut b = Builder::new(n);
    let (_, extent) = b.arg("len", INDEX);
    let items = b.int(n.into());
    let a = b.buffer("a", DType::I32, &[extent], false);
    let out = b.buffer("out", DType::I32, &[items], true);
    let domain = b.domain(&[n]);
    let i = b.coord(domain, 0);
    let loaded = b.load(at(buffer(a), &[i]));
    let access = access(&mut b, i, loaded);
    let value = b.load(Access { target: buffer(a), ..access });
    let store = b.store(at(buffer(out), &[i]), value);
    b.kernel.body = vec![b.items(domain, vec![store])];
    let mut input = numbered(len);
    let mut values = vec![-1; n as usize];
    execute(&b, &[of(&mut input), of(&mut values)], &[index(len as i64)])?;
    Ok(values)
}

/// What a guarded read gives.
fn element(len: usize, at: i64, pad: i32) -> i32 {
    usize::try_from(at).ok().filter(|&at| at < len).map_or(pad, |at| at as i32 * 10 + 1)
}

#[test]
fn affine_reads_pad_at_both_ends() {
    for n in [1u32, 5, 64, 700] {
        for (scale, shift) in [
            (1, 0),
            (1, -3),
            (1, 600),
            (-1, 40),
            (-1, -1),
            (3, -7),
            (-2, 100),
            (0, 2),
            (0, -1),
            (0, 99),
        ] {
            let len = 97;
            let values = read(n, len, |b, i, _| {
                let scale = b.int(scale);
                let shift = b.int(shift);
                let scaled = b.mul(i, scale);
                let at_index = b.add(scaled, shift);
                let pad = i32_literal(b, -5);
                guarded(buffer(tile_ir::arena::EntityId::from_index(0)), &[at_index], Some(pad))
            });
            let expect =
                (0..i64::from(n)).map(|i| element(len, i * scale as i64 + shift as i64, -5));
            assert_eq!(
                values.unwrap(),
                expect.collect::<Vec<_>>(),
                "{scale} i + {shift}, {n} items"
            );
        }
    }
}

#[test]
fn reads_without_a_pad_give_zero() {
    let values = read(9, 5, |_, i, _| guarded(first(), &[i], None)).unwrap();
    assert_eq!(values, [1, 11, 21, 31, 41, 0, 0, 0, 0]);
}

/// The first buffer.
fn first() -> tile_ir::program::Target {
    buffer(tile_ir::arena::EntityId::from_index(0))
}

#[test]
fn pads_may_differ_between_items() {
    let values = read(9, 5, |b, i, _| {
        let pad = b.cast(i, I32);
        let two = b.int(2);
        let doubled = b.mul(i, two);
        guarded(first(), &[doubled], Some(pad))
    });
    assert_eq!(values.unwrap(), [1, 21, 41, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn one_sided_guards_compare_one_side() {
    let one_sided = |lower, shift: i128| {
        read(6, 6, |b, i, _| {
            let shift = b.int(shift);
            let at_index = b.add(i, shift);
            let guards = vec![AxisGuard { lower, upper: !lower }];
            Access { guards, ..at(first(), &[at_index]) }
        })
    };
    assert_eq!(one_sided(true, -2).unwrap(), [0, 0, 1, 11, 21, 31]);
    assert_eq!(one_sided(false, 2).unwrap(), [21, 31, 41, 51, 0, 0]);
    for (lower, shift, wrong) in [(true, 2, 6), (false, -2, -2)] {
        let CpuError::OutOfRange { index, extent, array, axis, .. } =
            one_sided(lower, shift).unwrap_err()
        else {
            unreachable!("an access that leaves its array")
        };
        assert_eq!((array.as_str(), axis, index, extent), ("a", 0, wrong, 6));
    }
}

#[test]
fn gathers_guard_each_lane() {
    let gather = |guard: AxisGuard, scale: i128| {
        read(600, 600, move |b, _, loaded| {
            // (value / 10) * scale = i * scale, by way of memory.
            let ten = i32_literal(b, 10);
            let quotient = b.binary(BinaryOp::Div, loaded, ten);
            let at_index = b.cast(quotient, INDEX);
            let scale = b.int(scale);
            let at_index = b.mul(at_index, scale);
            let pad = i32_literal(b, -5);
            Access { guards: vec![guard], pad: Some(pad), ..at(first(), &[at_index]) }
        })
    };
    let expect: Vec<i32> = (0..600).map(|i| element(600, i * 7, -5)).collect();
    assert_eq!(gather(AxisGuard::BOTH, 7).unwrap(), expect);
    let expect: Vec<i32> = (0..600).map(|i| element(600, -i, -5)).collect();
    assert_eq!(gather(AxisGuard::BOTH, -1).unwrap(), expect);
    assert_eq!(gather(AxisGuard::NONE, 1).unwrap(), numbered(600));
    let error = gather(AxisGuard::NONE, 7).unwrap_err();
    let text = "kernel `k`, block 0: axis 0 of `a` is indexed by 602, its extent is 600";
    assert_eq!(error.to_string(), text);
}

#[test]
fn huge_indices_do_not_wrap_into_the_array() {
    for huge in [i64::MAX, i64::MIN, i64::MAX - 3, 1 << 62] {
        let values = read(4, 4, |b, i, _| {
            let huge = b.expr(ExprKind::Literal(Literal::Int(huge.into())), Ty::INDEX64);
            let at_index = b.add(huge, i);
            guarded(first(), &[at_index], None)
        });
        assert_eq!(values.unwrap(), [0; 4], "from {huge}");
    }
}

#[test]
fn writes_outside_are_dropped() {
    // out[2 i - 3] = i, of 10 elements, by 20 items.
    let mut b = Builder::new(20);
    let ten = b.int(10);
    let out = b.buffer("out", DType::I32, &[ten], true);
    let domain = b.domain(&[20]);
    let i = b.coord(domain, 0);
    let (two, three) = (b.int(2), b.int(3));
    let doubled = b.mul(i, two);
    let at_index = b.binary(BinaryOp::Sub, doubled, three);
    let value = b.cast(i, I32);
    let store = b.store(guarded(buffer(out), &[at_index], None), value);
    b.kernel.body = vec![b.items(domain, vec![store])];
    let mut values = vec![-1; 10];
    execute(&b, &[of(&mut values)], &[]).unwrap();
    assert_eq!(values, [-1, 2, -1, 3, -1, 4, -1, 5, -1, 6]);
}

/// Copies a matrix into a tile and back, transposed on the way out.
fn through_tile(
    extents: [u32; 2],
    layout: TileLayout,
    items: ItemLayout,
    threads: u32,
) -> Result<(), CpuError> {
    let [rows, columns] = extents;
    let mut b = Builder::new(threads);
    let [r, c] = extents.map(|extent| b.int(extent.into()));
    let a = b.buffer("a", DType::U16, &[r, c], false);
    let out = b.buffer("out", DType::U16, &[c, r], true);
    let s = b.tile_laid_out("s", DType::U16, &extents, layout, 1);
    let domain = b.domain_laid_out(&extents, items);
    let back = b.domain_laid_out(
        &[columns, rows],
        ItemLayout { registers: row_major(&[columns, rows]), ..ItemLayout::default() },
    );
    let [i, j] = [0, 1].map(|axis| b.coord(domain, axis));
    let value = b.load(at(buffer(a), &[i, j]));
    let fill = b.items(domain, vec![b.store(at(tile(s), &[i, j]), value)]);
    let [j, i] = [0, 1].map(|axis| b.coord(back, axis));
    let value = b.load(at(tile(s), &[i, j]));
    let drain = b.items(back, vec![b.store(at(buffer(out), &[j, i]), value)]);
    b.kernel.body = vec![fill, b.barrier(), drain];
    let mut input: Vec<u16> = (0..rows * columns).map(|at| at as u16 ^ 0x5a5a).collect();
    let mut output = vec![0u16; input.len()];
    execute(&b, &[of(&mut input), of(&mut output)], &[])?;
    for (at, &value) in output.iter().enumerate() {
        let (column, row) = (at / rows as usize, at % rows as usize);
        assert_eq!(value, input[row * columns as usize + column]);
    }
    Ok(())
}

fn row_major(extents: &[u32]) -> Vec<Digit> {
    ItemLayout::one_per_thread(extents).threads
}

#[test]
fn tile_layouts_keep_elements_apart() {
    let swizzled = |extents: &[u32], bits, shift, source| TileLayout {
        swizzle: Some(Swizzle { bits, shift, source }),
        ..TileLayout::row_major(extents)
    };
    let transposed = TileLayout { strides: vec![1, 33], swizzle: None, size_elems: 33 * 16 };
    for (extents, layout) in [
        ([32, 32], TileLayout::row_major(&[32, 32])),
        ([32, 32], TileLayout::padded(&[32, 32], 1)),
        ([32, 16], transposed),
        ([32, 32], swizzled(&[32, 32], 3, 0, 5)),
        ([16, 64], swizzled(&[16, 64], 3, 3, 6)),
        ([3, 700], TileLayout::padded(&[3, 700], 5)),
    ] {
        let items = ItemLayout::one_per_thread(&extents);
        through_tile(extents, layout, items, extents[0] * extents[1]).unwrap();
    }
}

#[test]
fn item_layouts_must_cover_each_item_once() {
    let digit = |axis, size, stride| Digit { axis, size, stride };
    let run = |threads: Vec<Digit>, registers: Vec<Digit>, n_threads| {
        let layout = TileLayout::row_major(&[10, 12]);
        through_tile(
            [10, 12],
            layout,
            ItemLayout { threads, registers, ..ItemLayout::default() },
            n_threads,
        )
    };
    // 4 × 8 threads with 3 × 2 registers each reach 12 × 16.
    let threads = || vec![digit(1, 8, 1), digit(0, 4, 1)];
    run(threads(), vec![digit(1, 2, 8), digit(0, 3, 4)], 32).unwrap();
    // Blocked instead of strided.
    run(vec![digit(0, 4, 3), digit(1, 4, 3)], vec![digit(0, 3, 1), digit(1, 3, 1)], 128).unwrap();
    let broken = [
        (run(threads(), vec![digit(1, 2, 8), digit(0, 2, 4)], 32), "coordinate 8 of axis `i` to 0"),
        (run(threads(), vec![digit(1, 2, 4), digit(0, 3, 4)], 32), "coordinate 4 of axis `i` to 2"),
        (run(threads(), vec![digit(1, 2, 8), digit(0, 3, 4)], 31), "needs 32 threads"),
        (run(threads(), vec![digit(2, 2, 8)], 32), "axis 2"),
    ];
    for (result, text) in broken {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn domains_of_all_shapes_are_run_whole() {
    for extents in [
        vec![],
        vec![1],
        vec![513],
        vec![3, 5],
        vec![1, 1, 1],
        vec![600, 1],
        vec![7, 3, 50],
        vec![2, 3, 1, 70, 1],
        vec![9, 9, 9, 2],
        vec![4, 0, 4],
    ] {
        let n_items: u32 = extents.iter().product();
        let mut b = Builder::new(n_items.max(1));
        let sizes: Vec<ExprId> = extents.iter().map(|&extent| b.int(extent.into())).collect();
        let domain = b.domain(&extents);
        let indices: Vec<ExprId> =
            (0..).zip(&extents).map(|(axis, _)| b.coord(domain, axis)).collect();
        let n = b.int(n_items.into());
        let zero = b.int(0);
        // Written at the item's place and at its number, computed from the
        // coordinates.
        let by_place = b.buffer("by_place", DType::I32, &sizes, true);
        let by_number = b.buffer("by_number", DType::I32, &[n], true);
        let mut number = zero;
        for (&size, &coord) in sizes.iter().zip(&indices) {
            let scaled = b.mul(number, size);
            number = b.add(scaled, coord);
        }
        let value = b.cast(number, I32);
        let lanes = b.fragment(domain, I32);
        let set = b.items(domain, vec![b.set(lanes, value)]);
        let kept = b.fragment_value(lanes);
        let stores = vec![
            b.store(at(buffer(by_place), &indices), kept),
            b.store(at(buffer(by_number), &[number]), kept),
        ];
        b.kernel.body = vec![set, b.items(domain, stores)];
        let mut first = vec![-1; n_items.max(1) as usize];
        let mut second = first.clone();
        execute(&b, &[of(&mut first), of(&mut second)], &[]).unwrap();
        let expect: Vec<i32> = if n_items == 0 { vec![-1] } else { (0..n_items as i32).collect() };
        assert_eq!(first, expect, "{extents:?}");
        assert_eq!(second, expect, "{extents:?}");
    }
}

#[test]
fn guards_hold_where_rows_of_an_outer_axis_meet() {
    // Chunks of 51 rows begin and end in the midst of the middle axis; the
    // array has 60 of its 100 points.
    let extents = [3u32, 100, 10];
    let mut b = Builder::new(3000);
    let sizes = extents.map(|extent| b.int(extent.into()));
    let sixty = b.int(60);
    let a = b.buffer("a", DType::I32, &[sixty], false);
    let out = b.buffer("out", DType::I32, &sizes, true);
    let domain = b.domain(&extents);
    let coords = [0, 1, 2].map(|axis| b.coord(domain, axis));
    let pad = i32_literal(&mut b, -5);
    let value = b.load(guarded(buffer(a), &[coords[1]], Some(pad)));
    let store = b.store(at(buffer(out), &coords), value);
    b.kernel.body = vec![b.items(domain, vec![store])];
    let (mut input, mut output) = (numbered(60), vec![0; 3000]);
    execute(&b, &[of(&mut input), of(&mut output)], &[]).unwrap();
    let expect: Vec<i32> = (0..3000).map(|at| element(60, at / 10 % 100, -5)).collect();
    assert_eq!(output, expect);
}

#[test]
fn buffers_of_a_tile_are_chosen_by_slot() {
    // s[slot = i % 3][i / 3] = a[i] for 12 items, read back in another order.
    let mut b = Builder::new(12);
    let n = b.int(12);
    let a = b.buffer("a", DType::I32, &[n], false);
    let out = b.buffer("out", DType::I32, &[n], true);
    let s = b.tile_laid_out("s", DType::I32, &[4], TileLayout::row_major(&[4]), 3);
    let domain = b.domain(&[4, 3]);
    let [i, j] = [0, 1].map(|axis| b.coord(domain, axis));
    let three = b.int(3);
    let scaled = b.mul(i, three);
    let number = b.add(scaled, j);
    let place = Access { slot: Some(j), ..at(tile(s), &[i]) };
    let copy = b.stmt(StmtKind::Copy {
        dst: place.clone(),
        src: at(buffer(a), &[number]),
        token: Some(tile_ir::arena::EntityId::from_index(0)),
    });
    let token: TokenId = tile_ir::arena::EntityId::from_index(0);
    let value = b.load(place);
    let four = b.int(4);
    let scaled = b.mul(j, four);
    let other = b.add(scaled, i);
    let drain = b.store(at(buffer(out), &[other]), value);
    let wait = b.stmt(StmtKind::Wait { token, pending: 0 });
    b.kernel.body =
        vec![b.items(domain, vec![copy]), wait, b.barrier(), b.items(domain, vec![drain])];
    let (mut input, mut output) = (numbered(12), vec![0; 12]);
    execute(&b, &[of(&mut input), of(&mut output)], &[]).unwrap();
    let expect: Vec<i32> = (0..12).map(|at| (at % 4 * 3 + at / 4) * 10 + 1).collect();
    assert_eq!(output, expect);

    // One buffer further is outside.
    let mut wrong = Builder::new(1);
    let out = wrong.buffer("out", DType::I32, &[], true);
    let s = wrong.tile_laid_out("s", DType::I32, &[4], TileLayout::row_major(&[4]), 3);
    let domain = wrong.domain(&[]);
    let (zero, three) = (wrong.int(0), wrong.int(3));
    let value = wrong.load(Access { slot: Some(three), ..at(tile(s), &[zero]) });
    let store = wrong.store(at(buffer(out), &[]), value);
    wrong.kernel.body = vec![wrong.items(domain, vec![store])];
    let error = execute(&wrong, &[of(&mut [0])], &[]).unwrap_err().to_string();
    assert_eq!(error, "kernel `k`, block 0: axis 1 of `s` is indexed by 3, its extent is 3");
}

#[test]
fn masked_accesses_touch_active_lanes_only() {
    // Items from 600 of 1000 on would leave both arrays.
    let mut b = Builder::new(1000);
    let n = b.int(600);
    let a = b.buffer("a", DType::I32, &[n], false);
    let out = b.buffer("out", DType::I32, &[n], true);
    let domain = b.domain(&[1000]);
    let lanes = b.fragment(domain, I32);
    let i = b.coord(domain, 0);
    let inside = b.expr(ExprKind::InBounds { buffer: a, indices: vec![i] }, Ty::BOOL);
    let value = b.load(at(buffer(a), &[i]));
    let zero = i32_literal(&mut b, 0);
    let clear = b.set(lanes, zero);
    let then = vec![b.set(lanes, value), b.store(at(buffer(out), &[i]), value)];
    let branch = b.if_(inside, then, Vec::new());
    let total = b.new_var(I32, Scope::Thread);
    let kept = b.fragment_value(lanes);
    let body: Vec<Stmt> = vec![clear, branch, b.let_(total, kept)];
    let last = b.var(total);
    let one = i32_literal(&mut b, 1);
    let more = b.add(last, one);
    let again = b.store(guarded(buffer(out), &[i], None), more);
    b.kernel.body = vec![b.items(domain, [body, vec![again]].concat())];
    let (mut input, mut output) = (numbered(600), vec![-1; 600]);
    execute(&b, &[of(&mut input), of(&mut output)], &[]).unwrap();
    assert_eq!(output, numbered(600).iter().map(|value| value + 1).collect::<Vec<_>>());
}

#[test]
fn in_bounds_asks_each_axis() {
    let mut b = Builder::new(36);
    let [three, four, six] = [3, 4, 6].map(|value| b.int(value));
    let a = b.buffer("a", DType::F64, &[three, four], false);
    let out = b.buffer("out", DType::Bool, &[six, six], true);
    let domain = b.domain(&[6, 6]);
    let [i, j] = [0, 1].map(|axis| b.coord(domain, axis));
    let one = b.int(1);
    let [y, x] = [i, j].map(|coord| b.binary(BinaryOp::Sub, coord, one));
    // One axis by lanes, which are the same numbers.
    let as_value = b.cast(x, Ty::Scalar(DType::I8));
    let x_by_lanes = b.cast(as_value, INDEX);
    let affine = b.expr(ExprKind::InBounds { buffer: a, indices: vec![y, x] }, Ty::BOOL);
    let by_lanes = b.expr(ExprKind::InBounds { buffer: a, indices: vec![y, x_by_lanes] }, Ty::BOOL);
    let same = b.compare(CompareOp::Eq, affine, by_lanes);
    let both = b.logic(tile_ir::op::LogicOp::And, affine, same);
    let store = b.store(at(buffer(out), &[i, j]), both);
    b.kernel.body = vec![b.items(domain, vec![store])];
    let mut output = vec![false; 36];
    execute(&b, &[of(&mut [0f64; 12]), of(&mut output)], &[]).unwrap();
    for (at, &inside) in output.iter().enumerate() {
        assert_eq!(inside, (1..4).contains(&(at / 6)) && (1..5).contains(&(at % 6)), "{at}");
    }
}

#[test]
fn strides_of_views_are_followed() {
    // A transposed view of a 3 × 4 matrix and a row repeated by stride 0.
    let mut b = Builder::new(12);
    let [three, four, one, zero] = [3, 4, 1, 0].map(|value| b.int(value));
    let a = b.buffer("a", DType::I32, &[four, three], false);
    b.kernel.buffers[a].strides = vec![one, four];
    let row = b.buffer("row", DType::I32, &[four, three], false);
    b.kernel.buffers[row].strides = vec![one, zero];
    let out = b.buffer("out", DType::I32, &[four, three], true);
    let domain = b.domain(&[4, 3]);
    let indices = [0, 1].map(|axis| b.coord(domain, axis));
    let left = b.load(at(buffer(a), &indices));
    let right = b.load(at(buffer(row), &indices));
    let sum = b.add(left, right);
    let store = b.store(at(buffer(out), &indices), sum);
    b.kernel.body = vec![b.items(domain, vec![store])];
    let (mut matrix, mut repeated, mut output) =
        (numbered(12), vec![1000, 2000, 3000, 4000], vec![0; 12]);
    execute(&b, &[of(&mut matrix), of(&mut repeated), of(&mut output)], &[]).unwrap();
    let expect: Vec<i32> =
        (0..12).map(|at| (at % 3 * 4 + at / 3) * 10 + 1 + (at / 3 + 1) * 1000).collect();
    assert_eq!(output, expect);
}

#[test]
fn tiles_are_placed_within_shared_memory() {
    let run = |bytes, offset| {
        let mut b = Builder::new(1);
        b.kernel.shared_memory = SharedMemory::Dynamic { bytes };
        let s = b.tile("s", DType::I32, &[4]);
        b.kernel.tiles[s].offset_bytes = offset;
        execute(&b, &[], &[])
    };
    run(48, 32).unwrap();
    for (bytes, offset) in [(47, 32), (48, 33), (48, 48)] {
        let error = run(bytes, offset).unwrap_err().to_string();
        assert_eq!(error, "kernel `k`: tile `s` is placed outside shared memory");
    }
}

#[test]
fn tiles_do_not_keep_values_from_block_to_block() {
    // Block 0 writes the tile, the next only reads: what is there must show.
    let mut b = Builder::new(1);
    let two = b.int(2);
    let bx = b.grid_axis(two);
    let out = b.buffer("out", DType::F32, &[two], true);
    let s = b.tile("s", DType::F32, &[1]);
    let domain = b.domain(&[]);
    let bxv = b.var(bx);
    let zero = b.int(0);
    let first = b.compare(CompareOp::Eq, bxv, zero);
    let five = b.f32(5.0);
    let write = b.store(at(tile(s), &[zero]), five);
    let value = b.load(at(tile(s), &[zero]));
    let read = b.store(at(buffer(out), &[bxv]), value);
    let fill = b.items(domain, vec![write]);
    b.kernel.body = vec![b.if_(first, vec![fill], vec![]), b.items(domain, vec![read])];
    let mut output = vec![0f32; 2];
    execute(&b, &[of(&mut output)], &[]).unwrap();
    assert_eq!(output[0], 5.0);
    assert!(!cfg!(debug_assertions) || output[1].is_nan());
}
