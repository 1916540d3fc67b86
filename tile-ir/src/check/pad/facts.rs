//! What follows from a condition.

use super::Flow;
use crate::check::poly::Poly;
use crate::kernel::{ExprId, ExprKind};
use crate::op::{CompareOp, LogicOp, UnaryOp};

impl Flow<'_> {
    /// Notes what follows from a condition that holds, or does not.
    pub(super) fn learn(&mut self, cond: ExprId, holds: bool) {
        match self.kernel.exprs[cond].kind.clone() {
            ExprKind::Logic { op, lhs, rhs } if (op == LogicOp::And) == holds => {
                self.learn(lhs, holds);
                self.learn(rhs, holds);
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.learn(operand, !holds),
            ExprKind::Compare { op, lhs, rhs } if self.bounds.is_index(lhs) => {
                let (lhs, rhs) = (self.bounds.poly(lhs), self.bounds.poly(rhs));
                let up = rhs.clone().sub(&lhs);
                let down = lhs.sub(&rhs);
                let one = Poly::constant(1);
                match (op, holds) {
                    (CompareOp::Lt, true) | (CompareOp::Ge, false) => self.facts.push(up.sub(&one)),
                    (CompareOp::Le, true) | (CompareOp::Gt, false) => self.facts.push(up),
                    (CompareOp::Gt, true) | (CompareOp::Le, false) => {
                        self.facts.push(down.sub(&one));
                    }
                    (CompareOp::Ge, true) | (CompareOp::Lt, false) => self.facts.push(down),
                    (CompareOp::Eq, true) | (CompareOp::Ne, false) => {
                        self.facts.extend([up, down]);
                    }
                    // Of what has one sign, what is not 0 is beyond it.
                    (CompareOp::Eq, false) | (CompareOp::Ne, true) => {
                        let signs = [up, down].into_iter();
                        let natural = signs.filter(|side| self.bounds.is_never_negative(side));
                        let beyond: Vec<Poly> = natural.map(|side| side.sub(&one)).collect();
                        self.facts.extend(beyond);
                    }
                }
            }
            ExprKind::InBounds { tensor, indices } if holds => {
                for (index, extent) in indices.iter().zip(&self.kernel.tensors[tensor].extents) {
                    let (index, extent) = (self.bounds.poly(*index), self.bounds.poly(*extent));
                    self.facts.push(extent.sub(&Poly::constant(1)).sub(&index));
                    self.facts.push(index);
                }
            }
            ExprKind::Literal(_)
            | ExprKind::Var(_)
            | ExprKind::Load(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Select { .. }
            | ExprKind::Cast(_)
            | ExprKind::Uniform(_)
            | ExprKind::Math { .. }
            | ExprKind::Tiles { .. }
            | ExprKind::InBounds { .. } => {}
        }
    }
}
