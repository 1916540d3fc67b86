//! What is left of a variable that is changed where its value is not followed.

use super::super::algebra::symbol::Obstacle;
use super::super::loops::Kind;
use super::{Value, Walk};
use crate::kernel::{Type, VarId};

impl Walk<'_> {
    /// Any value of a variable that has been assigned.
    pub(in super::super) fn changed(&mut self, var: VarId) -> Value {
        if !self.asked.is_var(var) {
            return Value::Other;
        }
        if self.type_of(var) == Type::BOOL {
            return self.any_condition(var);
        }
        let (uniform, since) = (self.is_uniform_var(var), self.symbols.next());
        let value = match self.kernel.vars.get(var) {
            Some(declared) => {
                self.any_of_type(declared.ty, uniform, (declared.span, Obstacle::Changed(var)))
            }
            None => {
                self.any_of_type(self.type_of(var), uniform, (self.kernel.span, Obstacle::Load))
            }
        };
        self.note_found_below_in_var(var, since, &value);
        value
    }

    /// The same, of which so much is known.
    pub(in super::super) fn changed_within(&mut self, var: VarId, kind: Kind) -> Value {
        let value = self.changed(var);
        let Value::Int(poly) = &value else { return value };
        for unknown in poly.unknowns() {
            match kind {
                Kind::Any => {}
                Kind::Natural => self.symbols.set_natural(unknown),
                Kind::Positive | Kind::Power => self.symbols.set_positive(unknown),
            }
            if kind == Kind::Power {
                self.powers.insert(unknown);
            }
        }
        value
    }
}
