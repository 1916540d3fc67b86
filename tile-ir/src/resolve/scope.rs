//! What names stand for, and where they may be used.

use super::{Resolver, suggest};
use crate::diag::{Code, Diagnostic};
use crate::kernel::{ArrayRef, TensorId, TileId, VarId, VarKind};
use crate::span::SpanId;
use crate::syntax::Name;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// A value.
    Var(VarId),
    /// A tensor parameter.
    Tensor(TensorId),
    /// A shared tile.
    Tile(TileId),
    /// A constant beside the kernel.
    Const(usize),
    /// What a name of a function that is being written out stands for.
    Value(usize),
}

/// The names in force, innermost scope last. Later names shadow earlier ones.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    frames: Vec<Vec<(String, Binding)>>,
}

impl Scopes {
    pub(super) fn enter(&mut self) {
        self.frames.push(Vec::new());
    }

    pub(super) fn leave(&mut self) {
        self.frames.pop();
    }

    /// Number of open scopes.
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn declare(&mut self, name: &str, binding: Binding) {
        if let Some(frame) = self.frames.last_mut() {
            frame.push((name.to_owned(), binding));
        }
    }

    /// What `name` stands for, and the depth of the scope that declares it.
    pub(super) fn lookup(&self, name: &str) -> Option<(Binding, usize)> {
        let frames = self.frames.iter().enumerate().rev();
        let mut found = frames.filter_map(|(depth, frame)| {
            let entry = frame.iter().rev().find(|(declared, _)| declared == name)?;
            Some((entry.1, depth))
        });
        found.next()
    }

    /// All names in force, innermost first.
    fn names(&self) -> impl Iterator<Item = &str> {
        let entries = self.frames.iter().rev().flat_map(|frame| frame.iter().rev());
        entries.map(|(name, _)| name.as_str())
    }
}

/// Which values an expression may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// All in force.
    Body,
    /// Tile parameters; the text says of what ("the extents of a tile").
    TileParams(&'static str),
    /// Dimensions and tile parameters.
    Dims(&'static str),
    /// None.
    Constants(&'static str),
}

/// The `load` or `each` around a statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collective {
    /// `load` or `each`.
    pub(super) word: &'static str,
    /// Names declared in scopes below this depth stand outside of it.
    pub(super) depth: usize,
    /// Its keyword.
    pub(super) span: SpanId,
}

/// What `name` stands for; reports an unknown name.
pub(super) fn resolve_name(cx: &mut Resolver, name: &Name) -> Option<Binding> {
    if cx.ambiguous.contains(&name.text) {
        return None;
    }
    if let Some((binding, depth)) = cx.scopes.lookup(&name.text) {
        return may_be_named(cx, name, binding, depth).then_some(binding);
    }
    let mut diagnostic = Diagnostic::error(
        Code::UnknownName,
        name.span,
        format!("`{}` is not declared here", name.text),
    );
    if let Some(near) = suggest::nearest(&name.text, cx.scopes.names()) {
        diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
    } else if let Naming::Dims(of) = cx.naming {
        diagnostic = diagnostic.help(format!(
            "{of} are made of the extents of tensors, such as `N` of `Tensor<f32, [N]>`, and of tile \
             parameters"
        ));
    }
    cx.diags.push(diagnostic);
    None
}

/// Reports a name that is known but may not be used here.
fn may_be_named(cx: &mut Resolver, name: &Name, binding: Binding, depth: usize) -> bool {
    let (kind, what) = match binding {
        Binding::Const(_) | Binding::Value(_) => return true,
        Binding::Var(var) => {
            let kind = cx.kernel.vars[var].kind;
            (Some((var, kind)), describe_kind(kind))
        }
        Binding::Tensor(_) => (None, "a tensor"),
        Binding::Tile(tile) if cx.kernel.is_local(ArrayRef::Tile(tile)) => (None, "an array"),
        Binding::Tile(_) => (None, "a tile"),
    };
    let of_kind = kind.map(|(_, kind)| kind);
    let fault = match cx.naming {
        Naming::Body if binding_is_local(cx, binding) => {
            return may_be_reached(cx, name, depth);
        }
        Naming::Body => {
            return kind.is_none_or(|(var, _)| may_be_named_in_collective(cx, name, var, depth));
        }
        Naming::TileParams(_) if matches!(of_kind, Some(VarKind::TileParam(_))) => None,
        Naming::TileParams(of) => Some((of, "tile parameters and literals")),
        Naming::Dims(_) if matches!(of_kind, Some(VarKind::TileParam(_) | VarKind::Dim)) => None,
        Naming::Dims(of) => Some((of, "dimensions, tile parameters and literals")),
        Naming::Constants(of) => Some((of, "literals and constants such as `T::MAX`")),
    };
    let Some((of, made_of)) = fault else { return true };
    cx.diags.push(Diagnostic::error(
        Code::MisusedName,
        name.span,
        format!("`{}` is {what}; {of} can only be made of {made_of}", name.text),
    ));
    false
}

fn binding_is_local(cx: &Resolver, binding: Binding) -> bool {
    match binding {
        Binding::Tile(tile) => cx.kernel.is_local(ArrayRef::Tile(tile)),
        Binding::Var(_) | Binding::Tensor(_) | Binding::Const(_) | Binding::Value(_) => false,
    }
}

/// Reports a local array that is named by other threads than have it.
fn may_be_reached(cx: &mut Resolver, name: &Name, depth: usize) -> bool {
    let Some(collective) = cx.collective.filter(|collective| depth < collective.depth) else {
        return true;
    };
    let (word, text) = (collective.word, &name.text);
    let owner = if cx.kernel.block.is_some() { "one work-item" } else { "one thread of the block" };
    cx.diags.push(
        Diagnostic::error(
            Code::MisusedName,
            name.span,
            format!("the array `{text}` belongs to {owner}, which `{word}` cannot name"),
        )
        .label(
            collective.span,
            format!("the whole block shares this `{word}` out among its threads"),
        )
        .help(format!(
            "declare `{text}` inside of the `{word}`, or as a tile: `shared {text}: …;`"
        )),
    );
    false
}

fn may_be_named_in_collective(cx: &mut Resolver, name: &Name, var: VarId, depth: usize) -> bool {
    let Some(collective) = cx.collective else { return true };
    // Whether a `let` is the whole block's is known when all of the body is.
    if depth >= collective.depth || cx.kernel.vars[var].kind != VarKind::Block {
        return true;
    }
    let (word, text) = (collective.word, &name.text);
    let declared = cx.kernel.vars[var].span;
    let message = format!("`{text}` is an axis of the block, which `{word}` cannot name");
    cx.diags.push(
        Diagnostic::error(Code::MisusedName, name.span, message)
            .label(collective.span, format!("the whole block shares this `{word}` out among its threads"))
            .label(declared, format!("`{text}` is declared here"))
            .help(format!(
                "use the indices of the `{word}` itself, grid axes, loop counters, parameters and tiles"
            )),
    );
    false
}

/// A variable's kind in the user's words.
pub(super) fn describe_kind(kind: VarKind) -> &'static str {
    match kind {
        VarKind::Dim => "a dimension, known only at launch",
        VarKind::TileParam(_) => "a tile parameter",
        VarKind::Scalar(_) => "a scalar parameter",
        VarKind::Grid => "an axis of the grid",
        VarKind::Block => "an axis of the block",
        VarKind::Each => "an index of the loop around it",
        VarKind::Loop => "a loop counter",
        VarKind::Let { .. } => "a variable",
    }
}

/// The array that `name` stands for; reports what is not one.
pub(super) fn resolve_array(cx: &mut Resolver, name: &Name) -> Option<ArrayRef> {
    match resolve_name(cx, name)? {
        Binding::Tensor(tensor) => Some(ArrayRef::Tensor(tensor)),
        Binding::Tile(tile) => Some(ArrayRef::Tile(tile)),
        Binding::Const(_) | Binding::Value(_) => {
            let message = format!("`{}` is a value and has no elements", name.text);
            cx.error(Code::MisusedName, name.span, message);
            None
        }
        Binding::Var(var) => {
            let what = describe_kind(cx.kernel.vars[var].kind);
            cx.diags.push(Diagnostic::error(
                Code::MisusedName,
                name.span,
                format!("`{}` is {what} and has no elements", name.text),
            ));
            None
        }
    }
}
