//! The tiled product, as lowering writes it.

use tile_ir::dtype::DType;
use tile_ir::program::{Digit, ExprKind, ItemLayout, Raster, Scope, TileLayout, Ty, Walk};

use super::builder::{Builder, INDEX, at, buffer, execute, guarded, index, of, tile};

/// How a product is lowered.
pub(super) struct Plan {
    pub(super) tile: (u32, u32, u32),
    pub(super) raster: Raster,
    pub(super) pad: u32,
    /// Whether the loop over k stands within `Items`.
    pub(super) inner_loop: bool,
    /// Threads along the tile's axes; one per item where absent.
    pub(super) threads: Option<(u32, u32)>,
}

/// A layout with `threads` threads, strided registers.
fn strided(extents: (u32, u32), threads: (u32, u32)) -> ItemLayout {
    let digit = |axis, size, stride| Digit { axis, size, stride };
    ItemLayout {
        threads: vec![digit(1, threads.1, 1), digit(0, threads.0, 1)],
        registers: vec![
            digit(1, extents.1.div_ceil(threads.1), threads.1),
            digit(0, extents.0.div_ceil(threads.0), threads.0),
        ],
        walk: Walk::default(),
    }
}

/// `c = a b` of f32.
pub(super) fn program(plan: &Plan) -> Builder {
    let (tm, tn, tk) = plan.tile;
    let threads = plan.threads.map_or(tm * tn.max(tk), |(y, x)| y * x);
    let mut b = Builder::new(threads.max(tk * tn));
    let (_, m) = b.arg("m", INDEX);
    let (_, n) = b.arg("n", INDEX);
    let (_, k) = b.arg("k", INDEX);
    let ga = b.buffer("a", DType::F32, &[m, k], false);
    let gb = b.buffer("b", DType::F32, &[k, n], false);
    let gc = b.buffer("c", DType::F32, &[m, n], true);
    let tiles = |b: &mut Builder, n, t: u32| {
        let d = b.int(t.into());
        b.expr(ExprKind::CeilDiv { n, d }, INDEX)
    };
    let grid_y = tiles(&mut b, m, tm);
    let grid_x = tiles(&mut b, n, tn);
    let phases = tiles(&mut b, k, tk);
    let by = b.grid_axis(grid_y);
    let bx = b.grid_axis(grid_x);
    b.kernel.raster = plan.raster;
    let a_layout = TileLayout::padded(&[tm, tk], plan.pad);
    let sa = b.tile_laid_out("a_s", DType::F32, &[tm, tk], a_layout, 1);
    let sb = b.tile("b_s", DType::F32, &[tk, tn]);
    let layout = |extents: (u32, u32)| match plan.threads {
        Some(threads) => strided(extents, threads),
        None => ItemLayout::one_per_thread(&[extents.0, extents.1]),
    };
    let block = b.domain_laid_out(&[tm, tn], layout((tm, tn)));
    let fill_a = b.domain_laid_out(&[tm, tk], layout((tm, tk)));
    let fill_b = b.domain_laid_out(&[tk, tn], layout((tk, tn)));
    let acc = b.fragment(block, Ty::Scalar(DType::F32));

    let zero = b.f32(0.0);
    let clear = b.items(block, vec![b.set(acc, zero)]);
    let p = b.new_var(INDEX, Scope::Block);
    let from = |b: &mut Builder, tile_var, t: u32, coord| {
        let tile_var = b.var(tile_var);
        let size = b.int(t.into());
        let base = b.mul(tile_var, size);
        b.add(base, coord)
    };
    let load = |b: &mut Builder, domain, to, from_buffer, vars: [(_, u32); 2]| {
        let i = b.coord(domain, 0);
        let j = b.coord(domain, 1);
        let row = from(b, vars[0].0, vars[0].1, i);
        let column = from(b, vars[1].0, vars[1].1, j);
        let value = b.load(guarded(from_buffer, &[row, column], Some(zero)));
        b.items(domain, vec![b.store(at(to, &[i, j]), value)])
    };
    let load_a = load(&mut b, fill_a, tile(sa), buffer(ga), [(by, tm), (p, tk)]);
    let load_b = load(&mut b, fill_b, tile(sb), buffer(gb), [(p, tk), (bx, tn)]);

    let scope = if plan.inner_loop { Scope::Thread } else { Scope::Block };
    let kk = b.new_var(INDEX, scope);
    let (start, end) = (b.int(0), b.int(tk.into()));
    let (ty, tx, kv) = (b.coord(block, 0), b.coord(block, 1), b.var(kk));
    let left = b.load(at(tile(sa), &[ty, kv]));
    let right = b.load(at(tile(sb), &[kv, tx]));
    let sum = b.fragment_value(acc);
    let value = b.fma(left, right, sum);
    let update = b.set(acc, value);
    let multiply = if plan.inner_loop {
        let inner = b.for_(kk, start, end, vec![update]);
        b.items(block, vec![inner])
    } else {
        let items = b.items(block, vec![update]);
        b.for_(kk, start, end, vec![items])
    };
    let body = vec![load_a, load_b, b.barrier(), multiply, b.barrier()];
    let zero_index = b.int(0);
    let phase = b.for_(p, zero_index, phases, body);
    let row = from(&mut b, by, tm, ty);
    let column = from(&mut b, bx, tn, tx);
    let sum = b.fragment_value(acc);
    let write = b.items(block, vec![b.store(guarded(buffer(gc), &[row, column], None), sum)]);
    b.kernel.body = vec![clear, phase, write];
    b
}

/// Small integers, whose products and sums `f32` holds exactly.
fn operand(len: usize, seed: usize) -> Vec<f32> {
    (0..len).map(|at| ((at * 7 + seed * 3 + at / 5) % 13) as f32 - 6.0).collect()
}

fn check(plan: &Plan, (m, n, k): (usize, usize, usize)) {
    let (mut a, mut b) = (operand(m * k, 1), operand(k * n, 2));
    let mut c = vec![f32::NAN; m * n];
    let expect: Vec<f32> = (0..m * n)
        .map(|at| {
            let products =
                (0..k).map(|p| f64::from(a[at / n * k + p]) * f64::from(b[p * n + at % n]));
            products.sum::<f64>() as f32
        })
        .collect();
    let dims = [m, n, k].map(|dim| index(dim as i64));
    let buffers = [of(&mut a), of(&mut b), of(&mut c)];
    execute(&program(plan), &buffers, &dims).unwrap();
    assert_eq!(c, expect, "{m} x {n} x {k} in tiles of {:?}", plan.tile);
}

#[test]
fn products_of_all_shapes() {
    let plan = |tile, inner_loop, threads| Plan {
        tile,
        raster: Raster::Grouped { rows: 2 },
        pad: 1,
        inner_loop,
        threads,
    };
    let plans = [
        plan((16, 16, 8), true, None),
        plan((16, 16, 8), false, None),
        plan((7, 33, 5), true, Some((4, 8))),
        plan((64, 64, 16), false, Some((8, 32))),
        plan((1, 600, 3), true, Some((1, 128))),
        plan((40, 40, 40), true, None),
    ];
    for plan in &plans {
        for shape in
            [(1, 1, 1), (1, 17, 3), (17, 1, 9), (31, 33, 37), (64, 64, 64), (5, 5, 0), (0, 4, 4)]
        {
            check(plan, shape);
        }
    }
}
