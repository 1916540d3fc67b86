//! The verifier: a sound kernel, damaged in one place, is found faulty there.

use crate::support;
use tile_ir::arena::EntityId as _;
use tile_ir::dtype::DType;
use tile_ir::kernel::{
    ArrayRef, Edge, ElemType, ExprId, ExprKind, Kernel, Literal, Place, StmtKind, TensorId,
    TileDomain, Type, VarId, VarKind, verify_kernel,
};
use tile_ir::syntax::TensorSpace;

const KERNEL: &str = "
    fn f<T: Number>(n: i32, #[pad = 0] a: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN, W = TN + 2), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        shared s: [T; W];
        let mut sum: Acc<T> = 0;
        load s[i] = a[bx * TN + i];
        barrier;
        for j in 0..n { sum += s[tx + j]; }
        if tx < 3 { sum += 1; }
        c[bx * TN + tx] = sum;
    }";

/// Damages the kernel and expects a fault that says `expected`.
#[track_caller]
fn check(damage: impl FnOnce(&mut Kernel), expected: &str) {
    let mut kernel = support::resolve(KERNEL);
    damage(&mut kernel);
    let faults = verify_kernel(&kernel).expect_err("the damage was not found");
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|text| text.contains(expected)), "{texts:#?}");
}

fn find(kernel: &Kernel, test: impl Fn(&ExprKind) -> bool) -> ExprId {
    kernel.exprs.iter().find(|(_, expr)| test(&expr.kind)).expect("no such expression").0
}

fn var(kernel: &Kernel, name: &str) -> VarId {
    kernel.vars.iter().find(|(_, var)| var.name == name).expect("no such variable").0
}

#[test]
fn ids() {
    let far = ExprId::from_index(10_000);
    check(|k| k.constraints.push(far), "the header refers to what does not exist");
    check(|k| k.tensors[TensorId::from_index(0)].extents[0] = far, "g0 refers to what");
    check(
        |k| {
            let id = find(k, |kind| matches!(kind, ExprKind::Binary { .. }));
            k.exprs[id].kind = ExprKind::Cast(id);
        },
        "which does not come before it",
    );
    check(
        |k| {
            let id = find(k, |kind| matches!(kind, ExprKind::Binary { .. }));
            let ExprKind::Binary { rhs, lhs, .. } = &mut k.exprs[id].kind else { return };
            *rhs = *lhs;
        },
        "is an operand of",
    );
    check(
        |k| {
            let id = find(k, |kind| matches!(kind, ExprKind::Var(_)));
            k.exprs[id].kind = ExprKind::Var(VarId::from_index(999));
        },
        "names v999, which does not exist",
    );
    check(
        |k| {
            let StmtKind::Let { var, .. } = &mut k.body[0].kind else { return };
            *var = VarId::from_index(999);
        },
        "a statement refers to what does not exist",
    );
}

#[test]
fn types() {
    check(
        |k| {
            let id = find(k, |kind| matches!(kind, ExprKind::Compare { .. }));
            k.exprs[id].ty = Type::Index;
        },
        "compares, and is not of type bool",
    );
    check(
        |k| {
            let id = find(k, |kind| matches!(kind, ExprKind::Load(_)));
            k.exprs[id].ty = Type::Index;
        },
        "is of another type than what it loads",
    );
    check(
        |k| {
            let id = find(k, |kind| matches!(kind, ExprKind::Literal(_)));
            k.exprs[id].kind = ExprKind::Literal(Literal::Bool(true));
        },
        "cannot be of its type",
    );
    check(
        |k| {
            let sum = var(k, "sum");
            k.vars[sum].ty = Type::Scalar(ElemType::Concrete(DType::F64));
        },
        "the value of a statement, is of type Acc<T>, not f64",
    );
    check(
        |k| {
            let StmtKind::Store { access, .. } = &mut k.body[5].kind else { return };
            access.indices.clear();
        },
        "`c` has 1 axes and is accessed with 0 indices",
    );
}

#[test]
fn header() {
    let tensor = TensorId::from_index(0);
    check(
        |k| k.tensors[tensor].edge = Edge::Pad(k.tensors[tensor].extents[0]),
        "a pad value, is of type index",
    );
    check(|k| k.tensors[tensor].extents.clear(), "g0 has 0 axes");
    check(|k| k.params.truncate(2), "the signature names a parameter twice or not");
    check(|k| k.params[0] = k.params[1], "the signature names a parameter twice or not");
    check(
        |k| {
            let block = k.block.as_mut().expect("a block");
            block[0].extent = k.tensors[tensor].extents[0];
        },
        "an extent of the block, names",
    );
    check(
        |k| {
            let (id, _) = k.tile_params.iter().next().expect("a tile parameter");
            k.tile_params[id].domain = TileDomain::List(vec![4, 4]);
        },
        "p0 has a domain without sense",
    );
    check(
        |k| {
            let bx = var(k, "bx");
            k.vars[bx].kind = VarKind::Block;
        },
        "is no axis of the grid",
    );
}

#[test]
fn body() {
    check(
        |k| {
            k.body.remove(0);
        },
        "is named where it is not in force",
    );
    check(
        |k| {
            let copy = k.body[0].clone();
            k.body.insert(1, copy);
        },
        "is declared twice",
    );
    check(
        |k| {
            let sum = var(k, "sum");
            k.vars[sum].kind = VarKind::Let { mutable: false };
        },
        "is assigned and not mutable",
    );
    check(
        |k| {
            k.body.pop();
        },
        "no tensor is written",
    );
    check(|k| k.tensors[TensorId::from_index(1)].mutable = false, "is written and not mutable");
    check(
        |k| {
            let barrier = k.body[2].clone();
            let StmtKind::Each { body, .. } = &mut k.body[1].kind else { return };
            body.push(barrier);
        },
        "a barrier stands inside an `each`",
    );
    check(
        |k| {
            let StmtKind::Each { body, .. } = &mut k.body[1].kind else { return };
            let StmtKind::Store { access, .. } = &mut body[0].kind else { return };
            access.array = ArrayRef::Tensor(TensorId::from_index(1));
        },
        "a `load` does not fill a tile cell by cell",
    );
    check(
        |k| {
            let bx = var(k, "bx");
            let tx = var(k, "tx");
            let id = find(k, |kind| *kind == ExprKind::Var(bx));
            let in_load = k.exprs.ids().filter(|e| k.exprs[*e].kind == ExprKind::Var(bx)).min();
            assert_eq!(in_load, Some(id));
            k.exprs[id].kind = ExprKind::Var(tx);
        },
        "is an axis of the block and is named inside an `each`",
    );
    check(
        |k| {
            let StmtKind::For { body, .. } = &mut k.body[3].kind else { return };
            let StmtKind::Update { place, .. } = &mut body[0].kind else { return };
            *place = Place::Var(VarId::from_index(0));
        },
        "is assigned and not mutable",
    );
}

#[test]
fn constant_memory() {
    check(
        |k| k.tensors[TensorId::from_index(1)].space = TensorSpace::Constant,
        "g1 is mutable in constant memory",
    );
}
