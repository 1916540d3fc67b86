//! Statements, at block scope and within `Items`.
//!
//! Control flow that all items take together becomes jumps. Where items part,
//! a mask says which of them take part; the others' lanes are computed along
//! (every operation is total) but touch neither memory nor variables.

use tile_ir::arena::EntityId as _;
use tile_ir::dtype::DType;
use tile_ir::exchange::Group;
use tile_ir::program::{
    Access, Assumption, Domain, DomainId, ExprId, FragmentId, RoleId, Scope, Stmt, StmtKind,
    Target, VarId,
};
use tile_ir::span::SpanId;

use super::domain::{chunking_of, most_lanes};
use super::emitter::{Emitter, Func, LaneState, Value, lane_bytes, lane_type};
use super::facts::VarFacts;
use super::unit::Kept;
use crate::cpu::CpuError;
use crate::cpu::code::{Affine, Instr, LaneProgram, MAX_CHUNK_LANES, Slot, Width};
use crate::cpu::vector;

impl Emitter<'_, '_> {
    /// Makes code for a list of statements.
    pub(super) fn statements(&mut self, body: &[Stmt]) -> Result<(), CpuError> {
        let mut declared = Vec::new();
        for stmt in body {
            self.statement(stmt)?;
            declared.extend(stmt.kind.declared());
        }
        for var in declared {
            self.end_variable(var)?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), CpuError> {
        if self.lane.is_none() && !self.takes_part(stmt.role) {
            return Ok(());
        }
        let outer = std::mem::replace(&mut self.span, stmt.span);
        let counted = std::mem::take(&mut self.counted);
        let result = self.statement_here(stmt);
        self.span = outer;
        self.counted = counted;
        result
    }

    fn statement_here(&mut self, stmt: &Stmt) -> Result<(), CpuError> {
        match &stmt.kind {
            StmtKind::Let { var, value } => self.declare(*var, *value),
            StmtKind::Assign { var, value } => self.assign(*var, *value),
            StmtKind::SetFragment { fragment, value } => self.set_fragment(*fragment, *value),
            StmtKind::Store { access, value } => {
                self.require_lanes("a store")?;
                let dtype = self.type_of(*value)?;
                let value = self.eval(*value)?;
                self.store(access, value, dtype)
            }
            StmtKind::Atomic { access, op, expected, value, old } => {
                self.require_lanes("an atomic update")?;
                let dtype = self.type_of(*value)?;
                let expected =
                    expected.map(|expected| self.eval_as(expected, dtype)).transpose()?;
                let value = self.eval(*value)?;
                self.update_atomically(access, *op, (expected, value), *old, dtype)
            }
            StmtKind::Copy { dst, src, token: _ } => self.copy(dst, src),
            StmtKind::Assume(fact) if fact.is_of_meeting => {
                self.meet_by_chance();
                Ok(())
            }
            StmtKind::Assume(fact) => self.assume(fact, stmt.span),
            // Asynchronous operations are done at once, so nothing is in flight.
            StmtKind::Commit(_) | StmtKind::Wait { .. } => Ok(()),
            StmtKind::Items { domain, body } => self.items(*domain, body, stmt.role),
            StmtKind::For { var, range, unroll: _, body } => self.counted_loop(*var, range, body),
            StmtKind::While { cond, body } => self.while_loop(*cond, body),
            StmtKind::If { cond, then, otherwise } => self.conditional(*cond, then, otherwise),
            StmtKind::Shuffle { var, value, lane } => self.shuffle(*var, *value, *lane),
            StmtKind::Ballot { var, cond } => self.ballot(*var, *cond),
            // A chunk holds whole warps, and each operation is done for all of its
            // lanes before the next one.
            StmtKind::WarpBarrier => {
                self.require_lanes("a warp barrier")?;
                self.meet(Group::Warp, true);
                Ok(())
            }
            StmtKind::Barrier(participants) => {
                if self.lane.is_some() {
                    // What no check has passed may have it; looked at, it does no harm.
                    if !self.is_watched() {
                        return Err(self.malformed("a barrier within `Items`"));
                    }
                    self.meet(Group::Block, true);
                    return Ok(());
                }
                self.push(Instr::Barrier(*participants));
                Ok(())
            }
        }
    }

    /// Whether the role at hand executes the statements of `role`.
    fn takes_part(&self, role: RoleId) -> bool {
        role.index() == 0 || role.index() == self.role
    }

    fn require_lanes(&self, what: &str) -> Result<(), CpuError> {
        if self.lane.is_none() {
            return Err(self.malformed(format!("{what} at block scope")));
        }
        Ok(())
    }

    fn items(&mut self, domain: DomainId, body: &[Stmt], role: RoleId) -> Result<(), CpuError> {
        if self.lane.is_some() {
            return Err(self.malformed("`Items` within `Items`"));
        }
        if self.role != 0 && role.index() == 0 {
            return Err(self.malformed("`Items` of all warps in a program of several roles"));
        }
        let kernel = self.kernel;
        let described = kernel.domains.get(domain);
        let described =
            described.ok_or_else(|| self.malformed(format!("domain {domain} does not exist")))?;
        let chunking = chunking_of(described, kernel.threads, self.most_lanes(described, body))
            .map_err(|rule| self.malformed(rule))?;
        let first_local = u32::try_from(self.unit.uniforms.len()).unwrap_or(u32::MAX);
        let facts = VarFacts::new(kernel, body);
        let extents = chunking.extents.clone();
        let max_lanes = chunking.max_lanes();
        self.lane = Some(LaneState::new(domain, extents, facts, max_lanes, first_local));
        let outer = (std::mem::take(&mut self.code), std::mem::take(&mut self.landed));
        let result = self.statements(body);
        let code;
        (code, (self.code, self.landed)) = (std::mem::take(&mut self.code), outer);
        let lane = self.lane.take();
        result?;
        let Some(lane) = lane else { return Err(self.malformed("`Items` that do not end")) };
        self.unit.vector_bytes = self.unit.vector_bytes.max(lane.vector_bytes());
        let agents = self.agents_of(domain, chunking.n_items);
        let program = self.unit.programs.len();
        self.unit.programs.push(LaneProgram {
            domain: chunking,
            preamble: lane.preamble,
            code,
            agents,
        });
        self.push(Instr::Items { program });
        Ok(())
    }

    /// The most lanes of a chunk. Where warps are counted, none is in two if that can be.
    fn most_lanes(&self, domain: &Domain, body: &[Stmt]) -> Option<usize> {
        let is_small = domain.n_items() <= MAX_CHUNK_LANES as u64;
        let is_whole = has_warps(body) || (self.is_counting() && is_small);
        most_lanes(self.unit.mode.order, is_whole)
    }

    fn shuffle(&mut self, var: VarId, value: ExprId, lane: ExprId) -> Result<(), CpuError> {
        self.require_lanes("a shuffle")?;
        self.meet(Group::Warp, false);
        let dtype = self.type_of(value)?;
        let value = self.eval(value)?;
        let (src, src_owned) = self.lanes(value, dtype)?;
        let lane = self.eval_as(lane, DType::I64)?;
        let (lanes, lanes_owned) = self.lanes(lane, DType::I64)?;
        let dst = self.declare_varying(var)?;
        self.push(Instr::Shuffle { dst, src, lanes, lane_bytes: lane_bytes(dtype) });
        if src_owned {
            self.give_register(src, dtype);
        }
        if lanes_owned {
            self.give_register(lanes, DType::I64);
        }
        Ok(())
    }

    fn ballot(&mut self, var: VarId, cond: ExprId) -> Result<(), CpuError> {
        self.require_lanes("a ballot")?;
        self.meet(Group::Warp, false);
        let cond = self.eval_as(cond, DType::Bool)?;
        let (flags, owned) = self.lanes(cond, DType::Bool)?;
        let dst = self.declare_varying(var)?;
        self.push(Instr::Ballot { dst, flags });
        if owned {
            self.give_register(flags, DType::Bool);
        }
        Ok(())
    }

    /// Reads a variable.
    pub(super) fn read_var(&mut self, var: VarId) -> Result<Value, CpuError> {
        if let Some(value) = self.lane.as_ref().and_then(|lane| lane.vars.get(&var)) {
            return Ok(value.clone());
        }
        match self.block_vars.get(&var) {
            Some(&uniform) => Ok(Value::Uniform(uniform)),
            None => Err(self.malformed(format!("{} is read before it exists", self.var_name(var)))),
        }
    }

    fn var_type(&self, var: VarId) -> Result<(DType, bool), CpuError> {
        let described = self.kernel.vars.get(var);
        described
            .map(|var| (lane_type(var.ty), var.ty.is_index()))
            .ok_or_else(|| self.malformed(format!("variable {var} does not exist")))
    }

    /// A register for a variable whose value is the same for all lanes.
    pub(super) fn declare_uniform(&mut self, var: VarId) -> Result<u32, CpuError> {
        let (_, is_index) = self.var_type(var)?;
        let register = match (&self.lane, self.block_vars.get(&var)) {
            (None, Some(&register)) => register,
            (None, None) | (Some(_), _) => self.unit.fresh_uniform(),
        };
        self.unit.variables.insert(register);
        let value = if is_index {
            Value::Affine(Affine::register(register))
        } else {
            Value::Uniform(register)
        };
        match &mut self.lane {
            Some(lane) => {
                lane.vars.insert(var, value);
            }
            None => {
                self.block_vars.insert(var, register);
            }
        }
        Ok(register)
    }

    /// A register for a variable of which each item has its own value.
    pub(super) fn declare_varying(&mut self, var: VarId) -> Result<Slot, CpuError> {
        let (dtype, _) = self.var_type(var)?;
        let slot = self.take_register(dtype);
        if let Some(lane) = &mut self.lane {
            lane.vars.insert(var, Value::Lanes { slot, owned: false });
        }
        Ok(slot)
    }

    fn declare(&mut self, var: VarId, value: Option<ExprId>) -> Result<(), CpuError> {
        let (dtype, _) = self.var_type(var)?;
        let (varying, once) = match &self.lane {
            Some(lane) => (lane.facts.is_varying(var), lane.facts.has_one_definition(var)),
            None => (false, false),
        };
        if let (true, Some(value)) = (once, value) {
            return self.name_value(var, value, dtype);
        }
        // The value is computed before the variable exists: `value` may name
        // another register of the same variable, of an enclosing list.
        let value = value.map(|value| self.eval_as(value, dtype)).transpose()?;
        let slot = if varying {
            self.declare_varying(var)?
        } else {
            Slot::Uniform(self.declare_uniform(var)?)
        };
        match value {
            Some(value) => self.move_to(value, dtype, slot),
            None => self.begin_unset(var),
        }
    }

    /// A variable that is never assigned again is a name for its value.
    fn name_value(&mut self, var: VarId, id: ExprId, dtype: DType) -> Result<(), CpuError> {
        let value = match self.eval_as(id, dtype)? {
            Value::Lanes { slot, owned: true } => Value::Lanes { slot, owned: false },
            value @ Value::Lanes { owned: false, .. } => {
                let slot = self.take_register(dtype);
                self.move_to(value, dtype, slot)?;
                Value::Lanes { slot, owned: false }
            }
            Value::Uniform(register) => Value::Uniform(self.pinned(&Value::Uniform(register))?),
            Value::Affine(affine) => {
                let base = affine.base.map(|base| self.pinned(&Value::Uniform(base)));
                Value::Affine(Affine { base: base.transpose()?, ..affine })
            }
        };
        if let Some(lane) = &mut self.lane {
            lane.vars.insert(var, value);
        }
        Ok(())
    }

    /// Gives a variable's register back at the end of its list.
    fn end_variable(&mut self, var: VarId) -> Result<(), CpuError> {
        let (dtype, _) = self.var_type(var)?;
        let flags = self.lane.as_mut().and_then(|lane| lane.set_flags.remove(&var));
        if let Some(slot) = flags {
            self.give_register(slot, DType::Bool);
        }
        let value = self.lane.as_mut().and_then(|lane| lane.vars.remove(&var));
        if let Some(Value::Lanes { slot, .. }) = value {
            self.give_register(slot, dtype);
        }
        Ok(())
    }

    fn assign(&mut self, var: VarId, value: ExprId) -> Result<(), CpuError> {
        let (dtype, _) = self.var_type(var)?;
        let place = match &self.lane {
            Some(lane) => lane.vars.get(&var).cloned(),
            None => self.block_vars.get(&var).map(|&register| Value::Uniform(register)),
        };
        let dst = match place {
            Some(Value::Lanes { slot, .. }) => slot,
            Some(Value::Uniform(register)) => Slot::Uniform(register),
            Some(Value::Affine(Affine { base: Some(register), .. })) => Slot::Uniform(register),
            Some(Value::Affine(_)) | None => {
                let name = self.var_name(var);
                return Err(self.malformed(format!("{name} is assigned where it is not declared")));
            }
        };
        if self.type_of(value)? != dtype {
            let name = self.var_name(var);
            return Err(self.malformed(format!("{name} is assigned a value of another type")));
        }
        self.write_slot(value, dtype, dst)?;
        self.note_assigned(var)
    }

    /// Evaluates into a slot, in the lanes that take part.
    fn write_slot(&mut self, value: ExprId, dtype: DType, dst: Slot) -> Result<(), CpuError> {
        let masked = self.lane.as_ref().is_some_and(|lane| lane.mask.is_some());
        if masked && !matches!(dst, Slot::Uniform(_)) {
            let value = self.eval(value)?;
            return self.blend_to(value, dtype, dst);
        }
        self.eval_to(value, dst)
    }

    /// Where the values of a fragment of the present items are, and along which of
    /// the items' axes: those of a projection are along some.
    pub(super) fn kept(&self, id: FragmentId) -> Result<(Kept, Vec<usize>), CpuError> {
        let here = self.lane.as_ref().map(|lane| lane.domain);
        let domain = self.kernel.fragments.get(id).map(|fragment| fragment.domain);
        let info = domain.and_then(|domain| self.kernel.domains.get(domain));
        let projection = info.and_then(|info| info.projection.as_ref());
        match (self.unit.fragment(id), info, projection) {
            (Some(kept), Some(info), _) if domain == here => {
                Ok((kept, (0..info.axes.len()).collect()))
            }
            (Some(kept), _, Some(whole)) if Some(whole.domain) == here => {
                Ok((kept, whole.axes.iter().map(|&axis| axis as usize).collect()))
            }
            _ => Err(self.malformed(format!("fragment {id} outside `Items` of its domain"))),
        }
    }

    fn set_fragment(&mut self, id: FragmentId, value: ExprId) -> Result<(), CpuError> {
        let dtype = lane_type(self.kernel.fragments[id].ty);
        if self.type_of(value)? != dtype {
            return Err(self.malformed(format!("fragment {id} is set to a value of another type")));
        }
        match self.kept(id)? {
            (Kept::InOrder(dst), _) => {
                self.write_slot(value, dtype, dst)?;
                self.note_set(id)
            }
            (Kept::InArray(array), axes) => {
                let value = self.eval(value)?;
                self.write_kept(array, &axes, value)
            }
        }
    }

    fn copy(&mut self, dst: &Access, src: &Access) -> Result<(), CpuError> {
        self.require_lanes("a copy")?;
        let dtype = match src.target {
            Target::Buffer(id) => self.kernel.buffers.get(id).map(|buffer| buffer.dtype),
            Target::Tile(id) => self.kernel.tiles.get(id).map(|tile| tile.dtype),
        };
        let dtype = dtype.ok_or_else(|| self.malformed("a copy from an array there is not"))?;
        let value = self.load(src, dtype, None, true)?;
        self.store(dst, value, dtype)
    }

    /// Ends the launch where an item that takes part finds that a fact does not
    /// hold.
    fn assume(&mut self, fact: &Assumption, span: SpanId) -> Result<(), CpuError> {
        self.require_lanes("an assumption")?;
        if fact.distinct.is_some() {
            return self.differ(fact, span);
        }
        let flag = self.eval_as(fact.cond, DType::Bool)?;
        let flags = self.take_register(DType::Bool);
        self.move_to(flag, DType::Bool, flags)?;
        let (mask, outer) = self.enter_mask(flags, false);
        let skip = self.push(Instr::JumpIfNone { mask, target: 0 });
        let mut shown = Vec::new();
        let mut owned = Vec::new();
        for value in fact.exprs().skip(1) {
            let dtype = self.type_of(value)?;
            let value = self.eval(value)?;
            let (slot, is_owned) = self.lanes(value, dtype)?;
            shown.push((slot, dtype));
            owned.extend(is_owned.then_some((slot, dtype)));
        }
        let number = self.unit.assumptions.len();
        self.unit.assumptions.push((fact.clone(), span));
        self.push(Instr::Fail { mask, fact: number, shown });
        owned.into_iter().for_each(|(slot, dtype)| self.give_register(slot, dtype));
        self.land(skip);
        self.leave_mask(mask, outer);
        self.give_register(flags, DType::Bool);
        Ok(())
    }

    fn differ(&mut self, fact: &Assumption, span: SpanId) -> Result<(), CpuError> {
        let mut shown = Vec::new();
        let mut owned = Vec::new();
        for value in fact.exprs().skip(1) {
            let value = self.eval_as(value, DType::I64)?;
            let (slot, is_owned) = self.lanes(value, DType::I64)?;
            shown.push((slot, DType::I64));
            owned.extend(is_owned.then_some(slot));
        }
        let number = self.unit.assumptions.len();
        self.unit.assumptions.push((fact.clone(), span));
        let mask = self.lane.as_ref().and_then(|lane| lane.mask);
        self.push(Instr::Differ { mask, fact: number, shown });
        owned.into_iter().for_each(|slot| self.give_register(slot, DType::I64));
        Ok(())
    }

    fn conditional(
        &mut self,
        cond: ExprId,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), CpuError> {
        let flag = self.eval_as(cond, DType::Bool)?;
        if flag.is_uniform() {
            let cond = self.uniform(&flag)?;
            self.count_branch(None, false);
            let to_otherwise = self.push(Instr::JumpUnless { cond, target: 0 });
            self.statements(then)?;
            if otherwise.is_empty() {
                self.land(to_otherwise);
                return Ok(());
            }
            let to_end = self.push(Instr::Jump { target: 0 });
            self.land(to_otherwise);
            self.statements(otherwise)?;
            self.land(to_end);
            return Ok(());
        }
        // A copy: the branches may assign what the condition was read from.
        let flags = self.take_register(DType::Bool);
        self.move_to(flag, DType::Bool, flags)?;
        self.count_branch(Some(flags), false);
        for (branch, wanted) in [(then, true), (otherwise, false)] {
            if branch.is_empty() {
                continue;
            }
            let (mask, outer) = self.enter_mask(flags, wanted);
            let skip = self.push(Instr::JumpIfNone { mask, target: 0 });
            self.statements(branch)?;
            self.land(skip);
            self.leave_mask(mask, outer);
        }
        self.give_register(flags, DType::Bool);
        Ok(())
    }

    fn while_loop(&mut self, cond: ExprId, body: &[Stmt]) -> Result<(), CpuError> {
        let varies = self.lane.as_ref().is_some_and(|lane| lane.facts.varies(self.kernel, cond));
        if !varies {
            let begin = self.here();
            let flag = self.eval_as(cond, DType::Bool)?;
            let cond = self.uniform(&flag)?;
            self.count_branch(None, false);
            let to_end = self.push(Instr::JumpUnless { cond, target: 0 });
            self.statements(body)?;
            self.push(Instr::Jump { target: begin });
            self.land(to_end);
            return Ok(());
        }
        let running = self.take_register(DType::Bool);
        let outer = self.begin_running(running)?;
        let begin = self.here();
        let flag = self.eval_as(cond, DType::Bool)?;
        let (flag, owned) = self.lanes(flag, DType::Bool)?;
        self.count_branch(Some(flag), false);
        let f = vector::and_flags();
        self.push(Instr::Map2 { width: Width::Chunk, f, dst: running, a: running, b: flag });
        if owned {
            self.give_register(flag, DType::Bool);
        }
        let to_end = self.push(Instr::JumpIfNone { mask: running, target: 0 });
        self.statements(body)?;
        self.push(Instr::Jump { target: begin });
        self.land(to_end);
        self.leave_mask(running, outer);
        Ok(())
    }

    /// Makes `running` the mask, of all lanes that take part; returns the mask
    /// outside.
    pub(super) fn begin_running(&mut self, running: Slot) -> Result<Option<Slot>, CpuError> {
        let outer = self.lane.as_ref().and_then(|lane| lane.mask);
        let value = match outer {
            Some(slot) => Value::Lanes { slot, owned: false },
            None => Value::Uniform(self.unit.constant(1)),
        };
        self.move_to(value, DType::Bool, running)?;
        if let Some(lane) = &mut self.lane {
            lane.mask = Some(running);
        }
        Ok(outer)
    }

    /// Restricts the mask to the lanes whose flag is as wanted. Returns the new
    /// mask and the one outside.
    pub(super) fn enter_mask(&mut self, flags: Slot, wanted: bool) -> (Slot, Option<Slot>) {
        let outer = self.lane.as_ref().and_then(|lane| lane.mask);
        let dst = self.take_register(DType::Bool);
        let width = Width::Chunk;
        let instr = match (outer, wanted) {
            (Some(a), true) => Instr::Map2 { width, f: vector::and_flags(), dst, a, b: flags },
            (Some(a), false) => Instr::Map2 { width, f: vector::and_not_flags(), dst, a, b: flags },
            (None, true) => Instr::Map1 { width, f: vector::copy(1), dst, a: flags },
            (None, false) => Instr::Map1 { width, f: vector::not_flags(), dst, a: flags },
        };
        self.push(instr);
        if let Some(lane) = &mut self.lane {
            lane.mask = Some(dst);
        }
        (dst, outer)
    }

    /// Goes back to the mask outside.
    pub(super) fn leave_mask(&mut self, mask: Slot, outer: Option<Slot>) {
        if let Some(lane) = &mut self.lane {
            lane.mask = outer;
        }
        self.give_register(mask, DType::Bool);
    }

    /// The negation of a uniform flag.
    pub(super) fn negated(&mut self, flag: u32) -> Result<u32, CpuError> {
        self.uniform_op(Func::Of1(vector::not_flags()), &[flag], None)
    }
}

/// Whether items get each other's values or wait for each other.
fn has_warps(body: &[Stmt]) -> bool {
    let meets =
        |stmt: &Stmt| stmt.scope == Scope::Warp || matches!(stmt.kind, StmtKind::Barrier(_));
    body.iter().any(|stmt| meets(stmt) || stmt.kind.bodies().into_iter().any(has_warps))
}
