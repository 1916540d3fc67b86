//! Index expressions as polynomials with integer coefficients, to be compared
//! for all sizes: what is equal as a polynomial is equal at every size.
//!
//! Used where equality and plain sign arguments decide (initialisation, pads).
//! Nothing here is exact: [`Bounds::is_never_negative`] may fail to see it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::kernel::{
    Axis, ElemType, ExprId, ExprKind, Kernel, Literal, Place, Stmt, StmtKind, TileDomain, Type,
    VarId, VarKind, gcd,
};
use crate::op::{BinaryOp, UnaryOp};

/// An unknown integer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// The value of a variable, now.
    Var(VarId),
    /// The value of a variable at another time, or of another work-item.
    Other(VarId),
    /// The distance of a variable to its least or greatest value, at least 0.
    Slack(VarId),
    /// A value of which nothing is known; equal only to itself.
    Unknown(u32),
    /// The same, of an unsigned type: at least 0.
    Natural(u32),
    /// Any value: two of these need not be equal.
    Any,
    /// A function of polynomials that is not one itself.
    Tiles(Box<(Poly, Poly)>),
    /// The same of an operator.
    Binary(BinaryOp, Box<(Poly, Poly)>),
    /// A value of the first type in the second one.
    Cast(Box<Poly>, [Type; 2]),
}

/// A sum of products of atoms, each with its factor. No factor is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Poly {
    /// By product, rising: there are few, which a list holds best.
    terms: Vec<(Vec<Atom>, i128)>,
}

impl Atom {
    /// What it is where `with` replaces variables; `None` where it stays what it is.
    fn replaced(&self, with: &dyn Fn(VarId) -> Option<Poly>) -> Option<Poly> {
        let both = |parts: &(Poly, Poly)| Box::new((parts.0.replace(with), parts.1.replace(with)));
        match self {
            Self::Var(var) => with(*var),
            Self::Other(_) | Self::Slack(_) | Self::Unknown(_) | Self::Natural(_) | Self::Any => {
                None
            }
            Self::Tiles(parts) => Some(Poly::atom(Self::Tiles(both(parts)))),
            Self::Binary(op, parts) => Some(Poly::atom(Self::Binary(*op, both(parts)))),
            Self::Cast(of, types) => {
                Some(Poly::atom(Self::Cast(Box::new(of.replace(with)), *types)))
            }
        }
    }
}

impl Poly {
    pub(super) fn constant(value: i128) -> Self {
        let mut poly = Self::default();
        poly.add_term(Vec::new(), value);
        poly
    }

    pub(super) fn atom(atom: Atom) -> Self {
        Self { terms: vec![(vec![atom], 1)] }
    }

    pub(super) fn var(var: VarId) -> Self {
        Self::atom(Atom::Var(var))
    }

    /// Whether no factor is negative.
    fn has_no_minus(&self) -> bool {
        self.terms.iter().all(|(_, factor)| *factor > 0)
    }

    /// The products of its sum, each with its factor.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Atom], i128)> {
        self.terms.iter().map(|(product, factor)| (product.as_slice(), *factor))
    }

    /// The variable that this is, alone.
    pub(super) fn as_var(&self) -> Option<VarId> {
        match self.terms.as_slice() {
            [(product, 1)] => match product.as_slice() {
                [Atom::Var(var)] => Some(*var),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn as_constant(&self) -> Option<i128> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(product, factor)] if product.is_empty() => Some(*factor),
            _ => None,
        }
    }

    /// Factors saturate: indices have 64 bits, so one that large is of no use.
    fn add_term(&mut self, product: Vec<Atom>, factor: i128) {
        match self.terms.binary_search_by(|(own, _)| own.cmp(&product)) {
            Ok(at) => {
                let sum = self.terms[at].1.saturating_add(factor);
                self.terms[at].1 = sum;
                if sum == 0 {
                    self.terms.remove(at);
                }
            }
            Err(_) if factor == 0 => {}
            Err(at) => self.terms.insert(at, (product, factor)),
        }
    }

    pub(super) fn add(mut self, other: &Self) -> Self {
        for (product, factor) in &other.terms {
            self.add_term(product.clone(), *factor);
        }
        self
    }

    pub(super) fn sub(self, other: &Self) -> Self {
        self.add(&other.scaled(-1))
    }

    fn scaled(&self, by: i128) -> Self {
        if by == 0 {
            return Self::default();
        }
        let scaled =
            |(product, factor): &(Vec<Atom>, i128)| (product.clone(), factor.saturating_mul(by));
        Self { terms: self.terms.iter().map(scaled).collect() }
    }

    /// The tightest polynomial that is at least 0 where this is, by what its
    /// factors have in common.
    pub(super) fn primitive(self) -> Self {
        let products = self.terms.iter().filter(|(product, _)| !product.is_empty());
        let divisor = products.fold(0, |divisor, (_, factor)| gcd(divisor, *factor));
        if divisor < 2 {
            return self;
        }
        // Only the constant is no multiple.
        let terms = self.terms.into_iter();
        let divided = terms.map(|(product, factor)| (product, factor.div_euclid(divisor)));
        Self { terms: divided.filter(|(_, factor)| *factor != 0).collect() }
    }

    pub(super) fn mul(&self, other: &Self) -> Self {
        let mut out = Self::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut product: Vec<Atom> = left.iter().chain(right).cloned().collect();
                product.sort();
                out.add_term(product, a.saturating_mul(*b));
            }
        }
        out
    }

    /// Replaces variables, inside functions too.
    pub(super) fn replace(&self, with: &dyn Fn(VarId) -> Option<Poly>) -> Self {
        let mut out = Self::default();
        for (product, factor) in &self.terms {
            let mut values = Vec::new();
            let mut kept = Vec::with_capacity(product.len());
            for atom in product {
                match atom.replaced(with) {
                    Some(value) => values.push(value),
                    None => kept.push(atom.clone()),
                }
            }
            if values.is_empty() {
                out.add_term(kept, *factor);
                continue;
            }
            let mut term = Self::default();
            term.add_term(kept, *factor);
            out = out.add(&values.iter().fold(term, |term, value| term.mul(value)));
        }
        out
    }

    /// Replaces an atom where it is a whole term with a negative factor.
    fn replace_alone(&self, atom: &Atom, value: &Self) -> Self {
        let mut out = Self::default();
        for (product, factor) in &self.terms {
            if *factor < 0 && product.as_slice() == std::slice::from_ref(atom) {
                out = out.add(&value.scaled(*factor));
            } else {
                out.add_term(product.clone(), *factor);
            }
        }
        out
    }

    /// Whether the value of `var` now is part of it.
    pub(super) fn mentions(&self, var: VarId) -> bool {
        self.any_atom(&|atom| *atom == Atom::Var(var))
    }

    /// Whether it is made of variables alone that `test` admits, and numbers.
    pub(super) fn is_made_of(&self, test: &dyn Fn(VarId) -> bool) -> bool {
        !self.any_atom(&|atom| match atom {
            Atom::Var(var) => !test(*var),
            Atom::Other(_) | Atom::Slack(_) | Atom::Unknown(_) | Atom::Natural(_) | Atom::Any => {
                true
            }
            Atom::Tiles(_) | Atom::Binary(..) | Atom::Cast(..) => false,
        })
    }

    /// Whether values of another time or work-item are part of it.
    pub(super) fn mentions_others(&self) -> bool {
        self.any_atom(&|atom| matches!(atom, Atom::Other(_) | Atom::Any))
    }

    /// How many atoms it is made of.
    pub(super) fn size(&self) -> usize {
        let of_atom = |atom: &Atom| match atom {
            Atom::Tiles(parts) | Atom::Binary(_, parts) => 1 + parts.0.size() + parts.1.size(),
            Atom::Cast(of, _) => 1 + of.size(),
            Atom::Var(_)
            | Atom::Other(_)
            | Atom::Slack(_)
            | Atom::Unknown(_)
            | Atom::Natural(_)
            | Atom::Any => 1,
        };
        self.terms.iter().flat_map(|(product, _)| product).map(of_atom).sum()
    }

    fn any_atom(&self, test: &dyn Fn(&Atom) -> bool) -> bool {
        self.terms.iter().flat_map(|(product, _)| product).any(|atom| {
            test(atom)
                || match atom {
                    Atom::Tiles(parts) | Atom::Binary(_, parts) => {
                        parts.0.any_atom(test) || parts.1.any_atom(test)
                    }
                    Atom::Cast(of, _) => of.any_atom(test),
                    Atom::Var(_)
                    | Atom::Other(_)
                    | Atom::Slack(_)
                    | Atom::Unknown(_)
                    | Atom::Natural(_)
                    | Atom::Any => false,
                }
        })
    }
}

/// What is known of variables' values.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    kernel: &'a Kernel,
    /// By variable: its value, where it is one of others' (a `let`, a tie).
    values: BTreeMap<VarId, Poly>,
    /// By variable: what it is below, where it starts at 0.
    extents: BTreeMap<VarId, Poly>,
    /// Counters that start elsewhere than at 0 and are never negative, and what
    /// they are below.
    natural: BTreeMap<VarId, Poly>,
    /// What was asked since any of those bounds became another, and the answers.
    signs: RefCell<BTreeMap<Poly, bool>>,
    unknowns: u32,
}

impl<'a> Bounds<'a> {
    /// Of a kernel's header.
    pub(super) fn new(kernel: &'a Kernel) -> Self {
        let mut bounds = Self {
            kernel,
            values: BTreeMap::new(),
            extents: BTreeMap::new(),
            natural: BTreeMap::new(),
            signs: RefCell::default(),
            unknowns: 0,
        };
        for param in kernel.tile_params.values() {
            if let TileDomain::Equal(value) = param.domain {
                let value = bounds.poly(value);
                bounds.values.insert(param.var, value);
            }
        }
        bounds.enter(&kernel.grid);
        bounds.enter(kernel.block.as_deref().unwrap_or_default());
        bounds
    }

    /// Axes come into force.
    pub(super) fn enter(&mut self, axes: &[Axis]) {
        for axis in axes {
            let extent = self.poly(axis.extent);
            self.enter_counter(axis.var, extent);
        }
    }

    /// A counter from 0 comes into force.
    pub(super) fn enter_counter(&mut self, var: VarId, end: Poly) {
        if self.extents.get(&var) != Some(&end) {
            self.extents.insert(var, end);
            self.signs.get_mut().clear();
        }
    }

    /// A counter from `start`, in steps of whatever size, comes into force.
    pub(super) fn enter_counter_from(&mut self, var: VarId, start: &Poly, end: Poly) {
        if self.is_never_negative(start) && self.natural.get(&var) != Some(&end) {
            self.natural.insert(var, end);
            self.signs.get_mut().clear();
        }
    }

    /// What `var` is below, where it starts at 0.
    pub(super) fn extent(&self, var: VarId) -> Option<&Poly> {
        self.extents.get(&var)
    }

    /// `var` has this value from here on.
    pub(super) fn set(&mut self, var: VarId, value: Poly) {
        self.values.insert(var, value);
    }

    /// `var` has another value from here on, not known which.
    pub(super) fn forget(&mut self, var: VarId) {
        let value = self.unknown();
        self.values.insert(var, value);
    }

    /// A value that equals no other.
    pub(super) fn unknown(&mut self) -> Poly {
        self.unknowns += 1;
        Poly::atom(Atom::Unknown(self.unknowns))
    }

    /// The value of an index expression, now.
    pub(super) fn poly(&mut self, id: ExprId) -> Poly {
        match &self.kernel.exprs[id].kind {
            ExprKind::Literal(Literal::Int(value)) => Poly::constant(*value),
            ExprKind::Var(var) => match self.values.get(var) {
                Some(value) => value.clone(),
                None => Poly::var(*var),
            },
            ExprKind::Unary { op: UnaryOp::Neg, operand } => self.poly(*operand).scaled(-1),
            ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.poly(*lhs), self.poly(*rhs));
                match op {
                    BinaryOp::Add => lhs.add(&rhs),
                    BinaryOp::Sub => lhs.sub(&rhs),
                    BinaryOp::Mul => lhs.mul(&rhs),
                    BinaryOp::Div
                    | BinaryOp::Rem
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shl
                    | BinaryOp::Shr
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::Pow
                    | BinaryOp::Atan2
                    | BinaryOp::Hypot
                    | BinaryOp::Copysign => Poly::atom(Atom::Binary(*op, Box::new((lhs, rhs)))),
                }
            }
            ExprKind::Tiles { extent, tile } => {
                let parts = Box::new((self.poly(*extent), self.poly(*tile)));
                Poly::atom(Atom::Tiles(parts))
            }
            ExprKind::Cast(operand) if self.is_scalar_param(*operand) => self.poly(*operand),
            ExprKind::Uniform(operand) => self.poly(*operand),
            ExprKind::Cast(operand) if self.is_exact(*operand) => {
                let types = [*operand, id].map(|expr| self.kernel.exprs[expr].ty);
                Poly::atom(Atom::Cast(Box::new(self.poly(*operand)), types))
            }
            ExprKind::Cast(operand) if is_unsigned(self.kernel.exprs[*operand].ty) => {
                self.unknowns += 1;
                Poly::atom(Atom::Natural(self.unknowns))
            }
            ExprKind::Literal(_)
            | ExprKind::Cast(_)
            | ExprKind::Unary { op: UnaryOp::Not, .. }
            | ExprKind::Load(_)
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Math { .. }
            | ExprKind::InBounds { .. } => self.unknown(),
        }
    }

    /// Whether what is equal as a polynomial is one value of the expression's type, be it
    /// wrapped: not of sums that are rounded.
    fn is_exact(&self, id: ExprId) -> bool {
        let expr = &self.kernel.exprs[id];
        matches!(expr.kind, ExprKind::Var(_))
            || expr.ty == Type::Index
            || expr.ty.integer_range().is_some()
    }

    /// A scalar parameter converted to an index is one and the same number
    /// everywhere.
    fn is_scalar_param(&self, id: ExprId) -> bool {
        let ExprKind::Var(var) = self.kernel.exprs[id].kind else { return false };
        matches!(self.kernel.vars[var].kind, VarKind::Scalar(_))
    }

    /// Whether a polynomial is at least 0 whatever its variables are, as far as
    /// signs and the variables' own bounds show it.
    pub(super) fn is_never_negative(&self, poly: &Poly) -> bool {
        if let Some(known) = self.signs.borrow().get(poly) {
            return *known;
        }
        let answer = self.has_no_negative_term(poly);
        self.signs.borrow_mut().insert(poly.clone(), answer);
        answer
    }

    fn has_no_negative_term(&self, poly: &Poly) -> bool {
        if self.sums_naturals(poly) {
            return true;
        }
        // Counters with negative factors are as large as they can be.
        let mut poly = poly.clone();
        for (var, extent) in self.extents.iter().chain(&self.natural) {
            if poly.has_no_minus() {
                break;
            }
            let alone = Atom::Var(*var);
            if poly.terms.iter().any(|(product, factor)| *factor < 0 && product.contains(&alone)) {
                let least = extent.clone().sub(&Poly::constant(1));
                let slack = least.sub(&Poly::atom(Atom::Slack(*var)));
                poly = poly.replace(&|other| (other == *var).then(|| slack.clone()));
            }
        }
        // So are tile parameters, where all of their factors are; else they are
        // as small as they can be.
        let end = |var: VarId| {
            let VarKind::TileParam(param) = self.kernel.vars[var].kind else { return None };
            let (least, greatest) = self.kernel.tile_params[param].domain.range();
            let alone = Atom::Var(var);
            let mut terms = poly.terms.iter().filter(|(product, _)| product.contains(&alone));
            let slack = Poly::atom(Atom::Slack(var));
            Some(if terms.all(|(_, factor)| *factor < 0) {
                Poly::constant(i128::from(greatest)).sub(&slack)
            } else {
                Poly::constant(i128::from(least)).add(&slack)
            })
        };
        self.sums_naturals(&self.with_greatest(poly.replace(&end)))
    }

    fn sums_naturals(&self, poly: &Poly) -> bool {
        let mut atoms = poly.terms.iter().flat_map(|(product, _)| product);
        poly.has_no_minus() && atoms.all(|atom| self.is_natural(atom))
    }

    /// Functions with negative factors, taken as large as they can be:
    /// `a / b <= a`, `a % b <= b - 1`, `min(a, b) <= a`.
    fn with_greatest(&self, mut poly: Poly) -> Poly {
        if poly.has_no_minus() {
            return poly;
        }
        let negative = poly.terms.iter().filter(|(_, factor)| *factor < 0);
        let atoms: Vec<Atom> = negative.flat_map(|(product, _)| product.iter().cloned()).collect();
        let one = Poly::constant(1);
        for atom in atoms {
            let Atom::Binary(op, parts) = &atom else { continue };
            let (lhs, rhs) = &**parts;
            let is_positive = |value: &Poly| self.is_never_negative(&value.clone().sub(&one));
            let greatest = match op {
                _ if let Some(most) = self.most_of(&atom) => Poly::constant(most),
                BinaryOp::Div if self.is_never_negative(lhs) && is_positive(rhs) => lhs.clone(),
                BinaryOp::Rem if self.is_never_negative(lhs) && is_positive(rhs) => {
                    rhs.clone().sub(&one)
                }
                BinaryOp::Shr | BinaryOp::And | BinaryOp::Min if self.is_never_negative(lhs) => {
                    lhs.clone()
                }
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::Min
                | BinaryOp::Max
                | BinaryOp::Pow
                | BinaryOp::Atan2
                | BinaryOp::Hypot
                | BinaryOp::Copysign => continue,
            };
            poly = poly.replace_alone(&atom, &greatest);
        }
        poly
    }

    /// The greatest number that a polynomial can be, where numbers bound all of it.
    fn most(&self, poly: &Poly) -> Option<i128> {
        poly.terms.iter().try_fold(0_i128, |sum, (product, factor)| {
            if !product.iter().all(|atom| self.is_natural(atom)) {
                return None;
            }
            let of_term = |most: i128, atom| most.checked_mul(self.most_of(atom)?);
            let most = match product.as_slice() {
                [] => *factor,
                _ if *factor < 0 => 0,
                atoms => atoms.iter().try_fold(*factor, of_term)?,
            };
            sum.checked_add(most)
        })
    }

    /// The same of an atom that is at least 0.
    fn most_of(&self, atom: &Atom) -> Option<i128> {
        match atom {
            Atom::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::TileParam(param) => {
                    Some(self.kernel.tile_params[param].domain.range().1.into())
                }
                VarKind::Dim
                | VarKind::Scalar(_)
                | VarKind::Grid
                | VarKind::Block
                | VarKind::Each
                | VarKind::Loop
                | VarKind::Let { .. } => {
                    let extent = self.extents.get(var).or_else(|| self.natural.get(var))?;
                    extent.as_constant()?.checked_sub(1)
                }
            },
            Atom::Binary(op, parts) => {
                let (lhs, rhs) = (&parts.0, parts.1.as_constant().filter(|rhs| *rhs > 0)?);
                let most = self.most(lhs).filter(|_| self.is_never_negative(lhs));
                match op {
                    BinaryOp::Div => Some(most? / rhs),
                    BinaryOp::Shr => most?.checked_shr(rhs.try_into().ok()?),
                    BinaryOp::Rem | BinaryOp::And if self.is_never_negative(lhs) => {
                        let end = if *op == BinaryOp::Rem { rhs - 1 } else { rhs };
                        Some(most.map_or(end, |most| most.min(end)))
                    }
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Rem
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shl
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::Pow
                    | BinaryOp::Atan2
                    | BinaryOp::Hypot
                    | BinaryOp::Copysign => None,
                }
            }
            Atom::Other(_)
            | Atom::Slack(_)
            | Atom::Unknown(_)
            | Atom::Natural(_)
            | Atom::Any
            | Atom::Cast(..)
            | Atom::Tiles(_) => None,
        }
    }

    fn is_natural(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Slack(_) | Atom::Natural(_) | Atom::Tiles(_) => true,
            Atom::Cast(_, [from, to]) => *to == Type::Index && is_unsigned(*from),
            Atom::Unknown(_) | Atom::Other(_) | Atom::Any => false,
            Atom::Var(var) => match self.kernel.vars[*var].kind {
                VarKind::Dim
                | VarKind::TileParam(_)
                | VarKind::Grid
                | VarKind::Block
                | VarKind::Each => true,
                VarKind::Loop => self.extents.contains_key(var) || self.natural.contains_key(var),
                VarKind::Scalar(_) => is_unsigned(self.kernel.vars[*var].ty),
                VarKind::Let { .. } => false,
            },
            Atom::Binary(op, parts) => match op {
                BinaryOp::Div | BinaryOp::Rem | BinaryOp::And | BinaryOp::Shr => {
                    self.is_never_negative(&parts.0)
                        && (*op != BinaryOp::Div || self.is_never_negative(&parts.1))
                }
                BinaryOp::Min => {
                    [&parts.0, &parts.1].into_iter().all(|p| self.is_never_negative(p))
                }
                BinaryOp::Max => {
                    [&parts.0, &parts.1].into_iter().any(|p| self.is_never_negative(p))
                }
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::Pow
                | BinaryOp::Atan2
                | BinaryOp::Hypot
                | BinaryOp::Copysign => false,
            },
        }
    }

    /// Whether a count is provably at least 1: of tiles, where there is
    /// something to divide up.
    pub(super) fn is_positive(&self, poly: &Poly) -> bool {
        if let [(product, 1)] = poly.terms.as_slice()
            && let [Atom::Tiles(parts)] = product.as_slice()
        {
            return self.is_positive(&parts.0);
        }
        self.is_never_negative(&poly.clone().sub(&Poly::constant(1)))
    }

    /// Whether an expression is an index, so that [`Bounds::poly`] means something.
    pub(super) fn is_index(&self, id: ExprId) -> bool {
        self.kernel.exprs[id].ty == Type::Index
    }
}

/// Whether an index that is made of a value of this type is at least 0.
fn is_unsigned(ty: Type) -> bool {
    let Type::Scalar(ElemType::Concrete(dtype)) = ty else { return false };
    dtype.integer_range().is_some_and(|(min, max)| min == 0 && i64::try_from(max).is_ok())
}

/// The variables that statements assign, at any depth.
pub(crate) fn assigned_in(stmts: &[Stmt]) -> Vec<VarId> {
    let mut out = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Assign { var, .. } | StmtKind::Update { place: Place::Var(var), .. } => {
                out.push(*var);
            }
            StmtKind::Let { .. }
            | StmtKind::LetArray { .. }
            | StmtKind::Store { .. }
            | StmtKind::Atomic { .. }
            | StmtKind::Update { place: Place::Element(_), .. }
            | StmtKind::Each { .. }
            | StmtKind::Phase { .. }
            | StmtKind::For { .. }
            | StmtKind::Exchange { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Assume { .. }
            | StmtKind::Distinct { .. }
            | StmtKind::Barrier
            | StmtKind::WarpBarrier => {}
        }
        for body in stmt.kind.bodies() {
            out.extend(assigned_in(body));
        }
    }
    out
}
