//! Admissible tile sizes: domains, ties and constraints at concrete values.

use super::ConfigError;
use crate::arena::EntityId as _;
use crate::kernel::{
    Axis, ExprId, Kernel, Stmt, StmtKind, TileDomain, TileParamId, VarId, VarKind, eval_index,
    print_expr,
};

/// The values of all tile parameters, by id, from those of the free ones:
/// computes ties and derived extents and checks domains and constraints, and
/// that no tile and no axis of the block domain is left without elements.
///
/// # Errors
///
/// Names the parameter, the constraint or the extent that does not hold.
pub fn complete_tiles(
    kernel: &Kernel,
    given: &[(TileParamId, u32)],
) -> Result<Vec<u32>, ConfigError> {
    let values = tied_tiles(kernel, given)?;
    check_tiles(kernel, &values)?;
    Ok(values)
}

/// The values of all tile parameters, by id, each within its domain; whether they go
/// together is [`check_tiles`]' question.
pub(crate) fn tied_tiles(
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
    Ok(values)
}

/// Whether constraints hold, and every tile and the block domain have elements.
pub(crate) fn check_tiles(kernel: &Kernel, values: &[u32]) -> Result<(), ConfigError> {
    for &constraint in &kernel.constraints {
        if eval_index(kernel, constraint, &|var| tile_value(kernel, values, var)) != Some(1) {
            return Err(ConfigError::Constraint {
                kernel: kernel.name.clone(),
                constraint: print_expr(kernel, constraint),
            });
        }
    }
    check_extents(kernel, values)
}

/// The tile parameter of a name.
///
/// # Errors
///
/// [`ConfigError::UnknownTile`] with the names there are.
pub fn tile_named(kernel: &Kernel, name: &str) -> Result<TileParamId, ConfigError> {
    let found = kernel.tile_params.iter().find(|(_, param)| param.name == name);
    found.map(|(id, _)| id).ok_or_else(|| {
        let known: Vec<String> =
            kernel.tile_params.values().map(|param| format!("`{}`", param.name)).collect();
        ConfigError::UnknownTile {
            kernel: kernel.name.clone(),
            param: name.to_owned(),
            known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
        }
    })
}

/// Most elements of a tile, and points of a domain.
const MAX_ELEMENTS: i128 = 1 << 30;

/// What has extents: its name, and they.
type Shape<'a> = (&'a str, Vec<ExprId>);

/// Every tile and the block domain have elements, and no tile and no domain has
/// too many. A loop that the block shares out may have none.
fn check_extents(kernel: &Kernel, values: &[u32]) -> Result<(), ConfigError> {
    let shape = |axes: &[Axis]| -> Option<Shape<'_>> {
        let name = &kernel.vars[axes.first()?.var].name;
        Some((name, axes.iter().map(|axis| axis.extent).collect()))
    };
    let mut shapes: Vec<Shape<'_>> =
        kernel.tiles.values().map(|tile| (tile.name.as_str(), tile.extents.clone())).collect();
    shapes.extend(kernel.block.as_deref().and_then(shape));
    let n_filled = shapes.len();
    let mut loops = Vec::new();
    collect_loops(&kernel.body, &mut loops);
    shapes.extend(loops.into_iter().filter_map(shape));
    for (at, (name, extents)) in shapes.into_iter().enumerate() {
        let mut elements = 1;
        for extent in extents {
            let value = eval_index(kernel, extent, &|var| tile_value(kernel, values, var));
            let value = value.unwrap_or(0);
            elements = value.max(0).saturating_mul(elements);
            let is_wrong = (value < 1 && at < n_filled) || elements > MAX_ELEMENTS;
            if is_wrong {
                return Err(ConfigError::Extent {
                    kernel: kernel.name.clone(),
                    tiles: describe_values(kernel, values),
                    name: name.to_owned(),
                    extent: print_expr(kernel, extent),
                    value,
                });
            }
        }
    }
    Ok(())
}

fn describe_values(kernel: &Kernel, values: &[u32]) -> String {
    let values = kernel.tile_params.values().zip(values);
    let texts: Vec<String> =
        values.map(|(param, value)| format!("{} = {value}", param.name)).collect();
    texts.join(", ")
}

/// The axes of the loops that a block shares out.
fn collect_loops<'a>(stmts: &'a [Stmt], out: &mut Vec<&'a [Axis]>) {
    for stmt in stmts {
        if let StmtKind::Each { axes, .. } = &stmt.kind {
            out.push(axes);
        }
        stmt.kind.bodies().into_iter().for_each(|body| collect_loops(body, out));
    }
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

/// The extents of the block domain's axes with these tile sizes, outermost first; 1 where
/// one is none.
pub fn block_extents(kernel: &Kernel, tiles: &[u32]) -> Vec<u32> {
    let axes = kernel.block.iter().flatten().map(|axis| {
        let value = eval_index(kernel, axis.extent, &|var| tile_value(kernel, tiles, var));
        value.and_then(|value| u32::try_from(value).ok()).unwrap_or(1).max(1)
    });
    axes.collect()
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
        TileDomain::Pow2 { .. } | TileDomain::List(_) | TileDomain::Equal(_) => {
            domain.values().collect()
        }
    };
    values.sort_unstable();
    values.dedup();
    values
}
