//! Expressions.

use tile_ir::dtype::DType;
use tile_ir::op::{BinaryOp, LogicOp, UnaryOp};
use tile_ir::program::{ExprId, ExprKind, Literal, Ty};
use tile_ir::semantics::{CastTo as _, Scalar as _};

use super::emitter::{Emitter, Func, Value, lane_bytes, lane_type};
use super::unit::Kept;
use crate::cpu::CpuError;
use crate::cpu::code::{Affine, Instr, Slot, Width};
use crate::cpu::vector;

impl Emitter<'_, '_> {
    /// The loop of an operator, or the error that the type does not have it.
    pub(super) fn binary_func(&self, op: BinaryOp, dtype: DType) -> Result<Func, CpuError> {
        let func = vector::binary(op, dtype).map(Func::Of2);
        func.ok_or_else(|| self.undefined(op.symbol(), dtype))
    }

    fn undefined(&self, op: &'static str, dtype: DType) -> CpuError {
        CpuError::UndefinedOp { kernel: self.kernel.name.clone(), op, dtype }
    }

    /// Whether items may have different values of an expression.
    fn varies(&self, id: ExprId) -> bool {
        self.lane.as_ref().is_some_and(|lane| lane.facts.varies(self.kernel, id))
    }

    /// The type of an expression's lanes.
    pub(super) fn type_of(&self, id: ExprId) -> Result<DType, CpuError> {
        let expr = self.kernel.exprs.get(id);
        expr.map(|expr| lane_type(expr.ty))
            .ok_or_else(|| self.malformed(format!("expression {id} does not exist")))
    }

    /// Makes code for an expression.
    pub(super) fn eval(&mut self, id: ExprId) -> Result<Value, CpuError> {
        self.eval_hinted(id, None)
    }

    /// Makes code for an expression whose value goes to `dst`.
    pub(super) fn eval_to(&mut self, id: ExprId, dst: Slot) -> Result<(), CpuError> {
        let dtype = self.type_of(id)?;
        let value = self.eval_hinted(id, Some(dst))?;
        self.move_to(value, dtype, dst)
    }

    /// Makes code for an expression. Its last operation may write to `hint`,
    /// which its operands may still read.
    fn eval_hinted(&mut self, id: ExprId, hint: Option<Slot>) -> Result<Value, CpuError> {
        let ty = match self.kernel.exprs.get(id) {
            Some(expr) => expr.ty,
            None => return Err(self.malformed(format!("expression {id} does not exist"))),
        };
        let value = self.eval_kind(id, ty, hint)?;
        Ok(match value {
            Value::Uniform(uniform) if ty.is_index() => Value::Affine(Affine::register(uniform)),
            Value::Uniform(_) | Value::Affine(_) | Value::Lanes { .. } => value,
        })
    }

    fn eval_kind(&mut self, id: ExprId, ty: Ty, hint: Option<Slot>) -> Result<Value, CpuError> {
        self.count_ops(id);
        let kernel = self.kernel;
        let dtype = lane_type(ty);
        match &kernel.exprs[id].kind {
            ExprKind::Literal(literal) => self.literal(*literal, ty),
            ExprKind::Var(var) => {
                self.watch_variable(*var)?;
                self.read_var(*var)
            }
            ExprKind::Arg(arg) => {
                use tile_ir::arena::EntityId as _;
                let register = self.unit.args.get(arg.index()).copied();
                let register =
                    register.ok_or_else(|| self.malformed(format!("argument {arg} is missing")))?;
                Ok(Value::Uniform(register))
            }
            ExprKind::Coord { domain, axis } => match &self.lane {
                Some(lane) if lane.domain == *domain && (*axis as usize) < lane.extents.len() => {
                    Ok(Value::Affine(Affine::coordinate(*axis as usize)))
                }
                Some(_) | None => {
                    Err(self.malformed(format!("{id} is a coordinate outside domain {domain}")))
                }
            },
            ExprKind::Fragment(fragment) => match self.kept(*fragment)? {
                (Kept::InOrder(slot), _) => {
                    self.watch_fragment(*fragment)?;
                    Ok(Value::Lanes { slot, owned: false })
                }
                (Kept::InArray(array), axes) => self.read_kept(array, &axes, hint),
            },
            ExprKind::Load(access) => {
                let is_counted = self.is_first(id);
                self.load(access, dtype, hint, is_counted)
            }
            ExprKind::Unary { op, operand } => {
                let func = match vector::unary(*op, dtype) {
                    Some(func) => Func::Of1(func),
                    None => return Err(self.undefined(op.symbol(), dtype)),
                };
                let operand = self.eval_as(*operand, dtype)?;
                if !ty.is_index() {
                    self.watch_unary(*op, dtype, &operand)?;
                }
                if *op == UnaryOp::Neg {
                    let zero = Value::Affine(Affine::constant(0));
                    if let Some(affine) = self.affine_op(BinaryOp::Sub, &zero, &operand)? {
                        return Ok(Value::Affine(affine));
                    }
                }
                self.map(func, dtype, vec![(operand, dtype)], hint)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let func = self.binary_func(*op, dtype)?;
                let lhs = self.eval_as(*lhs, dtype)?;
                let rhs = self.eval_as(*rhs, dtype)?;
                self.watch_binary(*op, (dtype, ty.is_index()), &lhs, &rhs)?;
                if let Some(affine) = self.affine_op(*op, &lhs, &rhs)? {
                    return Ok(Value::Affine(affine));
                }
                let finite = self.finite_before(dtype, &[&lhs, &rhs])?;
                let value = self.map(func, dtype, vec![(lhs, dtype), (rhs, dtype)], hint)?;
                self.finite_after(op.symbol(), dtype, finite, &value)?;
                Ok(value)
            }
            ExprKind::Fma { a, b, c } => {
                let func = vector::fma(dtype).map(Func::Of3);
                let func = func.ok_or_else(|| self.undefined("fma", dtype))?;
                let a = self.eval_as(*a, dtype)?;
                let b = self.eval_as(*b, dtype)?;
                let c = self.eval_as(*c, dtype)?;
                let finite = self.finite_before(dtype, &[&a, &b, &c])?;
                let operands = vec![(a, dtype), (b, dtype), (c, dtype)];
                let value = self.map(func, dtype, operands, hint)?;
                self.finite_after("* +", dtype, finite, &value)?;
                Ok(value)
            }
            ExprKind::Compare { op, lhs, rhs } => {
                let operand = self.type_of(*lhs)?;
                let lhs = self.eval_as(*lhs, operand)?;
                let rhs = self.eval_as(*rhs, operand)?;
                let func = Func::Of2(vector::compare(*op, operand));
                self.map(func, DType::Bool, vec![(lhs, operand), (rhs, operand)], hint)
            }
            ExprKind::Logic { op, lhs, rhs } => self.logic(*op, *lhs, *rhs, hint),
            ExprKind::Select { cond, then, otherwise } => {
                self.select(*cond, [*then, *otherwise], dtype, hint)
            }
            ExprKind::Cast(operand) => {
                let from = self.type_of(*operand)?;
                let value = self.eval(*operand)?;
                if from == dtype {
                    return Ok(value);
                }
                let Some(func) = vector::cast(from, dtype) else {
                    let kernel = kernel.name.clone();
                    return Err(CpuError::UndefinedCast { kernel, from, to: dtype });
                };
                self.map(Func::Of1(func), dtype, vec![(value, from)], hint)
            }
            ExprKind::Math { func, arg } => {
                let math = vector::math(*func, dtype).map(Func::Of1);
                let math = math.ok_or_else(|| self.undefined(func.name(), dtype))?;
                let arg = self.eval_as(*arg, dtype)?;
                let finite = self.finite_before(dtype, &[&arg])?;
                let value = self.map(math, dtype, vec![(arg, dtype)], hint)?;
                self.finite_after(func.name(), dtype, finite, &value)?;
                Ok(value)
            }
            ExprKind::CeilDiv { n, d } => {
                let n = self.eval_as(*n, DType::I64)?;
                let d = self.eval_as(*d, DType::I64)?;
                let func = Func::Of2(vector::ceil_div());
                self.map(func, DType::I64, vec![(n, DType::I64), (d, DType::I64)], hint)
            }
            ExprKind::InBounds { buffer, indices } => self.in_bounds(*buffer, indices, hint),
        }
    }

    /// Makes code for an operand that must be of a type.
    pub(super) fn eval_as(&mut self, id: ExprId, dtype: DType) -> Result<Value, CpuError> {
        let actual = self.type_of(id)?;
        if actual != dtype {
            return Err(self.malformed(format!("{id} is of type {actual}, {dtype} is needed")));
        }
        self.eval(id)
    }

    fn literal(&mut self, literal: Literal, ty: Ty) -> Result<Value, CpuError> {
        let dtype = lane_type(ty);
        let bits = match (literal, dtype) {
            (Literal::Int(value), _) if ty.is_index() => {
                let value = i64::try_from(value);
                let value = value.map_err(|_| self.malformed("an index literal above 64 bits"))?;
                return Ok(Value::Affine(Affine::constant(value)));
            }
            // The low bytes of the two's complement.
            (Literal::Int(value), dtype) if dtype.is_integer() => value as u64,
            (Literal::Float(value), DType::F64) => value.to_bits(),
            (Literal::Float(value), DType::F32) => (value as f32).to_bits().into(),
            (Literal::Float(value), DType::F16) => {
                let short: half::f16 = value.cast();
                short.to_bits().into()
            }
            (Literal::Float(value), DType::BF16) => {
                let short: half::bf16 = value.cast();
                short.to_bits().into()
            }
            (Literal::Bool(value), DType::Bool) => value.to_bits(),
            (Literal::Int(_) | Literal::Float(_) | Literal::Bool(_), _) => {
                return Err(self.malformed(format!("a literal {literal:?} of type {ty}")));
            }
        };
        Ok(Value::Uniform(self.unit.constant(bits)))
    }

    /// `a && b`, `a || b`. Where the right operand reads memory it is evaluated
    /// for the lanes only in which it decides.
    fn logic(
        &mut self,
        op: LogicOp,
        lhs: ExprId,
        rhs: ExprId,
        hint: Option<Slot>,
    ) -> Result<Value, CpuError> {
        let func = match op {
            LogicOp::And => vector::and_flags(),
            LogicOp::Or => vector::or_flags(),
        };
        let varies = self.varies(lhs) || self.varies(rhs);
        let left = self.eval_as(lhs, DType::Bool)?;
        if !self.unit.facts.loads(rhs) {
            let right = self.eval_as(rhs, DType::Bool)?;
            let operands = vec![(left, DType::Bool), (right, DType::Bool)];
            return self.map(Func::Of2(func), DType::Bool, operands, hint);
        }
        if !varies {
            let left = self.uniform(&left)?;
            let dst = Slot::Uniform(self.unit.fresh_uniform());
            self.move_to(Value::Uniform(left), DType::Bool, dst)?;
            let cond = match op {
                LogicOp::And => left,
                LogicOp::Or => self.negated(left)?,
            };
            let skip = self.push(Instr::JumpUnless { cond, target: 0 });
            self.eval_to(rhs, dst)?;
            self.land(skip);
            let Slot::Uniform(dst) = dst else { return Err(self.malformed("a lost register")) };
            return Ok(Value::Uniform(dst));
        }
        let dst = self.take_register(DType::Bool);
        self.move_to(left, DType::Bool, dst)?;
        let (mask, outer) = match op {
            LogicOp::And => self.enter_mask(dst, true),
            LogicOp::Or => self.enter_mask(dst, false),
        };
        let skip = self.push(Instr::JumpIfNone { mask, target: 0 });
        let right = self.eval_as(rhs, DType::Bool)?;
        let (right, owned) = self.lanes(right, DType::Bool)?;
        self.push(Instr::Map2 { width: Width::Chunk, f: func, dst, a: dst, b: right });
        if owned {
            self.give_register(right, DType::Bool);
        }
        self.land(skip);
        self.leave_mask(mask, outer);
        Ok(Value::Lanes { slot: dst, owned: true })
    }

    /// One of two values. Where they read memory each is evaluated for the
    /// lanes only that choose it.
    fn select(
        &mut self,
        cond: ExprId,
        choices: [ExprId; 2],
        dtype: DType,
        hint: Option<Slot>,
    ) -> Result<Value, CpuError> {
        let loads = choices.iter().any(|&id| self.unit.facts.loads(id));
        let varies = choices.iter().any(|&id| self.varies(id));
        let flag = self.eval_as(cond, DType::Bool)?;
        let func = Func::Of3(vector::select(lane_bytes(dtype)));
        if !loads {
            let then = self.eval_as(choices[0], dtype)?;
            let otherwise = self.eval_as(choices[1], dtype)?;
            let operands = vec![(flag, DType::Bool), (then, dtype), (otherwise, dtype)];
            return self.map(func, dtype, operands, hint);
        }
        if flag.is_uniform() {
            let cond = self.pinned(&flag)?;
            let dst = if varies {
                self.take_register(dtype)
            } else {
                Slot::Uniform(self.unit.fresh_uniform())
            };
            let to_otherwise = self.push(Instr::JumpUnless { cond, target: 0 });
            self.eval_to(choices[0], dst)?;
            let to_end = self.push(Instr::Jump { target: 0 });
            self.land(to_otherwise);
            self.eval_to(choices[1], dst)?;
            self.land(to_end);
            return Ok(match dst {
                Slot::Uniform(uniform) => Value::Uniform(uniform),
                Slot::Vector(_) | Slot::Fragment { .. } | Slot::Found(_) => {
                    Value::Lanes { slot: dst, owned: true }
                }
            });
        }
        let flags = self.take_register(DType::Bool);
        self.move_to(flag, DType::Bool, flags)?;
        let dst = self.take_register(dtype);
        for (choice, wanted) in choices.into_iter().zip([true, false]) {
            let (mask, outer) = self.enter_mask(flags, wanted);
            let skip = self.push(Instr::JumpIfNone { mask, target: 0 });
            let value = self.eval_as(choice, dtype)?;
            self.blend_to(value, dtype, dst)?;
            self.land(skip);
            self.leave_mask(mask, outer);
        }
        self.give_register(flags, DType::Bool);
        Ok(Value::Lanes { slot: dst, owned: true })
    }
}
