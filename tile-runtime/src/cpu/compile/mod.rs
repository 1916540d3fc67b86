//! From a [`ProgramKernel`] to typed operations: once for each program.
//!
//! Uniform values are computed once, not per lane; what does not change while
//! an `Items` runs is computed before its first chunk; an index that is affine
//! in the coordinates has no lanes of its own. Block-scope control flow becomes
//! jumps, so a role is suspended by keeping its position in the list.

mod access;
mod affine;
mod domain;
mod emitter;
mod expr;
mod facts;
mod range;
mod stmt;
mod unit;
mod watch;

use std::collections::{HashMap, HashSet};

use tile_ir::arena::EntityId as _;
use tile_ir::dtype::DType;
use tile_ir::program::{BufferSpace, Domain, ExprId, ProgramKernel, VarId};
use tile_ir::span::SpanId;

use self::emitter::Emitter;
use self::unit::{Unit, malformed};
use super::CpuError;
use super::code::{Agent, Array, ArrayPlace, CompiledKernel, GridAxis, MAX_AXES, Uniform};
use super::watch::Mode;

/// Compiles a kernel to run in this mode.
pub(super) fn compile(kernel: &ProgramKernel, mode: Mode) -> Result<CompiledKernel, CpuError> {
    let mut unit = Unit::new(kernel, mode)?;
    let mut launch = emitter(kernel, &mut unit, 0, HashMap::new());
    let mut arrays = Vec::new();
    for buffer in kernel.buffers.values() {
        if buffer.extents.len() != buffer.strides.len() || buffer.extents.len() > MAX_AXES {
            let rule = format!("buffer `{}` has unequal or too many axes", buffer.name);
            return Err(malformed(kernel, rule));
        }
        let extents = launch_values(&mut launch, &buffer.extents)?;
        let strides = launch_values(&mut launch, &buffer.strides)?;
        let written = buffer.written;
        let is_constant = matches!(buffer.space, BufferSpace::Constant { .. });
        arrays.push(Array {
            name: buffer.name.clone(),
            dtype: buffer.dtype,
            place: ArrayPlace::Buffer { extents, strides, written, is_constant },
        });
    }
    let grid_extents: Vec<ExprId> = kernel.grid.iter().map(|axis| axis.extent).collect();
    let grid_extents = launch_values(&mut launch, &grid_extents)?;
    let launch_code = launch.code;

    unit.n_buffers = arrays.len();
    unit.arrays = arrays;
    unit.place_tiles(kernel)?;
    unit.place_kept_arrays(kernel)?;
    let mut grid: Vec<GridAxis> =
        grid_extents.into_iter().map(|extent| GridAxis { extent, coords: Vec::new() }).collect();
    let mut agents = Vec::new();
    for (role, name) in agent_roles(kernel) {
        let block_vars = declare_grid(kernel, &mut unit, &mut grid);
        let mut emitter = emitter(kernel, &mut unit, role, block_vars);
        emitter.statements(&kernel.body)?;
        agents.push(Agent { role, name, code: emitter.code });
    }
    let args = kernel.args.values().zip(&unit.args);
    Ok(CompiledKernel {
        name: kernel.name.clone(),
        args: args.map(|(arg, &register)| (arg.name.clone(), arg.ty, register)).collect(),
        arrays: unit.arrays,
        n_buffers: unit.n_buffers,
        grid,
        raster: kernel.raster,
        mode,
        uniforms: unit.uniforms,
        launch_code,
        roles: agents,
        programs: unit.programs,
        accesses: unit.accesses,
        facts: unit.assumptions,
        sites: unit.sites,
        operations: unit.operations,
        branches: unit.branches,
        counted_ops: unit.counted_ops,
        threads: kernel.threads,
        meetings: unit.meetings,
        agents: unit.agents,
        n_agents: unit.n_agents,
        block_agent: block_agent(kernel),
        n_places: unit.places.len(),
        vector_bytes: unit.vector_bytes,
        fragment_bytes: unit.fragment_bytes,
        tile_bytes: unit.tile_bytes,
    })
}

fn emitter<'c, 'k>(
    kernel: &'k ProgramKernel,
    unit: &'c mut Unit,
    role: usize,
    block_vars: HashMap<VarId, Uniform>,
) -> Emitter<'c, 'k> {
    let span = SpanId::from_index(0);
    Emitter {
        kernel,
        unit,
        code: Vec::new(),
        landed: 0,
        block_vars,
        role,
        lane: None,
        span,
        counted: HashSet::new(),
    }
}

/// Makes code for numbers of the launch: index expressions over arguments and
/// literals.
fn launch_values(launch: &mut Emitter<'_, '_>, ids: &[ExprId]) -> Result<Vec<Uniform>, CpuError> {
    let mut registers = Vec::new();
    for &id in ids {
        let value = launch.eval_as(id, DType::I64)?;
        registers.push(launch.uniform(&value)?);
    }
    Ok(registers)
}

/// The roles that run: all warps as one, or each range of warps for itself.
fn agent_roles(kernel: &ProgramKernel) -> Vec<(usize, String)> {
    let roles = || kernel.roles.iter().map(|(id, role)| (id.index(), role.name.clone()));
    if kernel.roles.len() > 1 {
        roles().skip(1).collect()
    } else {
        vec![roles().next().unwrap_or((0, "all".into()))]
    }
}

/// Gives a role registers for the block's coordinates.
fn declare_grid(
    kernel: &ProgramKernel,
    unit: &mut Unit,
    grid: &mut [GridAxis],
) -> HashMap<VarId, Uniform> {
    let mut vars = HashMap::new();
    for (axis, compiled) in kernel.grid.iter().zip(grid) {
        let register = unit.fresh_uniform();
        compiled.coords.push(register);
        vars.insert(axis.var, register);
    }
    vars
}

/// Who runs statements at block scope: all, or the only work-item.
fn block_agent(kernel: &ProgramKernel) -> u32 {
    let items = kernel.domains.get(kernel.block_domain).map_or(0, Domain::n_items);
    u32::from(items == 1)
}
