//! Makes programs by hand.

use tile_ir::dtype::DType;
use tile_ir::op::{BinaryOp, CompareOp, LogicOp, MathFn, UnaryOp};
use tile_ir::program::{
    Access, Arg, ArgId, ArgSource, AxisGuard, Buffer, BufferId, BufferSource, BufferSpace, Domain,
    DomainAxis, DomainId, Expr, ExprId, ExprKind, Fragment, FragmentId, GridAxis, ItemLayout,
    Literal, LoopRange, Participants, ProgramKernel, Raster, Role, RoleId, Scope, SharedMemory,
    Stmt, StmtKind, Target, Tile, TileId, TileLayout, TileSpace, Ty, Unroll, Var, VarId,
};
use tile_ir::semantics::Scalar;
use tile_ir::span::{SourceRange, SpanId, SpanTable};
use tile_ir::value::{ArgValue, ScalarValue};

use crate::cpu::{CpuBuffer, CpuError, Order, prepare, run};

pub(super) const INDEX: Ty = Ty::INDEX32;

/// A program under construction.
pub(super) struct Builder {
    pub(super) kernel: ProgramKernel,
    span: SpanId,
    role: RoleId,
}

impl Builder {
    /// An empty kernel whose blocks have `threads` threads.
    pub(super) fn new(threads: u32) -> Self {
        let mut roles = tile_ir::arena::Arena::new();
        let role = roles.push(Role { name: "all".into(), first_warp: 0, n_warps: None });
        let kernel = ProgramKernel {
            name: "k".into(),
            args: Default::default(),
            buffers: Default::default(),
            grid: Vec::new(),
            raster: Raster::RowMajor,
            threads,
            min_blocks: 0,
            block_domain: tile_ir::arena::EntityId::from_index(0),
            roles,
            tiles: Default::default(),
            shared_memory: SharedMemory::Static,
            domains: Default::default(),
            fragments: Default::default(),
            vars: Default::default(),
            exprs: Default::default(),
            body: Vec::new(),
        };
        Self { kernel, span: SpanTable::new().push(SourceRange::default()), role }
    }

    pub(super) fn expr(&mut self, kind: ExprKind, ty: Ty) -> ExprId {
        self.kernel.exprs.push(Expr { kind, ty })
    }

    fn ty(&self, id: ExprId) -> Ty {
        self.kernel.exprs[id].ty
    }

    pub(super) fn int(&mut self, value: i128) -> ExprId {
        self.expr(ExprKind::Literal(Literal::Int(value)), INDEX)
    }

    pub(super) fn literal(&mut self, literal: Literal, dtype: DType) -> ExprId {
        self.expr(ExprKind::Literal(literal), Ty::Scalar(dtype))
    }

    pub(super) fn f32(&mut self, value: f64) -> ExprId {
        self.literal(Literal::Float(value), DType::F32)
    }

    pub(super) fn var(&mut self, var: VarId) -> ExprId {
        let ty = self.kernel.vars[var].ty;
        self.expr(ExprKind::Var(var), ty)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        let ty = self.ty(lhs);
        self.expr(ExprKind::Binary { op, lhs, rhs }, ty)
    }

    pub(super) fn add(&mut self, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.binary(BinaryOp::Add, lhs, rhs)
    }

    pub(super) fn mul(&mut self, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.binary(BinaryOp::Mul, lhs, rhs)
    }

    pub(super) fn unary(&mut self, op: UnaryOp, operand: ExprId) -> ExprId {
        let ty = self.ty(operand);
        self.expr(ExprKind::Unary { op, operand }, ty)
    }

    pub(super) fn fma(&mut self, a: ExprId, b: ExprId, c: ExprId) -> ExprId {
        let ty = self.ty(c);
        self.expr(ExprKind::Fma { a, b, c }, ty)
    }

    pub(super) fn compare(&mut self, op: CompareOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.expr(ExprKind::Compare { op, lhs, rhs }, Ty::BOOL)
    }

    pub(super) fn logic(&mut self, op: LogicOp, lhs: ExprId, rhs: ExprId) -> ExprId {
        self.expr(ExprKind::Logic { op, lhs, rhs }, Ty::BOOL)
    }

    pub(super) fn select(&mut self, cond: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        let ty = self.ty(then);
        self.expr(ExprKind::Select { cond, then, otherwise }, ty)
    }

    pub(super) fn cast(&mut self, operand: ExprId, ty: Ty) -> ExprId {
        self.expr(ExprKind::Cast(operand), ty)
    }

    pub(super) fn math(&mut self, func: MathFn, arg: ExprId) -> ExprId {
        let ty = self.ty(arg);
        self.expr(ExprKind::Math { func, arg }, ty)
    }

    pub(super) fn coord(&mut self, domain: DomainId, axis: u32) -> ExprId {
        self.expr(ExprKind::Coord { domain, axis }, INDEX)
    }

    pub(super) fn fragment_value(&mut self, fragment: FragmentId) -> ExprId {
        let ty = self.kernel.fragments[fragment].ty;
        self.expr(ExprKind::Fragment(fragment), ty)
    }

    pub(super) fn load(&mut self, access: Access) -> ExprId {
        let dtype = match access.target {
            Target::Buffer(id) => self.kernel.buffers[id].dtype,
            Target::Tile(id) => self.kernel.tiles[id].dtype,
        };
        self.expr(ExprKind::Load(access), Ty::Scalar(dtype))
    }

    /// An index argument.
    pub(super) fn arg(&mut self, name: &str, ty: Ty) -> (ArgId, ExprId) {
        let source = ArgSource::Dim(tile_ir::arena::EntityId::from_index(0));
        let id = self.kernel.args.push(Arg { name: name.into(), ty, source, divisor: 1 });
        (id, self.expr(ExprKind::Arg(id), ty))
    }

    /// A dense row-major buffer.
    pub(super) fn buffer(
        &mut self,
        name: &str,
        dtype: DType,
        extents: &[ExprId],
        written: bool,
    ) -> BufferId {
        let mut strides = Vec::new();
        let mut stride = self.int(1);
        for &extent in extents.iter().rev() {
            strides.insert(0, stride);
            stride = self.mul(stride, extent);
        }
        let source = BufferSource::Tensor(tile_ir::arena::EntityId::from_index(0));
        let extents = extents.to_vec();
        self.kernel.buffers.push(Buffer {
            name: name.into(),
            dtype,
            source,
            space: BufferSpace::Global,
            extents,
            strides,
            written,
            is_aligned: true,
        })
    }

    pub(super) fn tile(&mut self, name: &str, dtype: DType, extents: &[u32]) -> TileId {
        self.tile_laid_out(name, dtype, extents, TileLayout::row_major(extents), 1)
    }

    pub(super) fn tile_laid_out(
        &mut self,
        name: &str,
        dtype: DType,
        extents: &[u32],
        layout: TileLayout,
        buffers: u32,
    ) -> TileId {
        let extents = extents.to_vec();
        let name = name.into();
        let space = TileSpace::Shared;
        let tile = Tile {
            name,
            space,
            dtype,
            extents,
            layout,
            is_arranged: false,
            buffers,
            offset_bytes: 0,
        };
        self.kernel.tiles.push(tile)
    }

    pub(super) fn domain(&mut self, extents: &[u32]) -> DomainId {
        self.domain_laid_out(extents, ItemLayout::one_per_thread(extents))
    }

    pub(super) fn domain_laid_out(&mut self, extents: &[u32], layout: ItemLayout) -> DomainId {
        let axes = extents.iter().map(|&extent| DomainAxis { name: "i".into(), extent });
        self.kernel.domains.push(Domain { axes: axes.collect(), layout, projection: None })
    }

    pub(super) fn fragment(&mut self, domain: DomainId, ty: Ty) -> FragmentId {
        self.kernel.fragments.push(Fragment { name: "f".into(), ty, domain, accumulator: false })
    }

    pub(super) fn new_var(&mut self, ty: Ty, scope: Scope) -> VarId {
        self.kernel.vars.push(Var { name: "v".into(), ty, scope })
    }

    pub(super) fn grid_axis(&mut self, extent: ExprId) -> VarId {
        let var = self.new_var(INDEX, Scope::Block);
        self.kernel.grid.push(GridAxis { var, extent });
        var
    }

    pub(super) fn stmt(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, scope: Scope::Thread, role: self.role, span: self.span }
    }

    /// A statement of another role.
    pub(super) fn stmt_of(&self, role: RoleId, kind: StmtKind) -> Stmt {
        Stmt { role, ..self.stmt(kind) }
    }

    pub(super) fn let_(&self, var: VarId, value: ExprId) -> Stmt {
        self.stmt(StmtKind::Let { var, value: Some(value) })
    }

    pub(super) fn assign(&self, var: VarId, value: ExprId) -> Stmt {
        self.stmt(StmtKind::Assign { var, value })
    }

    pub(super) fn store(&self, access: Access, value: ExprId) -> Stmt {
        self.stmt(StmtKind::Store { access, value })
    }

    pub(super) fn set(&self, fragment: FragmentId, value: ExprId) -> Stmt {
        self.stmt(StmtKind::SetFragment { fragment, value })
    }

    pub(super) fn items(&self, domain: DomainId, body: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::Items { domain, body })
    }

    pub(super) fn barrier(&self) -> Stmt {
        self.stmt(StmtKind::Barrier(Participants::Block))
    }

    pub(super) fn while_(&self, cond: ExprId, body: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::While { cond, body })
    }

    pub(super) fn if_(&self, cond: ExprId, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::If { cond, then, otherwise })
    }

    pub(super) fn for_in(&self, var: VarId, range: LoopRange, body: Vec<Stmt>) -> Stmt {
        self.stmt(StmtKind::For { var, range, unroll: Unroll::Auto, body })
    }

    /// `for var in start..end`
    pub(super) fn for_(&mut self, var: VarId, start: ExprId, end: ExprId, body: Vec<Stmt>) -> Stmt {
        let step = self.int(1);
        self.for_in(var, LoopRange::Between { start, end, step, reversed: false }, body)
    }
}

/// An access without guards.
pub(super) fn at(target: Target, indices: &[ExprId]) -> Access {
    let guards = vec![AxisGuard::NONE; indices.len()];
    Access {
        target,
        slot: None,
        indices: indices.to_vec(),
        guards,
        pad: None,
        width: 1,
        aligned_elems: 1,
        agreed: false,
        once: false,
    }
}

/// An access with all guards.
pub(super) fn guarded(target: Target, indices: &[ExprId], pad: Option<ExprId>) -> Access {
    let guards = vec![AxisGuard::BOTH; indices.len()];
    Access { guards, pad, ..at(target, indices) }
}

pub(super) fn buffer(id: BufferId) -> Target {
    Target::Buffer(id)
}

pub(super) fn tile(id: TileId) -> Target {
    Target::Tile(id)
}

/// A buffer of a test, exclusive for as long as its vector is borrowed.
pub(super) fn of<T: Scalar>(values: &mut [T]) -> CpuBuffer {
    // SAFETY: the slice is aligned, initialised and borrowed exclusively; tests
    // drop the buffer before they look at it.
    unsafe { CpuBuffer::new(values.as_mut_ptr().cast(), values.len(), T::DTYPE, true) }
}

pub(super) fn index(value: i64) -> ArgValue {
    ArgValue::Index(value)
}

pub(super) fn scalar<T: Scalar>(value: T) -> ArgValue {
    ArgValue::Scalar(ScalarValue { dtype: T::DTYPE, bits: value.to_bits() })
}

/// Compiles and runs.
pub(super) fn execute(
    builder: &Builder,
    buffers: &[CpuBuffer],
    args: &[ArgValue],
) -> Result<(), CpuError> {
    run(&prepare(&builder.kernel, Order::Numbered)?, buffers, args).map(drop)
}
