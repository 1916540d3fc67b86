//! Statements: declarations before uses, types, collectives.

use std::collections::BTreeMap;

use super::Verifier;
use super::expr::{has_binary, loaded_arrays, mentions, verify_access};
use super::header::verify_each_axes;
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::exchange::ExchangeOp;
use crate::kernel::{
    Access, ArrayRef, Axis, EachOrigin, ElemType, ExprId, ExprKind, LoopRange, Place, Stmt,
    StmtKind, TileId, Type, VarId, VarKind,
};

/// The type of a ballot.
const U32: Type = Type::Scalar(ElemType::Concrete(DType::U32));

/// Every id in the body is in range.
pub(super) fn verify_ids(cx: &mut Verifier<'_>, stmts: &[Stmt]) {
    for stmt in stmts {
        let (vars, exprs, arrays) = ids_of(&stmt.kind);
        let known = vars.iter().all(|var| cx.has_var(*var))
            && exprs.iter().all(|expr| cx.has_expr(*expr))
            && arrays.iter().all(|array| cx.has_array(*array));
        cx.require(known, || "a statement refers to what does not exist".to_owned());
        for body in stmt.kind.bodies() {
            verify_ids(cx, body);
        }
    }
}

/// Every id of the table of exits is in range.
pub(super) fn verify_exits(cx: &mut Verifier<'_>) {
    for exit in &cx.kernel.exits {
        let known = exit.cond.is_none_or(|cond| cx.has_expr(cond))
            && exit.flag.is_none_or(|flag| cx.has_var(flag));
        cx.require(known, || "an exit refers to what does not exist".to_owned());
    }
}

/// What is assumed of all elements is of a tensor that is read only.
pub(super) fn verify_promises(cx: &mut Verifier<'_>) {
    for promise in &cx.kernel.promises {
        let known = cx.has_array(ArrayRef::Tensor(promise.tensor));
        let fixed = known && !cx.kernel.tensors[promise.tensor].mutable;
        cx.require(fixed, || "what is assumed of a tensor is of none that is only read".to_owned());
    }
}

/// The ids directly in a statement.
fn ids_of(kind: &StmtKind) -> (Vec<VarId>, Vec<ExprId>, Vec<ArrayRef>) {
    let of_access = |access: &Access, value: ExprId| {
        let exprs = access.indices.iter().copied().chain([value]).collect();
        (Vec::new(), exprs, vec![access.array])
    };
    match kind {
        StmtKind::Let { var, init } => (vec![*var], init.iter().copied().collect(), Vec::new()),
        StmtKind::LetArray { tile, init } => {
            (Vec::new(), init.iter().copied().collect(), vec![ArrayRef::Tile(*tile)])
        }
        StmtKind::Assign { var, value }
        | StmtKind::Update { place: Place::Var(var), value, .. } => {
            (vec![*var], vec![*value], Vec::new())
        }
        StmtKind::Store { access, value }
        | StmtKind::Update { place: Place::Element(access), value, .. } => {
            of_access(access, *value)
        }
        StmtKind::Atomic { access, expected, value, old, .. } => {
            let (_, mut exprs, arrays) = of_access(access, *value);
            exprs.extend(expected);
            (old.iter().copied().collect(), exprs, arrays)
        }
        StmtKind::Exchange { var, value, lane, .. } => {
            (vec![*var], [*value].into_iter().chain(*lane).collect(), Vec::new())
        }
        StmtKind::Each { axes, .. } => {
            let vars = axes.iter().map(|axis| axis.var).collect();
            (vars, axes.iter().map(|axis| axis.extent).collect(), Vec::new())
        }
        StmtKind::Phase { var, range, .. } | StmtKind::For { var, range, .. } => {
            (vec![*var], range.exprs(), Vec::new())
        }
        StmtKind::While { cond, .. } | StmtKind::If { cond, .. } | StmtKind::Assume { cond } => {
            (Vec::new(), vec![*cond], Vec::new())
        }
        StmtKind::Distinct { values, .. } => (Vec::new(), values.clone(), Vec::new()),
        StmtKind::Barrier | StmtKind::WarpBarrier => (Vec::new(), Vec::new(), Vec::new()),
    }
}

/// The body's rules, ids being in range.
pub(super) fn verify_body(cx: &mut Verifier<'_>) {
    let in_header = |kind| match kind {
        VarKind::Dim
        | VarKind::TileParam(_)
        | VarKind::Scalar(_)
        | VarKind::Grid
        | VarKind::Block => true,
        VarKind::Each | VarKind::Loop | VarKind::Let { .. } => false,
    };
    let visible = cx.kernel.vars.values().map(|var| in_header(var.kind)).collect();
    let count = cx.kernel.vars.len();
    let mut scope = Scope {
        visible,
        declared: vec![false; count],
        arrays: BTreeMap::new(),
        without_value: Vec::new(),
        each: None,
    };
    verify_stmts(cx, &mut scope, &cx.kernel.body);
    let writes = cx.kernel.body.iter().any(writes_tensor);
    cx.require(writes, || "no tensor is written".to_owned());
}

fn writes_tensor(stmt: &Stmt) -> bool {
    let (_, _, arrays) = ids_of(&stmt.kind);
    arrays.iter().any(|array| matches!(array, ArrayRef::Tensor(_)))
        || stmt.kind.bodies().into_iter().flatten().any(writes_tensor)
}

/// Which variables are in force.
struct Scope {
    /// By variable: whether it may be named here.
    visible: Vec<bool>,
    /// By variable: whether a statement has declared it.
    declared: Vec<bool>,
    /// Local arrays that were declared: whether each may be named here.
    arrays: BTreeMap<TileId, bool>,
    /// `let`s that were declared without a value.
    without_value: Vec<VarId>,
    /// Inside an `each`: by variable, what was in force before it.
    each: Option<Vec<bool>>,
}

fn verify_stmts(cx: &mut Verifier<'_>, scope: &mut Scope, stmts: &[Stmt]) {
    let outer = (scope.visible.clone(), scope.arrays.clone());
    for stmt in stmts {
        verify_stmt(cx, scope, &stmt.kind);
    }
    scope.visible = outer.0;
    // What ends here stays known, so that nothing declares it again.
    for (tile, named) in &mut scope.arrays {
        *named = outer.1.get(tile).copied().unwrap_or(false);
    }
}

fn verify_stmt(cx: &mut Verifier<'_>, scope: &mut Scope, kind: &StmtKind) {
    match kind {
        StmtKind::Let { var, init } => {
            if let Some(init) = init {
                verify_value(cx, scope, *init, Some(cx.var(*var).ty));
            } else {
                scope.without_value.push(*var);
            }
            declare(cx, scope, *var, |kind| matches!(kind, VarKind::Let { .. }));
        }
        StmtKind::LetArray { tile, init } => {
            let array = ArrayRef::Tile(*tile);
            if let Some(init) = init {
                let elem = Type::Scalar(cx.kernel.element_type(array));
                verify_value(cx, scope, *init, Some(elem));
            }
            let is_local = cx.kernel.is_local(array);
            cx.require(is_local, || format!("{tile} is shared and declared by a `let`"));
            let twice = scope.arrays.insert(*tile, true).is_some();
            cx.require(!twice, || format!("{tile} is declared twice"));
        }
        StmtKind::Assign { var, value } => {
            verify_value(cx, scope, *value, Some(cx.var(*var).ty));
            verify_target(cx, scope, *var, scope.without_value.contains(var));
        }
        StmtKind::Store { access, value } => {
            let elem = Type::Scalar(cx.kernel.element_type(access.array));
            verify_value(cx, scope, *value, Some(elem));
            verify_written(cx, scope, access);
        }
        StmtKind::Update { place, op, value } => {
            let ty = match place {
                Place::Var(var) => {
                    verify_target(cx, scope, *var, false);
                    cx.var(*var).ty
                }
                Place::Element(access) => {
                    verify_written(cx, scope, access);
                    Type::Scalar(cx.kernel.element_type(access.array))
                }
            };
            verify_value(cx, scope, *value, Some(ty));
            let has = has_binary(cx.kernel, *op, ty);
            cx.require(has, || format!("{op}= is applied to a type without it"));
        }
        StmtKind::Atomic { access, op, expected, value, old } => {
            let elem = cx.kernel.element_type(access.array);
            for value in expected.iter().chain([value]) {
                verify_value(cx, scope, *value, Some(Type::Scalar(elem)));
            }
            verify_written(cx, scope, access);
            let is_local = cx.kernel.is_local(access.array);
            cx.require(!is_local, || "a local array is updated atomically".to_owned());
            let has = cx.kernel.has_atomic(*op, elem);
            cx.require(has, || format!("{op} is applied to a type without it"));
            let compares = expected.is_some() == op.has_expected();
            cx.require(compares, || format!("{op} has another number of operands"));
            if let Some(old) = *old {
                let fits = cx.var(old).ty == Type::Scalar(elem);
                cx.require(fits, || format!("{old} is of another type than its element"));
                declare(cx, scope, old, |kind| matches!(kind, VarKind::Let { .. }));
            }
        }
        StmtKind::Exchange { var, op, value, lane } => {
            verify_exchange(cx, scope, (*var, *op), *value, *lane);
        }
        StmtKind::Each { axes, body, origin } => verify_each(cx, scope, axes, body, *origin),
        StmtKind::Phase { var, range, body } => {
            cx.require(scope.each.is_none(), || "a phase stands inside an `each`".to_owned());
            verify_loop(cx, scope, *var, range, body);
        }
        StmtKind::For { var, range, body } => verify_loop(cx, scope, *var, range, body),
        StmtKind::While { cond, body } => {
            verify_value(cx, scope, *cond, Some(Type::BOOL));
            verify_stmts(cx, scope, body);
        }
        StmtKind::If { cond, then, otherwise } => {
            verify_value(cx, scope, *cond, Some(Type::BOOL));
            verify_stmts(cx, scope, then);
            verify_stmts(cx, scope, otherwise);
        }
        StmtKind::Assume { cond } => verify_value(cx, scope, *cond, Some(Type::BOOL)),
        StmtKind::Distinct { values, .. } => {
            cx.require(scope.each.is_none(), || {
                "values of an `each` are said to differ".to_owned()
            });
            for value in values {
                verify_value(cx, scope, *value, None);
                let ty = cx.kernel.exprs[*value].ty;
                cx.require(ty == Type::Index || ty.integer_range().is_some(), || {
                    format!("{value} is said to differ, and is no integer")
                });
            }
        }
        StmtKind::Barrier => {
            cx.require(scope.each.is_none(), || "a barrier stands inside an `each`".to_owned());
        }
        StmtKind::WarpBarrier => require_items(cx, scope, "a warp barrier"),
    }
}

/// What work-items do together, which are those of the block domain.
fn require_items(cx: &mut Verifier<'_>, scope: &Scope, what: &str) {
    cx.require(scope.each.is_none(), || format!("{what} stands inside an `each`"));
    let has_items = cx.kernel.block.is_some();
    cx.require(has_items, || format!("{what} without a block domain"));
}

fn verify_exchange(
    cx: &mut Verifier<'_>,
    scope: &mut Scope,
    (var, op): (VarId, ExchangeOp),
    value: ExprId,
    lane: Option<ExprId>,
) {
    require_items(cx, scope, op.name());
    let (of, gives) = (cx.expr(value).ty, cx.var(var).ty);
    let fits = match op.binary() {
        _ if op.is_of_conditions() => of == Type::BOOL,
        Some(binary) => of != Type::Index && has_binary(cx.kernel, binary, of),
        None => of != Type::Index,
    };
    cx.require(fits, || format!("{} is applied to a type without it", op.name()));
    let result = if op == ExchangeOp::Ballot { U32 } else { of };
    cx.require(gives == result, || format!("{var} is of another type than its exchange"));
    verify_value(cx, scope, value, None);
    cx.require(lane.is_some() == op.takes_lane(), || format!("the lane of {}", op.name()));
    if let Some(lane) = lane {
        verify_value(cx, scope, lane, Some(Type::Index));
    }
    declare(cx, scope, var, |kind| kind == VarKind::Let { mutable: false });
}

fn verify_loop(
    cx: &mut Verifier<'_>,
    scope: &mut Scope,
    var: VarId,
    range: &LoopRange,
    body: &[Stmt],
) {
    for bound in range.exprs() {
        verify_value(cx, scope, bound, Some(Type::Index));
    }
    let outer = scope.visible.clone();
    declare(cx, scope, var, |kind| kind == VarKind::Loop);
    verify_stmts(cx, scope, body);
    scope.visible = outer;
}

fn verify_each(
    cx: &mut Verifier<'_>,
    scope: &mut Scope,
    axes: &[Axis],
    body: &[Stmt],
    origin: EachOrigin,
) {
    cx.require(scope.each.is_none(), || "an `each` stands inside an `each`".to_owned());
    verify_each_axes(cx, axes);
    if origin == EachOrigin::Load {
        let fills = fills_tile(cx, axes, body);
        cx.require(fills, || "a `load` does not fill a tile cell by cell".to_owned());
    }
    let outer = (scope.visible.clone(), scope.each.clone());
    scope.each = Some(scope.visible.clone());
    for axis in axes {
        declare(cx, scope, axis.var, |kind| kind == VarKind::Each);
    }
    let arrays = scope.arrays.clone();
    scope.arrays.values_mut().for_each(|named| *named = false);
    verify_stmts(cx, scope, body);
    for (tile, named) in arrays {
        scope.arrays.insert(tile, named);
    }
    (scope.visible, scope.each) = outer;
}

/// Whether the body is one store to a tile whose indices are the axes, in order.
fn fills_tile(cx: &Verifier<'_>, axes: &[Axis], body: &[Stmt]) -> bool {
    let [Stmt { kind: StmtKind::Store { access, .. }, .. }] = body else { return false };
    let is_axis = |(index, axis): (&ExprId, &Axis)| cx.expr(*index).kind == ExprKind::Var(axis.var);
    matches!(access.array, ArrayRef::Tile(_))
        && access.indices.len() == axes.len()
        && access.indices.iter().zip(axes).all(is_axis)
}

fn declare(
    cx: &mut Verifier<'_>,
    scope: &mut Scope,
    var: VarId,
    is_right: impl Fn(VarKind) -> bool,
) {
    let right = is_right(cx.var(var).kind);
    cx.require(right, || format!("{var} is declared by a statement of another kind"));
    let twice = std::mem::replace(&mut scope.declared[var.index()], true);
    cx.require(!twice, || format!("{var} is declared twice"));
    scope.visible[var.index()] = true;
}

/// A value that a statement uses: its type, and what it names.
fn verify_value(cx: &mut Verifier<'_>, scope: &Scope, id: ExprId, ty: Option<Type>) {
    if let Some(ty) = ty {
        cx.require_type(id, ty, "the value of a statement");
    }
    for var in mentions(cx.kernel, id).0 {
        verify_named(cx, scope, var);
    }
    for array in loaded_arrays(cx.kernel, id) {
        verify_reachable(cx, scope, array);
    }
}

/// An array that is named: a local one within the list that declares it.
fn verify_reachable(cx: &mut Verifier<'_>, scope: &Scope, array: ArrayRef) {
    let ArrayRef::Tile(tile) = array else { return };
    let named = !cx.kernel.is_local(array) || scope.arrays.get(&tile) == Some(&true);
    cx.require(named, || format!("{tile} is named where it is not in force"));
}

/// A variable that is named: in force, and in an `each` no axis of the block. Whether a
/// `let` outside is the block's is for [`crate::check`] to say.
fn verify_named(cx: &mut Verifier<'_>, scope: &Scope, var: VarId) {
    let visible = scope.visible[var.index()];
    cx.require(visible, || format!("{var} is named where it is not in force"));
    if cx.var(var).kind == VarKind::Block && scope.each.is_some() {
        cx.fault(format!("{var} is an axis of the block and is named inside an `each`"));
    }
}

/// A variable that is assigned; `first` where a value may be its first.
fn verify_target(cx: &mut Verifier<'_>, scope: &Scope, var: VarId, first: bool) {
    verify_named(cx, scope, var);
    let mutable = matches!(cx.var(var).kind, VarKind::Let { mutable } if mutable || first);
    cx.require(mutable, || format!("{var} is assigned and not mutable"));
    let before = scope.each.as_ref().is_some_and(|before| before[var.index()]);
    cx.require(!before, || format!("{var} is assigned inside an `each` that it is outside of"));
}

/// An element that is written.
fn verify_written(cx: &mut Verifier<'_>, scope: &Scope, access: &Access) {
    verify_access(cx, access);
    verify_reachable(cx, scope, access.array);
    for index in &access.indices {
        verify_value(cx, scope, *index, None);
    }
    if let ArrayRef::Tensor(tensor) = access.array {
        let mutable = cx.kernel.tensors[tensor].mutable;
        cx.require(mutable, || format!("{tensor} is written and not mutable"));
    }
}
