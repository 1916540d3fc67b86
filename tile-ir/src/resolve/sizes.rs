//! That a kernel has sizes at all: ranges, ties and conditions of a header may leave
//! none, which a launch would be too late to say.

use crate::config::{ConfigError, candidate_values, complete_tiles};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::kernel::{Kernel, TileDomain, TileParamId};

/// Combinations that are tried before a header is taken at its word.
const MOST: usize = 20_000;

/// Reports a header that no tile sizes satisfy, with what the first of them lack.
pub(super) fn require_sizes(kernel: &Kernel) -> Result<(), Diagnostics> {
    let Some(first) = kernel.tile_params.values().next() else { return Ok(()) };
    // The usual sizes first: mostly the very first ones do.
    if find_sizes(kernel, &candidate_values).is_ok() {
        return Ok(());
    }
    let Err(Some(lack)) = find_sizes(kernel, &all_values) else { return Ok(()) };
    let lack = lack.to_string();
    let lack = lack.strip_prefix(&format!("kernel `{}`: ", kernel.name)).unwrap_or(&lack);
    let mut diags = Diagnostics::new();
    diags.push(
        Diagnostic::error(Code::BadHeader, first.span, "no tile sizes satisfy this header")
            .note(lack),
    );
    Err(diags)
}

/// Looks for sizes among these values of the free parameters. Where there are none
/// gives what the first lack, or nothing where there are too many to try.
fn find_sizes(
    kernel: &Kernel,
    values: &dyn Fn(&TileDomain) -> Vec<u32>,
) -> Result<(), Option<Box<ConfigError>>> {
    let axes: Vec<(TileParamId, Vec<u32>)> = kernel
        .tile_params
        .iter()
        .filter(|(_, param)| !matches!(param.domain, TileDomain::Equal(_)))
        .map(|(id, param)| (id, values(&param.domain)))
        .collect();
    let total = axes.iter().map(|(_, values)| values.len()).fold(1, usize::saturating_mul);
    let mut lack = None;
    for mut number in 0..total.min(MOST) {
        let mut digit = |(id, values): &(TileParamId, Vec<u32>)| {
            let value = values[number % values.len()];
            number /= values.len();
            (*id, value)
        };
        let given: Vec<(TileParamId, u32)> = axes.iter().map(&mut digit).collect();
        match complete_tiles(kernel, &given) {
            Ok(_) => return Ok(()),
            Err(error) => lack = lack.or_else(|| Some(Box::new(error))),
        }
    }
    Err(lack.filter(|_| total <= MOST))
}

/// Every value that a parameter of this domain may have.
fn all_values(domain: &TileDomain) -> Vec<u32> {
    match domain {
        TileDomain::Any => (1..=TileDomain::MAX).collect(),
        TileDomain::Range { min, max, step } => {
            let step = usize::try_from(*step).unwrap_or(1).max(1);
            (*min..=*max).step_by(step).take(MOST + 1).collect()
        }
        TileDomain::Pow2 { .. } | TileDomain::List(_) | TileDomain::Equal(_) => {
            candidate_values(domain)
        }
    }
}
