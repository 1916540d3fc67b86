//! Names and types: from the syntax tree to the kernel.
//!
//! One walk over the tree declares names, lowers expressions into the kernel's
//! arena and infers types by unification; literals and untyped `let`s stay open
//! until they are used. Whether an operation exists for its operands' type is
//! asked at the end, when all types are known ([`operate`]).
//!
//! Four places convert by themselves ([`convert`]): index positions, loop
//! bounds and comparisons with an index take integers; the leaves of
//! `acc ⊕= e` are widened to the accumulator's type; an accumulator stored to a
//! floating-point tensor is rounded. Counters of loops between integers of one type
//! are values of that type where such are needed ([`counter`]). Such a cast has its
//! operand's span.
//!
//! `return`, `break` and `continue` become conditions on what follows ([`jump`]).
//! Functions and constants that stand beside the kernel are written out where they
//! are named ([`function`]), after they have been checked by themselves ([`library`]).
//!
//! A mistake is reported once: what is built on it has the type
//! [`types::Ty::Poison`], which agrees with everything.

mod array;
mod assume;
mod call;
mod compose;
mod convert;
mod counter;
mod domain;
mod each;
mod edge;
mod exchange;
mod expr;
mod foreign;
mod function;
mod header;
mod jump;
mod library;
mod literal;
mod operate;
mod scope;
mod sizes;
mod stmt;
mod suggest;
mod type_expr;
mod types;

use std::rc::Rc;

use crate::arena::Arena;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{ArrayRef, Expr, ExprId, ExprKind, Kernel, Stmt, Type, Var, VarId, VarKind};
use crate::span::SpanId;
use crate::span::SpanTable;
use crate::syntax::{KernelItem, Library, Name};
pub use call::is_built_in;
use counter::Counted;
use exchange::Conditional;
use function::{Frame, Value};
use jump::Jumps;
pub use library::check_library;
use operate::Obligation;
use scope::{Binding, Collective, Naming, Scopes};
pub use suggest::nearest;
use types::{InferTable, Ty};

/// Resolves a kernel.
///
/// # Errors
///
/// All mistakes found, at the user's tokens, in the order of the text.
pub fn resolve_kernel(item: &KernelItem) -> Result<Kernel, Diagnostics> {
    check_library(&item.library, &item.spans)?;
    let mut cx = Resolver::new(empty_kernel(item), &item.library);
    function::declare_consts(&mut cx);
    header::resolve_header(&mut cx, item);
    cx.naming = Naming::Body;
    cx.scopes.enter();
    let body = jump::resolve_body(&mut cx, &item.body);
    cx.scopes.leave();
    cx.kernel.body = body;
    header::require_output(&mut cx, item);
    let kernel = cx.finish()?;
    sizes::require_sizes(&kernel)?;
    Ok(kernel)
}

/// The state of a resolution.
struct Resolver {
    /// The kernel so far. The types of its expressions and variables are
    /// provisional; the true ones stand in `expr_types` and `var_types`.
    kernel: Kernel,
    expr_types: Vec<Ty>,
    var_types: Vec<Ty>,
    infer: InferTable,
    scopes: Scopes,
    naming: Naming,
    collective: Option<Collective>,
    jumps: Jumps,
    /// Names of the header that stand for two things, which was reported.
    ambiguous: Vec<String>,
    /// Exchanges in the expressions of the present statement, which come before it.
    hoisted: Vec<Stmt>,
    /// Why an expression here need not be evaluated, if that is so.
    conditional: Option<Conditional>,
    /// The conditions of the expression around, outermost first, and whether they
    /// hold where the present one is evaluated.
    path: Vec<(ExprId, bool)>,
    /// What stands beside the kernel.
    library: Rc<Library>,
    /// The functions that are being written out, innermost last.
    frames: Vec<Frame>,
    /// What the functions' names stand for.
    values: Vec<Value>,
    /// Whether a call stands for itself: the library is checked, no kernel made.
    signatures_only: bool,
    /// How many expressions there were before the present statement.
    statement_start: usize,
    /// `let`s without a value, which one assignment may still give.
    deferred: Vec<VarId>,
    /// Arrays whose element type was reported.
    poisoned: Vec<ArrayRef>,
    /// Counters of loops whose bounds are integers of one type.
    counters: Vec<(VarId, Counted)>,
    obligations: Vec<Obligation>,
    diags: Diagnostics,
}

/// The kernel before anything of it is resolved.
fn empty_kernel(item: &KernelItem) -> Kernel {
    Kernel {
        name: item.name.text.clone(),
        docs: item.docs.clone(),
        type_params: Arena::new(),
        params: Vec::new(),
        tensors: Arena::new(),
        scalars: Arena::new(),
        tile_params: Arena::new(),
        constraints: Vec::new(),
        grid: Vec::new(),
        block: None,
        tiles: Arena::new(),
        vars: Arena::new(),
        exprs: Arena::new(),
        body: Vec::new(),
        exits: Vec::new(),
        promises: Vec::new(),
        spans: item.spans.clone(),
        span: item.name.span,
    }
}

impl Resolver {
    fn new(kernel: Kernel, library: &Library) -> Self {
        Self {
            kernel,
            expr_types: Vec::new(),
            var_types: Vec::new(),
            infer: InferTable::default(),
            scopes: Scopes::default(),
            naming: Naming::Body,
            collective: None,
            jumps: Jumps::default(),
            ambiguous: Vec::new(),
            hoisted: Vec::new(),
            conditional: None,
            path: Vec::new(),
            library: Rc::new(library.clone()),
            frames: Vec::new(),
            values: Vec::new(),
            signatures_only: false,
            statement_start: 0,
            deferred: Vec::new(),
            poisoned: Vec::new(),
            counters: Vec::new(),
            obligations: Vec::new(),
            diags: Diagnostics::new(),
        }
    }

    /// Adds an expression. Its operands are there already, so their ids are smaller.
    fn push(&mut self, kind: ExprKind, ty: Ty, span: SpanId) -> ExprId {
        self.expr_types.push(ty);
        // What is not known yet is filled in at the end.
        let known = match ty {
            Ty::Known(known) => known,
            Ty::Infer(_) | Ty::Poison => Type::Index,
        };
        self.kernel.exprs.push(Expr { kind, ty: known, span })
    }

    /// Stands for an expression that was reported.
    fn push_poison(&mut self, span: SpanId) -> ExprId {
        self.push(ExprKind::Literal(crate::kernel::Literal::Int(0)), Ty::Poison, span)
    }

    /// What is known by now of an expression's type.
    fn type_of(&self, id: ExprId) -> Ty {
        use crate::arena::EntityId as _;
        self.infer.resolve(self.expr_types[id.index()])
    }

    /// What is known by now of a variable's type.
    fn var_type(&self, id: VarId) -> Ty {
        use crate::arena::EntityId as _;
        self.infer.resolve(self.var_types[id.index()])
    }

    /// Makes a variable without giving it its name yet.
    fn new_var(&mut self, name: &Name, ty: Ty, kind: VarKind) -> VarId {
        self.var_types.push(ty);
        self.kernel.vars.push(Var {
            name: name.text.clone(),
            ty: Type::Index,
            kind,
            accumulator: false,
            span: name.span,
        })
    }

    /// Makes a variable and brings its name into force.
    fn declare_var(&mut self, name: &Name, ty: Ty, kind: VarKind) -> VarId {
        let var = self.new_var(name, ty, kind);
        self.scopes.declare(&name.text, Binding::Var(var));
        var
    }

    fn error(&mut self, code: Code, span: SpanId, message: impl Into<String>) {
        self.diags.push(Diagnostic::error(code, span, message));
    }

    /// Gives every expression and variable its final type, asks what could only
    /// be asked now, and hands the kernel over.
    fn finish(mut self) -> Result<Kernel, Diagnostics> {
        for (var, ty) in self.var_types.clone().into_iter().enumerate() {
            let id = <VarId as crate::arena::EntityId>::from_index(var);
            self.settle_var(id, ty);
        }
        operate::discharge(&mut self);
        literal::check_ranges(&mut self);
        for ((_, expr), ty) in self.kernel.exprs.iter_mut().zip(&self.expr_types) {
            if let Some(ty) = self.infer.settle(*ty) {
                expr.ty = ty;
            }
        }
        convert::settle_counts(&mut self.kernel);
        if self.diags.is_empty() {
            return Ok(self.kernel);
        }
        Err(in_order_of_text(self.diags, &self.kernel.spans))
    }

    fn settle_var(&mut self, id: VarId, ty: Ty) {
        match self.infer.settle(ty) {
            Some(ty) => self.kernel.vars[id].ty = ty,
            None if self.infer.resolve(ty) == Ty::Poison => {}
            None => {
                let (name, span) = (self.kernel.vars[id].name.clone(), self.kernel.vars[id].span);
                self.diags.push(
                    Diagnostic::error(
                        Code::TypeMismatch,
                        span,
                        format!("nothing says which type `{name}` has"),
                    )
                    .help(format!("write the type: `let {name}: f32`")),
                );
            }
        }
    }
}

fn in_order_of_text(diags: Diagnostics, spans: &SpanTable) -> Diagnostics {
    let mut list: Vec<Diagnostic> = diags.into_iter().collect();
    list.sort_by_key(|diagnostic| {
        let range = spans.range(diagnostic.primary);
        (range.line, range.column)
    });
    let mut sorted = Diagnostics::new();
    list.into_iter().for_each(|diagnostic| sorted.push(diagnostic));
    sorted
}
