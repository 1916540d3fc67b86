//! Statements: each at its scope, of the types that it needs.
//!
//! All threads of a block take the same way through the statements at block
//! scope, since what decides there is the same for all: it reads no coordinate,
//! no fragment, no variable of an item, and no memory that the kernel writes; but
//! for reads that the checks have shown to give all threads one value, and for
//! variables that are declared between two barriers with nothing else there,
//! which may read tiles: nobody writes one meanwhile. A barrier stands only at
//! block scope, so every thread meets it.

use std::collections::{BTreeMap, BTreeSet};

use super::expr::{evaluated, verify_access, verify_read};
use super::{Place, Verifier};
use crate::arena::EntityId as _;
use crate::dtype::DType;
use crate::program::{
    Access, BufferSpace, DomainId, ExprId, ExprKind, ItemLayout, LoopRange, Participants, Scope,
    Stmt, StmtKind, Target, TileSpace, TokenId, Ty, Unroll, VarId,
};

pub(super) fn verify_body(cx: &mut Verifier<'_>) {
    let kernel = cx.kernel;
    let mut walk = Walk::default();
    walk.list(cx, &kernel.body, None);
    for (token, &at) in &walk.waited {
        cx.place = Place::Stmt(at);
        let is_issued = walk.issued.contains_key(token);
        cx.require(is_issued, || format!("nothing is in flight under token {token}"));
    }
    for (token, &at) in &walk.issued {
        cx.place = Place::Stmt(at);
        let is_waited = walk.waited.contains_key(token);
        cx.require(is_waited, || format!("nothing waits for token {token}"));
        let is_committed = walk.committed.contains_key(token);
        cx.require(is_committed, || format!("nothing closes the group of token {token}"));
    }
}

#[derive(Default)]
struct Walk {
    /// Of the present statement.
    number: usize,
    /// The last statement that issues each token.
    issued: BTreeMap<TokenId, usize>,
    /// The last statement that closes a group of each.
    committed: BTreeMap<TokenId, usize>,
    /// The last statement that waits for each.
    waited: BTreeMap<TokenId, usize>,
}

impl Walk {
    /// Statements of the block, or of the items of a domain.
    fn list(&mut self, cx: &mut Verifier<'_>, stmts: &[Stmt], items: Option<DomainId>) {
        for (position, stmt) in stmts.iter().enumerate() {
            cx.place = Place::Stmt(self.number);
            self.stmt(cx, stmt, items, is_between_barriers(stmts, position));
            self.number += 1;
            let items = match stmt.kind {
                StmtKind::Items { domain, .. } => Some(domain),
                _ => items,
            };
            for body in stmt.kind.bodies() {
                self.list(cx, body, items);
            }
        }
    }

    /// `tiles_rest` where nobody writes a tile while the statement runs.
    fn stmt(
        &mut self,
        cx: &mut Verifier<'_>,
        stmt: &Stmt,
        items: Option<DomainId>,
        tiles_rest: bool,
    ) {
        let scope = if items.is_some() { Scope::Thread } else { Scope::Block };
        let is_of_warp = matches!(
            stmt.kind,
            StmtKind::Shuffle { .. } | StmtKind::Ballot { .. } | StmtKind::WarpBarrier
        );
        if is_of_warp {
            verify_warp(cx, stmt, items);
        } else {
            cx.require(stmt.scope == scope, || match items {
                Some(_) => "a statement of an item is not at thread scope".to_owned(),
                None => "a statement outside items is not at block scope".to_owned(),
            });
        }
        let mut exprs = Vec::new();
        stmt.kind.for_each_expr(&mut |expr| exprs.push(expr));
        match items {
            Some(domain) => verify_item_values(cx, &exprs, domain),
            None => verify_uniform_values(cx, &exprs, tiles_rest),
        }
        match &stmt.kind {
            StmtKind::Let { var, value } => {
                require_scope(cx, *var, scope);
                if let Some(value) = value {
                    require_value_of(cx, *value, *var);
                }
            }
            StmtKind::Assign { var, value } => {
                require_scope(cx, *var, scope);
                require_value_of(cx, *value, *var);
            }
            StmtKind::SetFragment { fragment, value } => {
                let info = &cx.kernel.fragments[*fragment];
                cx.require(items == Some(info.domain), || {
                    format!("`{}` holds values of the items of {}", info.name, info.domain)
                });
                cx.require_type(*value, info.ty, "what the fragment is set to");
            }
            StmtKind::Store { access, value } => {
                require_single_items(cx, items, "memory is written");
                verify_write(cx, access, items);
                let ty = Ty::Scalar(cx.kernel.element_type(access.target));
                cx.require_type(*value, ty, "what is stored");
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                require_single_items(cx, items, "memory is updated");
                verify_write(cx, access, items);
                let dtype = cx.kernel.element_type(access.target);
                cx.require_type(*value, Ty::Scalar(dtype), "what an element is updated with");
                cx.require(op.exists_for(dtype), || format!("{dtype} has no {op}"));
                cx.require(access.width == 1, || "an atomic update of a vector".to_owned());
                if let Some(expected) = expected {
                    cx.require_type(*expected, Ty::Scalar(dtype), "what an element must hold");
                }
                let compares = expected.is_some() == op.has_expected();
                cx.require(compares, || format!("{op} has another number of operands"));
                if let Some(old) = *old {
                    require_scope(cx, old, scope);
                    let fits = cx.kernel.vars[old].ty == Ty::Scalar(dtype);
                    cx.require(fits, || format!("{dtype} is kept in {old}"));
                    let has_pad = access.pad.is_some() || !access.is_guarded();
                    cx.require(has_pad, || "an old value that may be none".to_owned());
                }
            }
            StmtKind::Copy { dst, src, token } => {
                require_single_items(cx, items, "memory is copied");
                verify_write(cx, dst, items);
                verify_access(cx, src);
                verify_read(cx, src);
                let [to, from] = [dst, src].map(|access| cx.kernel.element_type(access.target));
                cx.require(to == from, || format!("{from} is copied to {to}"));
                let constant = match src.target {
                    Target::Buffer(id) => cx.kernel.buffers[id].space != BufferSpace::Global,
                    Target::Tile(_) => false,
                };
                cx.require(token.is_none() || !constant, || {
                    "constant memory is copied asynchronously".to_owned()
                });
                let (read, written) = (src.width, dst.width);
                cx.require(token.is_none() || read == written, || {
                    format!("an asynchronous copy reads {read} elements and writes {written}")
                });
                self.issued.extend(token.map(|token| (token, self.number)));
            }
            StmtKind::Assume(fact) => {
                cx.require(items.is_some(), || "an assumption stands outside items".to_owned());
                cx.require_type(fact.cond, Ty::BOOL, "what is assumed");
            }
            StmtKind::Commit(token) => {
                require_block(cx, items, "the end of a group");
                self.committed.insert(*token, self.number);
            }
            StmtKind::Wait { token, .. } => {
                require_block(cx, items, "a wait");
                self.waited.insert(*token, self.number);
            }
            StmtKind::Items { .. } => require_block(cx, items, "a loop over items"),
            StmtKind::For { var, range, unroll, .. } => {
                require_scope(cx, *var, scope);
                verify_range(cx, *var, range, *unroll);
            }
            StmtKind::While { cond, .. } | StmtKind::If { cond, .. } => {
                cx.require_type(*cond, Ty::BOOL, "a condition");
            }
            StmtKind::Shuffle { var, value, lane } => {
                require_scope(cx, *var, scope);
                require_value_of(cx, *value, *var);
                let lane_ty = cx.expr(*lane).ty;
                cx.require(lane_ty.is_index(), || format!("a lane is {lane_ty} and no index"));
            }
            StmtKind::Ballot { var, cond } => {
                require_scope(cx, *var, scope);
                let ty = cx.kernel.vars[*var].ty;
                cx.require(ty == Ty::Scalar(DType::U32), || format!("a ballot is {ty}, not u32"));
                cx.require_type(*cond, Ty::BOOL, "a condition");
            }
            StmtKind::WarpBarrier => {}
            StmtKind::Barrier(participants) => {
                require_block(cx, items, "a barrier");
                verify_participants(cx, stmt, *participants);
            }
        }
    }
}

/// Whether the statement is one of several declarations between two barriers,
/// with nothing else there.
fn is_between_barriers(stmts: &[Stmt], position: usize) -> bool {
    let (before, after) = stmts.split_at(position);
    let next = after.iter().find(|stmt| !is_let(stmt));
    is_let(&stmts[position])
        && ends_with_barrier(before)
        && next.is_some_and(|stmt| stmt.kind == StmtKind::Barrier(Participants::Block))
}

fn is_let(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Let { .. })
}

/// Whether a barrier comes last but for declarations, also where loops that end
/// with one run no iteration.
fn ends_with_barrier(stmts: &[Stmt]) -> bool {
    let Some(last) = stmts.iter().rposition(|stmt| !is_let(stmt)) else { return false };
    match &stmts[last].kind {
        StmtKind::Barrier(Participants::Block) => true,
        StmtKind::For { body, .. } => ends_with_barrier(body) && ends_with_barrier(&stmts[..last]),
        _ => false,
    }
}

fn require_block(cx: &mut Verifier<'_>, items: Option<DomainId>, what: &str) {
    cx.require(items.is_none(), || {
        format!("{what} stands inside items, which not every thread runs")
    });
}

/// A warp's items are a warp's threads: each thread has one item of the block
/// domain, in order.
fn verify_warp(cx: &mut Verifier<'_>, stmt: &Stmt, items: Option<DomainId>) {
    cx.require(stmt.scope == Scope::Warp, || {
        "what a warp does together is not at warp scope".to_owned()
    });
    let Some(id) = items else {
        cx.require(false, || "a warp's items do something together outside items".to_owned());
        return;
    };
    let domain = &cx.kernel.domains[id];
    let in_order = domain.layout == ItemLayout::one_per_thread(&domain.extents());
    cx.require(in_order, || "a warp's items are not on a warp's threads".to_owned());
}

/// Memory is written by items that are on one thread each.
fn require_single_items(cx: &mut Verifier<'_>, items: Option<DomainId>, what: &str) {
    cx.require(items.is_some(), || format!("{what} outside items, by every thread"));
    let is_single = items.is_none_or(|domain| cx.kernel.domains[domain].projection.is_none());
    cx.require(is_single, || format!("{what} by items of a projection, by several threads each"));
}

/// A variable is declared and assigned at its own scope only.
fn require_scope(cx: &mut Verifier<'_>, var: VarId, scope: Scope) {
    let info = &cx.kernel.vars[var];
    cx.require(info.scope == scope, || match scope {
        Scope::Block => format!("`{}` is an item's and is set outside items", info.name),
        _ => format!("`{}` is the block's and is set inside items", info.name),
    });
}

fn require_value_of(cx: &mut Verifier<'_>, value: ExprId, var: VarId) {
    let info = &cx.kernel.vars[var];
    cx.require_type(value, info.ty, &format!("the value of `{}`", info.name));
}

/// The domain whose items have a copy each of what is accessed.
fn owner(cx: &Verifier<'_>, access: &Access) -> Option<DomainId> {
    let Target::Tile(id) = access.target else { return None };
    match cx.kernel.tiles[id].space {
        TileSpace::Shared => None,
        TileSpace::Local(domain) => Some(domain),
    }
}

fn verify_write(cx: &mut Verifier<'_>, access: &Access, items: Option<DomainId>) {
    verify_access(cx, access);
    if let Some(domain) = owner(cx, access) {
        cx.require(items == Some(domain), || {
            format!("an array of the items of {domain} is written")
        });
    }
    if let Target::Buffer(id) = access.target {
        let info = &cx.kernel.buffers[id];
        cx.require(info.written, || {
            format!("`{}` is written and is marked as never written", info.name)
        });
    }
}

fn verify_range(cx: &mut Verifier<'_>, var: VarId, range: &LoopRange, unroll: Unroll) {
    let ty = cx.kernel.vars[var].ty;
    cx.require(ty.is_index(), || format!("the counter is {ty} and no index"));
    let is_literal = |cx: &Verifier<'_>, id| matches!(cx.expr(id).kind, ExprKind::Literal(_));
    let is_constant = match *range {
        LoopRange::Between { start, end, step, .. } => {
            for id in [start, end, step] {
                cx.require_type(id, ty, "a bound of the loop");
            }
            [start, end, step].into_iter().all(|id| is_literal(cx, id))
        }
        LoopRange::Halving(n) | LoopRange::Doubling(n) => {
            cx.require_type(n, ty, "the bound of the loop");
            is_literal(cx, n)
        }
    };
    match unroll {
        Unroll::Full => {
            cx.require(is_constant, || "a loop without constant bounds is unrolled".to_owned());
        }
        Unroll::By(count) => {
            cx.require(count > 0, || "a body is repeated 0 times".to_owned());
        }
        Unroll::Never | Unroll::Auto => {}
    }
}

fn verify_participants(cx: &mut Verifier<'_>, stmt: &Stmt, participants: Participants) {
    let role = match participants {
        Participants::Block => None,
        Participants::Role(role) => Some(role),
    };
    let waits = role.map_or(0, |role| role.index());
    cx.require(stmt.role.index() == waits, || {
        "a barrier's participants are not those that run it".to_owned()
    });
}

/// Values of an item: coordinates are those of its own domain, fragments also
/// those of its projections.
fn verify_item_values(cx: &mut Verifier<'_>, exprs: &[ExprId], domain: DomainId) {
    for id in evaluated_by(cx, exprs) {
        let (of, is_own) = match cx.expr(id).kind {
            ExprKind::Coord { domain: of, .. } => (of, of == domain),
            ExprKind::Fragment(fragment) => {
                let of = cx.kernel.fragments[fragment].domain;
                let whole = cx.kernel.domains[of].projection.as_ref().map(|whole| whole.domain);
                (of, of == domain || whole == Some(domain))
            }
            ExprKind::Load(ref access) => match owner(cx, access) {
                Some(of) => (of, of == domain),
                None => continue,
            },
            _ => continue,
        };
        cx.require_that(is_own, id, || format!("which is of {of}, is read by an item of {domain}"));
    }
}

/// Values at block scope: the same for all threads.
fn verify_uniform_values(cx: &mut Verifier<'_>, exprs: &[ExprId], tiles_rest: bool) {
    for id in evaluated_by(cx, exprs) {
        let fault = match &cx.expr(id).kind {
            ExprKind::Coord { .. } | ExprKind::Fragment(_) => Some("of one item"),
            ExprKind::Var(var) if cx.kernel.vars[*var].scope != Scope::Block => Some("of one item"),
            ExprKind::Load(access) if access.agreed => None,
            ExprKind::Load(access) => match access.target {
                Target::Buffer(buffer) if !cx.kernel.buffers[buffer].written => None,
                Target::Tile(_) if owner(cx, access).is_some() => Some("of one item"),
                Target::Tile(_) if tiles_rest => None,
                Target::Buffer(_) | Target::Tile(_) => Some("in memory that the kernel writes"),
            },
            _ => None,
        };
        if let Some(fault) = fault {
            cx.require_that(false, id, || {
                format!("{fault}, is read outside items: threads may differ")
            });
        }
    }
}

fn evaluated_by(cx: &Verifier<'_>, exprs: &[ExprId]) -> BTreeSet<ExprId> {
    exprs.iter().flat_map(|&expr| evaluated(cx, expr)).collect()
}
