//! What a kernel's proof takes for granted of its launches: numbers of 32 and 64 bits that do
//! not wrap, and what is assumed of scalars and sizes. A launch of which it is not true is
//! refused.

use tile_ir::arena::EntityId as _;
use tile_ir::check::{CheckedKernel, Exact, preconditions};
use tile_ir::config::Config;
use tile_ir::dtype::DType;
use tile_ir::kernel::{ExprId, Kernel, VarId, VarKind, print_expr};
use tile_ir::value::ScalarValue;

use super::bind::{Bound, name_value};
use super::error::ArgumentError;
use super::precondition::{asks_scalars, check_preconditions};
use crate::error::Result;

/// What launches of one pattern are asked each time, since scalars decide it.
#[derive(Debug)]
pub(super) struct Numbers {
    exact: Exact,
    /// What the kernel assumes of scalars and sizes.
    assumed: Vec<ExprId>,
    config: Config,
    /// The source file of the kernel.
    file: &'static str,
}

impl Numbers {
    /// Checks a launch; what is to be checked again where it is repeated, if that is
    /// something.
    ///
    /// # Errors
    ///
    /// Where a number may wrap, or an assumption does not hold.
    pub(super) fn check(
        (checked, file): (&CheckedKernel, &'static str),
        bound: &Bound<'_>,
        config: &Config,
    ) -> Result<Option<Self>> {
        let kernel = checked.kernel();
        let (exact, assumed) = (Exact::of(kernel), preconditions(kernel));
        let numbers = Self { exact, assumed, config: config.clone(), file };
        numbers.check_again(kernel, bound)?;
        let is_asked_again =
            numbers.exact.asks_scalars(kernel) || asks_scalars(kernel, &numbers.assumed);
        Ok(is_asked_again.then_some(numbers))
    }

    /// Checks a launch that differs in scalars alone.
    ///
    /// # Errors
    ///
    /// Where a number may wrap, or an assumption does not hold.
    pub(super) fn check_again(&self, kernel: &Kernel, bound: &Bound<'_>) -> Result<()> {
        let value = |var: VarId| match kernel.vars[var].kind {
            VarKind::Scalar(id) => whole(*bound.scalars.get(id.index())?),
            VarKind::Dim
            | VarKind::TileParam(_)
            | VarKind::Grid
            | VarKind::Block
            | VarKind::Each
            | VarKind::Loop
            | VarKind::Let { .. } => name_value(kernel, &bound.dims, Some(&self.config), var),
        };
        check_preconditions((kernel, self.file), &self.assumed, &value)?;
        let Some((expr, dtype, (low, high))) = self.exact.leaves(kernel, &value) else {
            return Ok(());
        };
        Err(ArgumentError::NumberWraps {
            kernel: kernel.name.clone(),
            number: print_expr(kernel, expr),
            line: kernel.spans.range(kernel.exprs[expr].span).line,
            dtype,
            low,
            high,
        }
        .into())
    }
}

/// A scalar, of one with a point what is before it.
fn whole(scalar: ScalarValue) -> Option<i128> {
    if scalar.dtype.is_float() {
        let number = scalar.in_type(DType::F64)?;
        return Some(f64::from_bits(number.bits) as i128);
    }
    if scalar.dtype == DType::U64 {
        return Some(scalar.bits.into());
    }
    let number = scalar.in_type(DType::I64)?;
    Some(number.bits.cast_signed().into())
}
