//! What is emitted beside the operations of a checked launch.
//!
//! Before each access stands a [`Instr::Touch`], beside each operation that may overflow,
//! divide by 0 or leave the finite numbers a function that gives flags and an
//! [`Instr::Notice`] of them. Nothing else differs from fast mode, so results do not
//! either; operations that fast mode computes for lanes which do not ask for them are
//! not noticed, because the mask of those that do goes with the flags.

use std::borrow::Cow;

use tile_ir::dtype::DType;
use tile_ir::exchange::Group;
use tile_ir::explain::count::ops_of;
use tile_ir::op::{BinaryOp, UnaryOp};
use tile_ir::program::{DomainId, ExprId, FragmentId, VarId};

use super::emitter::{Emitter, Func, Value};
use crate::cpu::CpuError;
use crate::cpu::code::{Instr, Slot, Width};
use crate::cpu::vector;
use crate::cpu::watch::{Agents, Doing, Lacking, Meeting, Oddity, Operation, Site, Watch};

impl Emitter<'_, '_> {
    /// Whether the launch is a checked one.
    pub(super) fn is_watched(&self) -> bool {
        self.unit.mode.watch.is_some()
    }

    fn has_nan_origin(&self) -> bool {
        self.unit.mode.watch.is_some_and(|watch| watch.nan_origin)
    }

    /// Whether what warps do is counted.
    pub(super) fn is_counting(&self) -> bool {
        self.unit.mode.watch.is_some_and(|watch| watch.counts)
    }

    /// Whether the present statement comes to an expression for the first time.
    pub(super) fn is_first(&mut self, id: ExprId) -> bool {
        self.is_counting() && self.counted.insert(id)
    }

    /// Counts the operations of an expression itself, the first time in a statement.
    pub(super) fn count_ops(&mut self, id: ExprId) {
        if !self.is_counting() {
            return;
        }
        let Some(counted) = ops_of(self.kernel, id) else { return };
        if self.counted.insert(id) {
            let mask = self.lane.as_ref().and_then(|lane| lane.mask);
            self.unit.counted_ops.push(counted);
            let op = self.unit.counted_ops.len() - 1;
            self.push(Instr::Count { op, mask });
        }
    }

    /// Evaluates what a read gives outside. It is computed for all lanes, and means
    /// something to those outside alone: it is not counted.
    pub(super) fn eval_pad(&mut self, pad: ExprId, dtype: DType) -> Result<Value, CpuError> {
        let watch = self.unit.mode.watch;
        self.unit.mode.watch = watch.map(|watch| Watch { counts: false, ..watch });
        let value = self.eval_as(pad, dtype);
        self.unit.mode.watch = watch;
        value
    }

    /// Counts a condition or loop of the present statement.
    pub(super) fn count_branch(&mut self, flags: Option<Slot>, of_some: bool) {
        if !self.is_counting() {
            return;
        }
        let mask = self.lane.as_ref().and_then(|lane| lane.mask);
        self.unit.branches.push(self.span);
        let branch = self.unit.branches.len() - 1;
        self.push(Instr::Branch { branch, flags, mask, of_some });
    }

    /// The number of the first agent of a domain's items.
    pub(super) fn agents_of(&mut self, domain: DomainId, n_items: usize) -> u32 {
        let block = self.kernel.block_domain;
        let is_block = domain == block;
        if self.unit.agents.is_empty() && !is_block {
            // The work-items' come first, whatever the text begins with: warps are told by
            // their numbers.
            let n_work_items = self.kernel.domains[block].n_items();
            self.agents_of(block, usize::try_from(n_work_items).unwrap_or(usize::MAX));
        }
        let known = self.unit.agents.iter().find(|known| known.domain == domain);
        if let (true, Some(known)) = (is_block, known) {
            return known.base;
        }
        let base = self.unit.n_agents;
        self.unit.agents.push(Agents { base, domain });
        self.unit.n_agents =
            base.saturating_add(u32::try_from(n_items).unwrap_or(u32::MAX)).min(1 << 30);
        base
    }

    /// Notes who touches the elements of an access.
    pub(super) fn touch(
        &mut self,
        doing: Doing,
        access: usize,
        (width, is_counted): (Width, bool),
    ) {
        if !self.is_watched() {
            return;
        }
        let mask = self.lane.as_ref().and_then(|lane| lane.mask);
        let array = self.unit.accesses[access].array;
        let site = self.unit.sites.len();
        self.unit.sites.push(Site { doing, span: self.span, array });
        let is_counted = is_counted && self.is_counting();
        self.push(Instr::Touch { width, access, site, mask, is_counted });
    }

    /// Notes that work-items of a group come here together.
    pub(super) fn meet(&mut self, group: Group, is_barrier: bool) {
        let mask = self.lane.as_ref().and_then(|lane| lane.mask);
        let is_whole = mask.is_none() && !is_barrier;
        if !self.is_watched() || is_whole {
            return;
        }
        let domain = self.lane.as_ref().map(|lane| lane.domain);
        let lacks = match domain == Some(self.kernel.block_domain) {
            true => Lacking::Absent,
            false => Lacking::Points,
        };
        self.push_meeting(Meeting { group, is_barrier, lacks, span: self.span });
    }

    /// Notes that work-items come here that with other data need not.
    pub(super) fn meet_by_chance(&mut self) {
        let (group, lacks) = (Group::Block, Lacking::Agreement);
        self.push_meeting(Meeting { group, is_barrier: false, lacks, span: self.span });
    }

    fn push_meeting(&mut self, described: Meeting) {
        let mask = self.lane.as_ref().and_then(|lane| lane.mask);
        let meeting = self.unit.meetings.len();
        self.unit.meetings.push(described);
        self.push(Instr::Meet { mask, meeting });
    }

    /// Looks whether the present items have set a fragment that is read.
    pub(super) fn watch_fragment(&mut self, id: FragmentId) -> Result<(), CpuError> {
        let Some(slot) = self.unit.set_flags_of(id, self.kernel) else { return Ok(()) };
        let name = self.kernel.fragments[id].name.clone();
        self.notice_unset(name, slot)
    }

    /// Notes that the present items set a fragment.
    pub(super) fn note_set(&mut self, id: FragmentId) -> Result<(), CpuError> {
        let Some(slot) = self.unit.set_flags_of(id, self.kernel) else { return Ok(()) };
        let set = Value::Uniform(self.unit.constant(1));
        self.blend_to(set, DType::Bool, slot)
    }

    /// Begins a variable of items without a value.
    pub(super) fn begin_unset(&mut self, var: VarId) -> Result<(), CpuError> {
        if !self.unit.mode.watch.is_some_and(|watch| watch.unset) || self.lane.is_none() {
            return Ok(());
        }
        let slot = self.take_register(DType::Bool);
        let unset = Value::Uniform(self.unit.constant(0));
        self.move_to(unset, DType::Bool, slot)?;
        if let Some(lane) = &mut self.lane {
            lane.set_flags.insert(var, slot);
        }
        Ok(())
    }

    /// Notes that the present items assign a variable.
    pub(super) fn note_assigned(&mut self, var: VarId) -> Result<(), CpuError> {
        let slot = self.lane.as_ref().and_then(|lane| lane.set_flags.get(&var).copied());
        let Some(slot) = slot else { return Ok(()) };
        let set = Value::Uniform(self.unit.constant(1));
        self.blend_to(set, DType::Bool, slot)
    }

    /// Looks whether the present items have assigned a variable that is read.
    pub(super) fn watch_variable(&mut self, var: VarId) -> Result<(), CpuError> {
        let slot = self.lane.as_ref().and_then(|lane| lane.set_flags.get(&var).copied());
        let Some(slot) = slot else { return Ok(()) };
        let name = self.kernel.vars[var].name.clone();
        self.notice_unset(name, slot)
    }

    fn notice_unset(&mut self, name: String, set: Slot) -> Result<(), CpuError> {
        let operation = self.operation(Oddity::Unset, name, DType::Bool);
        let set = Value::Lanes { slot: set, owned: false };
        self.notice(operation, Func::Of1(vector::not_flags()), &[(&set, DType::Bool)])
    }

    /// Looks at an operation of one operand before it is done.
    pub(super) fn watch_unary(
        &mut self,
        op: UnaryOp,
        dtype: DType,
        operand: &Value,
    ) -> Result<(), CpuError> {
        if !self.is_watched() || op != UnaryOp::Neg {
            return Ok(());
        }
        match vector::neg_overflows(dtype) {
            Some(f) => {
                let operation = self.operation(Oddity::Overflow, op.symbol(), dtype);
                self.notice(operation, Func::Of1(f), &[(operand, dtype)])
            }
            None => Ok(()),
        }
    }

    /// Looks at an operation of two operands before it is done. An index never
    /// overflows, but may be divided by 0.
    pub(super) fn watch_binary(
        &mut self,
        op: BinaryOp,
        (dtype, is_index): (DType, bool),
        lhs: &Value,
        rhs: &Value,
    ) -> Result<(), CpuError> {
        if !self.is_watched() || !dtype.is_integer() {
            return Ok(());
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) && !self.is_nonzero(rhs) {
            let operation = self.operation(Oddity::DivisionByZero, op.symbol(), dtype);
            let f = Func::Of1(vector::is_zero(dtype));
            self.notice(operation, f, &[(rhs, dtype)])?;
        }
        match vector::overflows(op, dtype).filter(|_| !is_index) {
            Some(f) => {
                let operation = self.operation(Oddity::Overflow, op.symbol(), dtype);
                self.notice(operation, Func::Of2(f), &[(lhs, dtype), (rhs, dtype)])
            }
            None => Ok(()),
        }
    }

    /// Flags where all operands are finite, if that is asked for.
    pub(super) fn finite_before(
        &mut self,
        dtype: DType,
        operands: &[&Value],
    ) -> Result<Option<Value>, CpuError> {
        if !self.has_nan_origin() || !dtype.is_float() {
            return Ok(None);
        }
        let mut all: Option<Value> = None;
        for operand in operands {
            let f = Func::Of1(vector::is_finite(dtype));
            let flags = self.flags_of(f, &[(operand, dtype)])?;
            all = Some(match all {
                None => flags,
                Some(all) => {
                    let both = Func::Of2(vector::and_flags());
                    let bool = DType::Bool;
                    let value = self.flags_of(both, &[(&all, bool), (&flags, bool)])?;
                    self.release(all, bool);
                    self.release(flags, bool);
                    value
                }
            });
        }
        Ok(all)
    }

    /// Looks at the result of an operation whose operands were all finite there.
    pub(super) fn finite_after(
        &mut self,
        symbol: &'static str,
        dtype: DType,
        before: Option<Value>,
        result: &Value,
    ) -> Result<(), CpuError> {
        let Some(before) = before else { return Ok(()) };
        let finite = self.flags_of(Func::Of1(vector::is_finite(dtype)), &[(result, dtype)])?;
        let operation = self.operation(Oddity::NotFinite, symbol, dtype);
        let f = Func::Of2(vector::and_not_flags());
        self.notice(operation, f, &[(&before, DType::Bool), (&finite, DType::Bool)])?;
        self.release(finite, DType::Bool);
        self.release(before, DType::Bool);
        Ok(())
    }

    /// Whether a divisor is known not to be 0.
    fn is_nonzero(&self, value: &Value) -> bool {
        match value {
            Value::Affine(affine) => {
                affine.is_uniform() && affine.base.is_none() && affine.constant != 0
            }
            Value::Uniform(register) => {
                self.unit.is_constant(*register) && self.unit.uniforms[*register as usize] != 0
            }
            Value::Lanes { .. } => false,
        }
    }

    fn operation(
        &mut self,
        oddity: Oddity,
        symbol: impl Into<Cow<'static, str>>,
        dtype: DType,
    ) -> usize {
        let (symbol, span) = (symbol.into(), self.span);
        self.unit.operations.push(Operation { oddity, symbol, dtype, span });
        self.unit.operations.len() - 1
    }

    /// Flags of operands that stay in use, computed here and not before.
    fn flags_of(&mut self, func: Func, operands: &[(&Value, DType)]) -> Result<Value, CpuError> {
        if operands.iter().all(|(value, _)| value.is_uniform()) {
            let mut slots = Vec::new();
            for (value, _) in operands {
                slots.push(Slot::Uniform(self.uniform(value)?));
            }
            let register = self.unit.fresh_uniform();
            self.push_map(func, Width::One, Slot::Uniform(register), &slots)?;
            return Ok(Value::Uniform(register));
        }
        let mut slots = Vec::new();
        let mut owned = Vec::new();
        for &(value, dtype) in operands {
            // Who owns the value gives it back.
            let kept = match value {
                Value::Lanes { slot, .. } => Value::Lanes { slot: *slot, owned: false },
                Value::Uniform(_) | Value::Affine(_) => value.clone(),
            };
            let (slot, is_owned) = self.lanes(kept, dtype)?;
            slots.push(slot);
            owned.extend(is_owned.then_some((slot, dtype)));
        }
        let dst = self.take_register(DType::Bool);
        self.push_map(func, Width::Chunk, dst, &slots)?;
        owned.into_iter().for_each(|(slot, dtype)| self.give_register(slot, dtype));
        Ok(Value::Lanes { slot: dst, owned: true })
    }

    fn notice(
        &mut self,
        operation: usize,
        func: Func,
        operands: &[(&Value, DType)],
    ) -> Result<(), CpuError> {
        let flags = self.flags_of(func, operands)?;
        let mask = self.lane.as_ref().and_then(|lane| lane.mask);
        let (width, slot) = match flags {
            Value::Lanes { slot, .. } => (Width::Chunk, slot),
            Value::Uniform(register) => (Width::One, Slot::Uniform(register)),
            Value::Affine(_) => return Err(self.malformed("flags that are an index")),
        };
        self.push(Instr::Notice { width, flags: slot, mask, operation });
        self.release(flags, DType::Bool);
        Ok(())
    }
}

impl Emitter<'_, '_> {
    fn push_map(
        &mut self,
        func: Func,
        width: Width,
        dst: Slot,
        operands: &[Slot],
    ) -> Result<(), CpuError> {
        let instr = func.on(width, dst, operands);
        let instr = instr.ok_or_else(|| self.malformed("an operation with a missing operand"))?;
        self.push(instr);
        Ok(())
    }
}
