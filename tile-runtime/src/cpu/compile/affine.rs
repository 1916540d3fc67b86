//! Index expressions that are affine in the item's coordinates.
//!
//! Sums, differences and products with constants of such indices are such
//! indices again; no lanes are computed for them. An access along them is a
//! run of evenly spaced elements, found from two or three numbers.

use tile_ir::dtype::DType;
use tile_ir::op::BinaryOp;

use super::emitter::{Emitter, Value};
use crate::cpu::CpuError;
use crate::cpu::code::{Affine, Uniform};

/// Bound on the part of an index that is known when the kernel is prepared.
/// Below it, adding a base of 62 bits does not overflow.
const MAX_KNOWN: i128 = 1 << 60;

impl Affine {
    /// A constant.
    pub(super) fn constant(constant: i64) -> Self {
        Self { constant, base: None, coefs: Vec::new() }
    }

    /// A register's value.
    pub(super) fn register(base: Uniform) -> Self {
        Self { constant: 0, base: Some(base), coefs: Vec::new() }
    }

    /// The item's coordinate along an axis.
    pub(super) fn coordinate(axis: usize) -> Self {
        let mut coefs = vec![0; axis + 1];
        coefs[axis] = 1;
        Self { constant: 0, base: None, coefs }
    }

    /// Whether it is the same for all items.
    pub(super) fn is_uniform(&self) -> bool {
        self.coefs.is_empty()
    }

    fn as_constant(&self) -> Option<i64> {
        (self.base.is_none() && self.coefs.is_empty()).then_some(self.constant)
    }

    /// It where its known part is small enough over a domain's extents.
    fn bounded(self, extents: &[usize]) -> Option<Self> {
        let spread: i128 = self
            .coefs
            .iter()
            .zip(extents)
            .map(|(&coef, &extent)| i128::from(coef.unsigned_abs()) * extent as i128)
            .sum();
        let known = spread + i128::from(self.constant.unsigned_abs());
        (known < MAX_KNOWN).then_some(self)
    }
}

/// Coefficients of a sum.
fn combined(a: &[i64], b: &[i64], f: impl Fn(i64, i64) -> Option<i64>) -> Option<Vec<i64>> {
    let at = |coefs: &[i64], axis: usize| coefs.get(axis).copied().unwrap_or(0);
    let mut coefs = Vec::new();
    for axis in 0..a.len().max(b.len()) {
        coefs.push(f(at(a, axis), at(b, axis))?);
    }
    while coefs.last() == Some(&0) {
        coefs.pop();
    }
    Some(coefs)
}

impl Emitter<'_, '_> {
    /// `lhs op rhs` of indices as an affine index; `None` where it is not one
    /// or where an ordinary operation does as well.
    pub(super) fn affine_op(
        &mut self,
        op: BinaryOp,
        lhs: &Value,
        rhs: &Value,
    ) -> Result<Option<Affine>, CpuError> {
        let (Value::Affine(a), Value::Affine(b)) = (lhs, rhs) else { return Ok(None) };
        let extents = self.lane.as_ref().map_or(Vec::new(), |lane| lane.extents.clone());
        let sum = |f: fn(i64, i64) -> Option<i64>| {
            let constant = f(a.constant, b.constant)?;
            let coefs = combined(&a.coefs, &b.coefs, f)?;
            Affine { constant, base: None, coefs }.bounded(&extents)
        };
        let (known, base) = match op {
            BinaryOp::Add => (sum(i64::checked_add), Some((a.base, b.base))),
            BinaryOp::Sub => (sum(i64::checked_sub), Some((a.base, b.base))),
            BinaryOp::Mul => return self.affine_product(a, b, &extents),
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
            | BinaryOp::Copysign => (None, None),
        };
        let (Some(known), Some(bases)) = (known, base) else { return Ok(None) };
        let base = match bases {
            (base, None) => base,
            (None, Some(base)) if op == BinaryOp::Add => Some(base),
            (a, Some(b)) => {
                let a = a.unwrap_or_else(|| self.unit.constant(0));
                let func = self.binary_func(op, DType::I64)?;
                Some(self.uniform_op(func, &[a, b], None)?)
            }
        };
        Ok(Some(Affine { base, ..known }))
    }

    fn affine_product(
        &mut self,
        a: &Affine,
        b: &Affine,
        extents: &[usize],
    ) -> Result<Option<Affine>, CpuError> {
        let (affine, factor) = match (a.as_constant(), b.as_constant()) {
            (_, Some(factor)) => (a, factor),
            (Some(factor), None) => (b, factor),
            (None, None) => return Ok(None),
        };
        let times = |value: i64, _| value.checked_mul(factor);
        let known = affine.constant.checked_mul(factor).and_then(|constant| {
            let coefs = combined(&affine.coefs, &[], times)?;
            Affine { constant, base: None, coefs }.bounded(extents)
        });
        let Some(known) = known else { return Ok(None) };
        let base = match affine.base {
            Some(base) if factor != 1 => {
                let factor = self.unit.constant(factor.cast_unsigned());
                let func = self.binary_func(BinaryOp::Mul, DType::I64)?;
                Some(self.uniform_op(func, &[base, factor], None)?)
            }
            base => base,
        };
        Ok(Some(Affine { base, ..known }))
    }
}
