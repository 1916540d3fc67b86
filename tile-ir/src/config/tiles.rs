//! Admissible tile sizes: domains, ties and constraints at concrete values.

use super::ConfigError;
use crate::arena::EntityId as _;
use crate::kernel::{Kernel, TileDomain, TileParamId, VarId, VarKind, eval_index, print_expr};

/// The values of all tile parameters, by id, from those of the free ones:
/// computes ties and derived extents and checks domains and constraints.
///
/// # Errors
///
/// Names the parameter or the constraint that does not hold.
pub fn complete_tiles(
    kernel: &Kernel,
    given: &[(TileParamId, u32)],
) -> Result<Vec<u32>, ConfigError> {
    let mut values = Vec::with_capacity(kernel.tile_params.len());
    for (id, param) in kernel.tile_params.iter() {
        let chosen = given.iter().find(|(given_id, _)| *given_id == id).map(|(_, value)| *value);
        let value = match (&param.domain, chosen) {
            (TileDomain::Equal(expr), chosen) => {
                let exact = eval_index(kernel, *expr, &|var| tile_value(kernel, &values, var));
                let value = exact.and_then(|value| u32::try_from(value).ok()).unwrap_or(0);
                if chosen.is_some_and(|chosen| chosen != value) {
                    return Err(ConfigError::Tied {
                        kernel: kernel.name.clone(),
                        param: param.name.clone(),
                        expr: print_expr(kernel, *expr),
                        value,
                    });
                }
                value
            }
            (_, Some(value)) => value,
            (_, None) => {
                return Err(ConfigError::MissingTile {
                    kernel: kernel.name.clone(),
                    param: param.name.clone(),
                });
            }
        };
        if value == 0 || !contains(&param.domain, value) {
            return Err(ConfigError::NotAdmissible {
                kernel: kernel.name.clone(),
                param: param.name.clone(),
                value,
                domain: describe(&param.domain),
            });
        }
        values.push(value);
    }
    for &constraint in &kernel.constraints {
        if eval_index(kernel, constraint, &|var| tile_value(kernel, &values, var)) != Some(1) {
            return Err(ConfigError::Constraint {
                kernel: kernel.name.clone(),
                constraint: print_expr(kernel, constraint),
            });
        }
    }
    Ok(values)
}

/// The value of a tile parameter's variable; `None` of any other variable.
pub(crate) fn tile_value(kernel: &Kernel, tiles: &[u32], var: VarId) -> Option<i128> {
    match kernel.vars.get(var)?.kind {
        VarKind::TileParam(id) => tiles.get(id.index()).map(|&value| i128::from(value)),
        VarKind::Dim
        | VarKind::Scalar(_)
        | VarKind::Grid
        | VarKind::Block
        | VarKind::Each
        | VarKind::Loop
        | VarKind::Let { .. } => None,
    }
}

/// Whether a parameter of this domain may have this value, ties aside.
fn contains(domain: &TileDomain, value: u32) -> bool {
    match domain {
        TileDomain::Any => (1..=TileDomain::MAX).contains(&value),
        TileDomain::Range { min, max, step } => {
            (*min..=*max).contains(&value) && (value - min).is_multiple_of((*step).max(1))
        }
        TileDomain::Pow2 { min, max } => (*min..=*max).contains(&value) && value.is_power_of_two(),
        TileDomain::List(values) => values.contains(&value),
        TileDomain::Equal(_) => true,
    }
}

/// A domain as a message says it.
fn describe(domain: &TileDomain) -> String {
    match domain {
        TileDomain::Any => format!("1..={}", TileDomain::MAX),
        TileDomain::Range { min, max, step } => format!("{min}..={max} step {step}"),
        TileDomain::Pow2 { min, max } => format!("pow2({min}..={max})"),
        TileDomain::List(values) => format!("{values:?}"),
        TileDomain::Equal(_) => "a positive value".to_owned(),
    }
}

/// The values that a search over a domain tries, rising: powers of two, the
/// ends of a range and its values nearest to powers of two, or the listed ones.
/// A tied parameter has none of its own.
pub fn candidate_values(domain: &TileDomain) -> Vec<u32> {
    let powers = (0..=8).map(|exponent| 1u32 << exponent);
    let mut values: Vec<u32> = match domain {
        TileDomain::Any => (2..=10).map(|exponent| 1 << exponent).collect(),
        TileDomain::Range { min, max, step } => {
            let step = (*step).max(1);
            let nearest = powers.filter(|power| (*min..=*max).contains(power));
            let on_grid = nearest.map(|power| min + (power - min) / step * step);
            on_grid.chain([*min, min + (max - min) / step * step]).collect()
        }
        TileDomain::Pow2 { min, max } => {
            (0..32).map(|exponent| 1 << exponent).filter(|p| (min..=max).contains(&p)).collect()
        }
        TileDomain::List(values) => values.clone(),
        TileDomain::Equal(_) => Vec::new(),
    };
    values.sort_unstable();
    values.dedup();
    values
}
