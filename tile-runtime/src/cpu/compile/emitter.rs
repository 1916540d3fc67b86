//! Emitting operations: registers, and the forms that a value takes.

use std::collections::{HashMap, HashSet};

use tile_ir::arena::EntityId as _;
use tile_ir::dtype::DType;
use tile_ir::program::{DomainId, ExprId, ProgramKernel, Ty, VarId};
use tile_ir::span::SpanId;

use super::facts::VarFacts;
use super::unit::Unit;
use crate::cpu::CpuError;
use crate::cpu::code::{Affine, Instr, Slot, Uniform, Width};
use crate::cpu::vector::{self, Fn1, Fn2, Fn3};

/// The type of lanes that hold values of `ty`: an index is an `i64`.
pub(super) fn lane_type(ty: Ty) -> DType {
    match ty {
        Ty::Scalar(dtype) => dtype,
        Ty::Index(_) => DType::I64,
    }
}

/// Size of one lane.
pub(super) fn lane_bytes(dtype: DType) -> usize {
    dtype.size_bytes() as usize
}

/// A value while code is made for it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// The same for all lanes.
    Uniform(Uniform),
    /// An index; the same for all lanes where it has no coefficients.
    Affine(Affine),
    /// A lane for each item. `owned` registers are given back when the value
    /// has been used.
    Lanes { slot: Slot, owned: bool },
}

impl Value {
    /// Whether it is the same for all lanes.
    pub(super) fn is_uniform(&self) -> bool {
        match self {
            Self::Uniform(_) => true,
            Self::Affine(affine) => affine.is_uniform(),
            Self::Lanes { .. } => false,
        }
    }
}

/// A loop over lanes.
#[derive(Clone, Copy)]
pub(super) enum Func {
    /// Of one operand.
    Of1(Fn1),
    /// Of two operands.
    Of2(Fn2),
    /// Of three operands.
    Of3(Fn3),
}

impl Func {
    fn address(self) -> usize {
        match self {
            Self::Of1(f) => f as usize,
            Self::Of2(f) => f as usize,
            Self::Of3(f) => f as usize,
        }
    }

    /// The operation on as many slots as the function has operands.
    pub(super) fn on(self, width: Width, dst: Slot, operands: &[Slot]) -> Option<Instr> {
        match (self, operands) {
            (Self::Of1(f), &[a]) => Some(Instr::Map1 { width, f, dst, a }),
            (Self::Of2(f), &[a, b]) => Some(Instr::Map2 { width, f, dst, a, b }),
            (Self::Of3(f), &[a, b, c]) => Some(Instr::Map3 { width, f, dst, a, b, c }),
            (Self::Of1(_) | Self::Of2(_) | Self::Of3(_), _) => None,
        }
    }
}

/// The vector registers of one lane program.
#[derive(Default)]
struct Registers {
    end_bytes: usize,
    free: HashMap<usize, Vec<usize>>,
}

/// What is known within the body of an `Items`.
pub(super) struct LaneState {
    /// The domain.
    pub(super) domain: DomainId,
    /// Extents of its axes.
    pub(super) extents: Vec<usize>,
    /// Facts about the body's variables.
    pub(super) facts: VarFacts,
    /// Values of the body's variables.
    pub(super) vars: HashMap<VarId, Value>,
    /// The lanes that take part; absent for all.
    pub(super) mask: Option<Slot>,
    /// Of variables that began without a value: flags of which lanes have one.
    pub(super) set_flags: HashMap<VarId, Slot>,
    /// Run once before the first chunk.
    pub(super) preamble: Vec<Instr>,
    max_lanes: usize,
    registers: Registers,
    /// Registers from here on belong to the body.
    first_local: Uniform,
    /// Registers of the body that only the preamble writes.
    settled: HashSet<Uniform>,
    /// Results of the preamble, by function and operands.
    computed: HashMap<(usize, Vec<Slot>), Uniform>,
    splats: HashMap<(Uniform, usize), Slot>,
}

impl LaneState {
    /// The state at the beginning of a body.
    pub(super) fn new(
        domain: DomainId,
        extents: Vec<usize>,
        facts: VarFacts,
        max_lanes: usize,
        first_local: Uniform,
    ) -> Self {
        Self {
            domain,
            extents,
            facts,
            vars: HashMap::new(),
            mask: None,
            set_flags: HashMap::new(),
            preamble: Vec::new(),
            max_lanes,
            registers: Registers::default(),
            first_local,
            settled: HashSet::new(),
            computed: HashMap::new(),
            splats: HashMap::new(),
        }
    }

    /// Bytes of vector registers in use at most.
    pub(super) fn vector_bytes(&self) -> usize {
        self.registers.end_bytes
    }
}

/// Makes one list of operations.
pub(super) struct Emitter<'c, 'k> {
    /// The kernel.
    pub(super) kernel: &'k ProgramKernel,
    /// What all lists share.
    pub(super) unit: &'c mut Unit,
    /// The list so far.
    pub(super) code: Vec<Instr>,
    /// The last position of the list that jumps may go to.
    pub(super) landed: usize,
    /// The role's variables of block scope.
    pub(super) block_vars: HashMap<VarId, Uniform>,
    /// The role whose statements are emitted, by position.
    pub(super) role: usize,
    /// Within an `Items`.
    pub(super) lane: Option<LaneState>,
    /// Where the present statement stands in the source.
    pub(super) span: SpanId,
    /// Expressions of the present statement that are counted.
    pub(super) counted: HashSet<ExprId>,
}

impl Emitter<'_, '_> {
    /// A broken rule of the program.
    pub(super) fn malformed(&self, rule: impl Into<String>) -> CpuError {
        CpuError::Malformed { kernel: self.kernel.name.clone(), rule: rule.into() }
    }

    /// The position of the next operation.
    pub(super) fn here(&mut self) -> usize {
        self.landed = self.code.len();
        self.landed
    }

    /// Emits an operation and returns its position.
    pub(super) fn push(&mut self, instr: Instr) -> usize {
        self.code.push(instr);
        self.code.len() - 1
    }

    /// Makes the jump at `at` go to the next operation.
    pub(super) fn land(&mut self, at: usize) {
        let here = self.here();
        if let Some(
            Instr::Jump { target }
            | Instr::JumpUnless { target, .. }
            | Instr::JumpIfNone { target, .. }
            | Instr::LoopNext { exit: target, .. },
        ) = self.code.get_mut(at)
        {
            *target = here;
        }
    }

    /// A vector register for lanes of `dtype`, to be given back.
    pub(super) fn take_register(&mut self, dtype: DType) -> Slot {
        let bytes = lane_bytes(dtype);
        let Some(lane) = &mut self.lane else { return Slot::Uniform(self.unit.fresh_uniform()) };
        match lane.registers.free.get_mut(&bytes).and_then(Vec::pop) {
            Some(offset) => Slot::Vector(offset),
            None => lane.new_register(bytes),
        }
    }

    /// Gives a register back.
    pub(super) fn give_register(&mut self, slot: Slot, dtype: DType) {
        if let (Slot::Vector(offset), Some(lane)) = (slot, &mut self.lane) {
            lane.registers.free.entry(lane_bytes(dtype)).or_default().push(offset);
        }
    }

    /// Ends the use of a value.
    pub(super) fn release(&mut self, value: Value, dtype: DType) {
        if let Value::Lanes { slot, owned: true } = value {
            self.give_register(slot, dtype);
        }
    }

    /// The register of a value that is the same for all lanes.
    pub(super) fn uniform(&mut self, value: &Value) -> Result<Uniform, CpuError> {
        match value {
            Value::Uniform(uniform) => Ok(*uniform),
            Value::Affine(affine) if affine.is_uniform() => self.affine_register(affine),
            Value::Affine(_) | Value::Lanes { .. } => {
                Err(self.malformed("a value that differs between items where one is needed"))
            }
        }
    }

    fn affine_register(&mut self, affine: &Affine) -> Result<Uniform, CpuError> {
        let constant = self.unit.constant(affine.constant.cast_unsigned());
        let Some(base) = affine.base else { return Ok(constant) };
        if affine.constant == 0 {
            return Ok(base);
        }
        let add = self.binary_func(tile_ir::op::BinaryOp::Add, DType::I64)?;
        self.uniform_op(add, &[base, constant], None)
    }

    /// The register of a uniform value that stays as it is while statements run
    /// that may assign variables.
    pub(super) fn pinned(&mut self, value: &Value) -> Result<Uniform, CpuError> {
        let uniform = self.uniform(value)?;
        if !self.unit.variables.contains(&uniform) || self.is_settled(uniform) {
            return Ok(uniform);
        }
        let copy = self.unit.fresh_uniform();
        self.move_to(Value::Uniform(uniform), DType::U64, Slot::Uniform(copy))?;
        Ok(copy)
    }

    /// Whether a register is written before an `Items` only.
    fn is_settled(&self, uniform: Uniform) -> bool {
        self.lane.as_ref().is_some_and(|lane| {
            uniform < lane.first_local
                || lane.settled.contains(&uniform)
                || self.unit.is_constant(uniform)
        })
    }

    /// A function of uniform operands, into `dst` where given. Where all
    /// operands are there before the `Items`, it is computed before it, once.
    pub(super) fn uniform_op(
        &mut self,
        func: Func,
        operands: &[Uniform],
        dst: Option<Uniform>,
    ) -> Result<Uniform, CpuError> {
        let slots: Vec<Slot> = operands.iter().map(|&operand| Slot::Uniform(operand)).collect();
        let early = dst.is_none()
            && self.lane.is_some()
            && operands.iter().all(|&operand| self.is_settled(operand));
        let key = (func.address(), slots);
        let known = self.lane.as_ref().and_then(|lane| lane.computed.get(&key));
        if let (true, Some(&known)) = (early, known) {
            return Ok(known);
        }
        let result = dst.unwrap_or_else(|| self.unit.fresh_uniform());
        let instr = func.on(Width::One, Slot::Uniform(result), &key.1);
        let instr = instr.ok_or_else(|| self.malformed("an operation with a missing operand"))?;
        match &mut self.lane {
            Some(lane) if early => {
                lane.preamble.push(instr);
                lane.settled.insert(result);
                lane.computed.insert(key, result);
            }
            Some(_) | None => self.code.push(instr),
        }
        Ok(result)
    }

    /// The slot of a value's lanes, and whether it must be given back.
    pub(super) fn lanes(&mut self, value: Value, dtype: DType) -> Result<(Slot, bool), CpuError> {
        if let Value::Lanes { slot, owned } = value {
            return Ok((slot, owned));
        }
        if value.is_uniform() {
            let uniform = self.uniform(&value)?;
            if self.is_settled(uniform) {
                return Ok((self.settled_splat(uniform, lane_bytes(dtype)), false));
            }
        }
        let slot = self.take_register(dtype);
        self.move_to(value, dtype, slot)?;
        Ok((slot, true))
    }

    /// Lanes that all hold a register's value, filled before the first chunk.
    fn settled_splat(&mut self, uniform: Uniform, bytes: usize) -> Slot {
        let Some(lane) = &mut self.lane else { return Slot::Uniform(uniform) };
        if let Some(&slot) = lane.splats.get(&(uniform, bytes)) {
            return slot;
        }
        let dst = lane.new_register(bytes);
        let f = vector::splat(bytes);
        lane.preamble.push(Instr::Map1 { width: Width::Whole, f, dst, a: Slot::Uniform(uniform) });
        lane.splats.insert((uniform, bytes), dst);
        dst
    }

    /// A function of operands with their types: one lane where all are
    /// uniform, else a lane for each item. `hint` is where the result is wanted.
    pub(super) fn map(
        &mut self,
        func: Func,
        result: DType,
        operands: Vec<(Value, DType)>,
        hint: Option<Slot>,
    ) -> Result<Value, CpuError> {
        if operands.iter().all(|(value, _)| value.is_uniform()) {
            let mut registers = Vec::new();
            for (value, _) in &operands {
                registers.push(self.uniform(value)?);
            }
            let dst = match hint {
                Some(Slot::Uniform(uniform)) => Some(uniform),
                Some(Slot::Vector(_) | Slot::Fragment { .. } | Slot::Found(_)) | None => None,
            };
            return self.uniform_op(func, &registers, dst).map(Value::Uniform);
        }
        let mut slots = Vec::new();
        let mut owned = Vec::new();
        for (value, dtype) in operands {
            let (slot, is_owned) = self.lanes(value, dtype)?;
            slots.push(slot);
            if is_owned {
                owned.push((slot, dtype));
            }
        }
        self.find_loaded(&mut slots, &owned);
        let (dst, is_owned) = self.result_slot(result, hint);
        let instr = func.on(Width::Chunk, dst, &slots);
        let instr = instr.ok_or_else(|| self.malformed("an operation with a missing operand"))?;
        self.push(instr);
        for (slot, dtype) in owned {
            self.give_register(slot, dtype);
        }
        Ok(Value::Lanes { slot: dst, owned: is_owned })
    }

    /// Leaves operands where they lie that were loaded just before and serve this
    /// operation alone: nothing is written between, and no jump goes there.
    fn find_loaded(&mut self, slots: &mut [Slot], owned: &[(Slot, DType)]) {
        if self.is_watched() {
            return;
        }
        for instr in self.code.iter_mut().skip(self.landed).rev() {
            let Instr::Load { width: Width::Chunk, dst, access, pad } = *instr else { return };
            if !owned.iter().any(|&(slot, _)| slot == dst) {
                return;
            }
            let place = self.unit.fresh_place(access);
            *instr = Instr::Find { place, spare: dst, access, pad };
            for slot in slots.iter_mut().filter(|slot| **slot == dst) {
                *slot = Slot::Found(place);
            }
        }
    }

    /// Where lanes of a result go: the hint, or a register to be given back.
    ///
    /// A register that is taken here differs from those of live operands, so an
    /// operation that changes the size of lanes never writes over its operand.
    pub(super) fn result_slot(&mut self, dtype: DType, hint: Option<Slot>) -> (Slot, bool) {
        match hint {
            Some(slot @ (Slot::Vector(_) | Slot::Fragment { .. })) => (slot, false),
            Some(Slot::Uniform(_) | Slot::Found(_)) | None => (self.take_register(dtype), true),
        }
    }

    /// Puts a value into a slot and ends its use.
    pub(super) fn move_to(
        &mut self,
        value: Value,
        dtype: DType,
        dst: Slot,
    ) -> Result<(), CpuError> {
        let bytes = lane_bytes(dtype);
        match (&value, dst) {
            (_, Slot::Found(_)) => {
                return Err(self.malformed("a value that is put where one was found"));
            }
            (Value::Lanes { .. }, Slot::Uniform(_)) => {
                return Err(self.malformed("a value that differs between items assigned to one"));
            }
            (Value::Lanes { slot, .. }, _) if *slot == dst => return Ok(()),
            (&Value::Lanes { slot, .. }, _) => {
                self.push(Instr::Map1 {
                    width: Width::Chunk,
                    f: vector::copy(bytes),
                    dst,
                    a: slot,
                });
            }
            (Value::Affine(affine), Slot::Vector(_) | Slot::Fragment { .. })
                if !affine.is_uniform() =>
            {
                self.push(Instr::Coords { dst, value: affine.clone() });
            }
            (Value::Uniform(_) | Value::Affine(_), _) => {
                let a = Slot::Uniform(self.uniform(&value)?);
                let (width, f) = match dst {
                    Slot::Uniform(_) => (Width::One, vector::copy(8)),
                    Slot::Vector(_) | Slot::Fragment { .. } | Slot::Found(_) => {
                        (Width::Chunk, vector::splat(bytes))
                    }
                };
                if a != dst {
                    self.push(Instr::Map1 { width, f, dst, a });
                }
            }
        }
        self.release(value, dtype);
        Ok(())
    }

    /// Writes `value` to `dst` in the lanes that take part, and ends its use.
    pub(super) fn blend_to(
        &mut self,
        value: Value,
        dtype: DType,
        dst: Slot,
    ) -> Result<(), CpuError> {
        let mask = self.lane.as_ref().and_then(|lane| lane.mask);
        let Some(mask) = mask else { return self.move_to(value, dtype, dst) };
        let (slot, owned) = self.lanes(value, dtype)?;
        let f = vector::select(lane_bytes(dtype));
        self.push(Instr::Map3 { width: Width::Chunk, f, dst, a: mask, b: slot, c: dst });
        if owned {
            self.give_register(slot, dtype);
        }
        Ok(())
    }

    /// The variable's name and id for messages.
    pub(super) fn var_name(&self, var: VarId) -> String {
        let name = self.kernel.vars.get(var).map_or("", |var| var.name.as_str());
        format!("`{name}` (v{})", var.index())
    }
}

impl LaneState {
    fn new_register(&mut self, lane_bytes: usize) -> Slot {
        let offset = self.registers.end_bytes;
        self.registers.end_bytes += (self.max_lanes * lane_bytes).next_multiple_of(64);
        Slot::Vector(offset)
    }
}
