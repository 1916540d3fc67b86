//! Specialise: binds element types and tile sizes, and makes the first program.
//!
//! One virtual thread runs each work-item of the block domain and each point of
//! a cooperative loop; every tensor access is guarded on all sides, with its
//! pad. Uniform control flow stands at block scope, also where the kernel has it
//! around work-item code: between barriers the order of items is free, so
//! `for k { items }` and `items { for k }` mean the same, and the first form is
//! what lets a thread with several items share the loads of an iteration.
//!
//! Also decided here: 32- or 64-bit indices, by the range of each expression,
//! and which products are fused into sums (`a * b + c` of `f32` and `f64` rounds
//! once; where both operands are products, the left one is fused).

mod assumed;
mod build;
mod constant;
mod exchange;
mod expr;
mod fragments;
mod interval;
mod literal;
mod local;
mod lockstep;
mod stmt;
mod warp;

use std::collections::BTreeMap;

use self::build::Builder;
use self::constant::Parameters;
use self::interval::Interval;
use super::{Binding, LowerError, StrideFact, TensorLayout};
use crate::arena::{Arena, EntityId as _};
use crate::check::{Uniformity, uniformity};
use crate::config::{Config, tile_value};
use crate::dtype::DType;
use crate::kernel::{self, ArrayRef, Kernel, Param, Place, StmtKind, Type, VarKind, eval_index};
use crate::program::Scope;
use crate::program::{
    Arg, ArgId, ArgSource, Buffer, BufferId, BufferSource, BufferSpace, Domain, DomainAxis,
    DomainId, ExprKind, FragmentId, GridAxis, IndexWidth, ItemLayout, Program, ProgramKernel,
    Raster, Role, SharedMemory, Tile, TileId, TileLayout, TileSpace, Ty, Var, VarId,
};
use crate::syntax::TensorSpace;

/// Largest dimension of a launch whose indices are 32-bit.
const MAX_DIM_32: i128 = 1 << 30;
/// Largest dimension of any launch.
const MAX_DIM_64: i128 = 1 << 40;

/// What a variable of the kernel is in the program.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Const(i128),
    Arg(ArgId, Interval),
    /// A coordinate of a domain: axis and extent.
    Coord(DomainId, u32, u32),
    Var(VarId, Interval),
    Fragment(FragmentId, Interval),
}

struct Specialiser<'a> {
    kernel: &'a Kernel,
    binding: &'a Binding,
    config: &'a Config,
    uniform: Uniformity,
    b: Builder,
    slots: BTreeMap<kernel::VarId, Slot>,
    buffers: BTreeMap<kernel::TensorId, BufferId>,
    tiles: BTreeMap<kernel::TileId, TileId>,
    /// The domain whose items the present statements are of.
    present: DomainId,
    /// The tiles of exchanges, by element type and what they hold.
    exchange_tiles: BTreeMap<(DType, exchange::Holds), TileId>,
    /// Whether the present expression is one that the block agrees on.
    by_all: bool,
    /// The axes of the cooperative loop around, if there is one.
    each: Option<Vec<kernel::VarId>>,
    /// Whether the checks have passed the kernel.
    is_checked: bool,
}

/// Makes the first program of a kernel.
pub(super) fn specialise(
    kernel: &Kernel,
    binding: &Binding,
    config: &Config,
) -> Result<Program, LowerError> {
    specialise_kernel(kernel, binding, config, true)
}

/// The same of a kernel that no check has passed: collective statements that not all
/// work-items may reach stand within items ([`lockstep`]).
pub(super) fn specialise_unchecked(
    kernel: &Kernel,
    binding: &Binding,
    config: &Config,
) -> Result<Program, LowerError> {
    specialise_kernel(kernel, binding, config, false)
}

fn specialise_kernel(
    kernel: &Kernel,
    binding: &Binding,
    config: &Config,
    is_checked: bool,
) -> Result<Program, LowerError> {
    for (id, param) in kernel.type_params.iter() {
        let bound = binding.types.get(id.index());
        if !bound.is_some_and(|&dtype| param.bound.admits(dtype)) {
            return Err(LowerError::Unbound {
                kernel: kernel.name.clone(),
                name: param.name.clone(),
                bound: param.bound.name(),
            });
        }
    }
    let mut specialiser = Specialiser {
        kernel,
        binding,
        config,
        uniform: uniformity(kernel),
        b: Builder::new(empty_kernel(&kernel.name)),
        slots: BTreeMap::new(),
        buffers: BTreeMap::new(),
        tiles: BTreeMap::new(),
        present: DomainId::from_index(0),
        exchange_tiles: BTreeMap::new(),
        by_all: false,
        each: None,
        is_checked,
    };
    specialiser.declare_args()?;
    specialiser.declare_buffers()?;
    specialiser.declare_grid()?;
    specialiser.declare_block()?;
    specialiser.declare_tiles()?;
    let body = specialiser.block_body(&kernel.body)?;
    let mut program_kernel = specialiser.b.kernel;
    program_kernel.body = body;
    let most = program_kernel.domains.values().map(|domain| domain.layout.n_threads()).max();
    program_kernel.threads = most.unwrap_or(1).max(1);
    program_kernel.min_blocks = config.min_blocks;
    fragments::repeat_indices(&mut program_kernel);
    fragments::keep_in_place(&mut program_kernel);
    Ok(Program {
        kernels: vec![program_kernel],
        workspaces: Arena::new(),
        promises: kernel.promises.clone(),
        spans: kernel.spans.clone(),
    })
}

fn empty_kernel(name: &str) -> ProgramKernel {
    let mut roles = Arena::new();
    roles.push(Role { name: "all".to_owned(), first_warp: 0, n_warps: None });
    ProgramKernel {
        name: name.to_owned(),
        args: Arena::new(),
        buffers: Arena::new(),
        grid: Vec::new(),
        raster: Raster::RowMajor,
        threads: 1,
        min_blocks: 0,
        roles,
        tiles: Arena::new(),
        shared_memory: SharedMemory::Static,
        block_domain: DomainId::from_index(0),
        domains: Arena::new(),
        fragments: Arena::new(),
        vars: Arena::new(),
        exprs: Arena::new(),
        body: Vec::new(),
    }
}

impl Specialiser<'_> {
    /// The error of a kernel that breaks what its check has promised.
    fn broken(&self, what: &'static str) -> LowerError {
        LowerError::Broken { kernel: self.kernel.name.clone(), what }
    }

    /// The value of an index expression over tile parameters and literals.
    fn constant(&self, expr: kernel::ExprId) -> Result<u32, LowerError> {
        let var = |id| tile_value(self.kernel, &self.config.tiles, id);
        eval_index(self.kernel, expr, &var)
            .and_then(|value| u32::try_from(value).ok())
            .ok_or_else(|| self.broken("an extent that the tile sizes do not decide"))
    }

    /// Whether an axis has no points with these tile sizes.
    fn is_empty(&self, axis: &kernel::Axis) -> bool {
        let var = |id| tile_value(self.kernel, &self.config.tiles, id);
        eval_index(self.kernel, axis.extent, &var).is_some_and(|extent| extent <= 0)
    }

    fn declare_args(&mut self) -> Result<(), LowerError> {
        let (width, largest) = match self.binding.index_width {
            IndexWidth::Bits32 => (IndexWidth::Bits32, MAX_DIM_32),
            IndexWidth::Bits64 => (IndexWidth::Bits64, MAX_DIM_64),
        };
        let mut divisors = self.binding.dim_divisors.iter().copied();
        for (id, var) in self.kernel.vars.iter() {
            let slot = match var.kind {
                VarKind::TileParam(param) => Slot::Const(i128::from(self.config.tile(param))),
                VarKind::Dim => {
                    let arg = Arg {
                        name: var.name.clone(),
                        ty: Ty::Index(width),
                        source: ArgSource::Dim(id),
                        divisor: divisors.next().unwrap_or(1),
                    };
                    let range = Interval { min: 0, max: largest };
                    Slot::Arg(self.b.kernel.args.push(arg), range)
                }
                VarKind::Scalar(scalar) => {
                    let dtype = self.scalar_type(var.ty);
                    let dtype = dtype.ok_or_else(|| self.broken("an untyped scalar"))?;
                    let arg = Arg {
                        name: var.name.clone(),
                        ty: Ty::Scalar(dtype),
                        source: ArgSource::Scalar(scalar),
                        divisor: 1,
                    };
                    Slot::Arg(self.b.kernel.args.push(arg), Interval::ALL)
                }
                VarKind::Grid
                | VarKind::Block
                | VarKind::Each
                | VarKind::Loop
                | VarKind::Let { .. } => continue,
            };
            self.slots.insert(id, slot);
        }
        Ok(())
    }

    fn declare_buffers(&mut self) -> Result<(), LowerError> {
        let written = written_tensors(self.kernel);
        let facts = self.binding.layouts.iter().map(TensorLayout::n_arguments);
        let n_strides: usize = facts.sum();
        let n_words = self.kernel.tensors.len() + self.b.kernel.args.len() + n_strides;
        let mut parameters = Parameters::beside(n_words);
        for param in &self.kernel.params {
            let Param::Tensor(tensor) = *param else { continue };
            let tensor_param = &self.kernel.tensors[tensor];
            let dtype = self.scalar_type(Type::Scalar(tensor_param.elem));
            let dtype = dtype.ok_or_else(|| self.broken("an untyped tensor"))?;
            let mut extents = Vec::new();
            for &extent in &tensor_param.extents {
                extents.push(self.expr(extent)?);
            }
            let layout = self.binding.layouts.get(tensor.index());
            let strides = match layout {
                None | Some(TensorLayout::RowMajor) => self.row_major_strides(&extents),
                Some(TensorLayout::Strided(facts)) => self.given_strides(tensor, facts),
            };
            let buffer = Buffer {
                name: tensor_param.name.clone(),
                dtype,
                source: BufferSource::Tensor(tensor),
                space: match tensor_param.space {
                    TensorSpace::Global => BufferSpace::Global,
                    TensorSpace::Constant => {
                        let literals = extents.iter().map(|&id| self.b.constant_value(id));
                        parameters.take(dtype, literals)
                    }
                },
                extents,
                strides,
                written: written.contains(&tensor),
                is_aligned: matches!(layout, None | Some(TensorLayout::RowMajor)),
            };
            let id = self.b.kernel.buffers.push(buffer);
            self.buffers.insert(tensor, id);
        }
        Ok(())
    }

    /// Row-major: a stride is the product of the extents inside it.
    fn row_major_strides(
        &mut self,
        extents: &[crate::program::ExprId],
    ) -> Vec<crate::program::ExprId> {
        let mut strides = vec![self.index_literal(1)];
        for &extent in extents.iter().skip(1).rev() {
            let inner = strides[strides.len() - 1];
            strides.push(self.stride_product(extent, inner));
        }
        strides.reverse();
        strides
    }

    /// The strides of a view: numbers where they are known, else launch arguments.
    fn given_strides(
        &mut self,
        tensor: kernel::TensorId,
        facts: &[StrideFact],
    ) -> Vec<crate::program::ExprId> {
        let width = self.binding.index_width;
        let most = match width {
            IndexWidth::Bits32 => i128::from(i32::MAX),
            IndexWidth::Bits64 => Interval::ALL.max,
        };
        let mut strides = Vec::new();
        for (axis, fact) in (0_u32..).zip(facts) {
            strides.push(match *fact {
                StrideFact::One => self.index_literal(1),
                StrideFact::Zero => self.index_literal(0),
                StrideFact::Any { divisor } => {
                    let unit = divisor.max(1);
                    let arg = self.b.kernel.args.push(Arg {
                        name: format!("{}_stride_{axis}", self.kernel.tensors[tensor].name),
                        ty: Ty::Index(width),
                        source: ArgSource::Stride { tensor, axis, unit },
                        divisor: 1,
                    });
                    let range = Interval { min: 0, max: most / i128::from(unit) };
                    let units = self.b.index_of_width(ExprKind::Arg(arg), width, range);
                    let unit = self.index_literal(unit.into());
                    self.b.index_binary(crate::op::BinaryOp::Mul, units, unit)
                }
            });
        }
        strides
    }

    /// A product of extents: of the launch's index width, since the tensor's
    /// size is.
    fn stride_product(
        &mut self,
        extent: crate::program::ExprId,
        inner: crate::program::ExprId,
    ) -> crate::program::ExprId {
        if self.b.constant_value(inner) == Some(1) {
            return extent;
        }
        let width = self.binding.index_width;
        let lhs = self.b.widen(extent, width);
        let rhs = self.b.widen(inner, width);
        let most = match width {
            IndexWidth::Bits32 => i128::from(i32::MAX),
            IndexWidth::Bits64 => Interval::ALL.max,
        };
        let kind = ExprKind::Binary { op: crate::op::BinaryOp::Mul, lhs, rhs };
        self.b.index_of_width(kind, width, Interval { min: 0, max: most })
    }

    fn declare_grid(&mut self) -> Result<(), LowerError> {
        for axis in &self.kernel.grid {
            let extent = self.expr(axis.extent)?;
            let range = Interval { min: 0, max: (self.b.range(extent).max - 1).max(0) };
            let var = self.push_var(axis.var, Ty::Index(range.width()), Scope::Block, range);
            self.b.kernel.grid.push(GridAxis { var, extent });
        }
        Ok(())
    }

    fn declare_block(&mut self) -> Result<(), LowerError> {
        let axes = self.kernel.block.as_deref().unwrap_or_default();
        let domain = self.domain_of(axes)?;
        self.b.kernel.block_domain = domain;
        self.present = domain;
        Ok(())
    }

    /// A domain of these axes, one thread per item, and the slots of its
    /// coordinates.
    fn domain_of(&mut self, axes: &[kernel::Axis]) -> Result<DomainId, LowerError> {
        let mut domain_axes = Vec::new();
        for axis in axes {
            let name = self.kernel.vars[axis.var].name.clone();
            domain_axes.push(DomainAxis { name, extent: self.constant(axis.extent)? });
        }
        let extents: Vec<u32> = domain_axes.iter().map(|axis| axis.extent).collect();
        let layout = ItemLayout::one_per_thread(&extents);
        let id = self.b.kernel.domains.push(Domain { axes: domain_axes, layout, projection: None });
        for ((number, axis), extent) in (0u32..).zip(axes).zip(extents) {
            self.slots.insert(axis.var, Slot::Coord(id, number, extent));
        }
        Ok(id)
    }

    fn declare_tiles(&mut self) -> Result<(), LowerError> {
        for (id, tile) in self.kernel.tiles.iter() {
            match tile.space {
                kernel::TileSpace::Shared => drop(self.declare_tile(id, TileSpace::Shared)?),
                // Of those it is known where they are declared.
                kernel::TileSpace::Local { .. } => {}
            }
        }
        Ok(())
    }

    fn declare_tile(&mut self, id: kernel::TileId, space: TileSpace) -> Result<TileId, LowerError> {
        let tile = &self.kernel.tiles[id];
        let dtype = self.scalar_type(Type::Scalar(tile.elem));
        let dtype = dtype.ok_or_else(|| self.broken("an untyped tile"))?;
        let extents: Result<Vec<u32>, _> =
            tile.extents.iter().map(|&extent| self.constant(extent)).collect();
        let extents = extents?;
        let layout = TileLayout::row_major(&extents);
        let name = tile.name.clone();
        let tile = Tile {
            name,
            space,
            dtype,
            extents,
            layout,
            is_arranged: false,
            buffers: 1,
            offset_bytes: 0,
        };
        let program_id = self.b.kernel.tiles.push(tile);
        self.tiles.insert(id, program_id);
        Ok(program_id)
    }

    fn push_var(
        &mut self,
        kernel_var: kernel::VarId,
        ty: Ty,
        scope: Scope,
        range: Interval,
    ) -> VarId {
        let name = self.kernel.vars[kernel_var].name.clone();
        let var = self.b.kernel.vars.push(Var { name, ty, scope });
        self.slots.insert(kernel_var, Slot::Var(var, range));
        var
    }
}

/// The tensors that a kernel stores to.
fn written_tensors(kernel: &Kernel) -> Vec<kernel::TensorId> {
    fn visit(stmts: &[kernel::Stmt], written: &mut Vec<kernel::TensorId>) {
        for stmt in stmts {
            if let StmtKind::Store { access, .. }
            | StmtKind::Update { place: Place::Element(access), .. }
            | StmtKind::Atomic { access, .. } = &stmt.kind
                && let ArrayRef::Tensor(tensor) = access.array
            {
                written.push(tensor);
            }
            for body in stmt.kind.bodies() {
                visit(body, written);
            }
        }
    }
    let mut written = Vec::new();
    visit(&kernel.body, &mut written);
    written
}
