//! Numbers that work-items are said not to have in common: who has had which.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tile_ir::dtype::DType;
use tile_ir::kernel::Within;
use tile_ir::value::ScalarValue;

use super::frame::{Fault, Frame};
use crate::cpu::code::Slot;

/// By assumption and number, the coordinates of the work-item that has it.
pub(super) type Taken = HashMap<(usize, i64), Vec<i64>>;

impl Frame<'_> {
    /// Notes the numbers of the lanes of the mask.
    pub(super) fn differ(
        &mut self,
        mask: Option<Slot>,
        fact: usize,
        shown: &[(Slot, DType)],
    ) -> Result<(), Fault> {
        let kernel = self.kernel;
        let Some((assumed, _)) = kernel.facts.get(fact) else { return Ok(()) };
        let n_coords = assumed.block.len() + assumed.item.len();
        let lanes = self.lanes_of(mask);
        for lane in lanes {
            let all: Vec<i64> = shown
                .iter()
                .map(|(slot, dtype)| self.lane_value(*slot, *dtype, lane).bits.cast_signed())
                .collect();
            let (who, numbers) = all.split_at(n_coords.min(all.len()));
            let other = numbers.iter().find_map(|number| {
                let key = (fact, *number);
                match (assumed.distinct, self.in_grid) {
                    (Some(Within::Grid), Some(taken)) => {
                        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
                        taken_by_another(&mut taken, key, who)
                    }
                    (Some(_), _) => taken_by_another(&mut self.in_block, key, who),
                    (None, _) => None,
                }
            });
            if let Some(other) = other {
                let values = |of: &[i64]| -> Vec<ScalarValue> { of.iter().map(as_value).collect() };
                return Err(Fault::Shared(fact, values(&all), values(&other)));
            }
        }
        Ok(())
    }
}

fn as_value(of: &i64) -> ScalarValue {
    ScalarValue { dtype: DType::I64, bits: of.cast_unsigned() }
}

/// Notes who has a number; gives who else has it.
fn taken_by_another(taken: &mut Taken, key: (usize, i64), who: &[i64]) -> Option<Vec<i64>> {
    let owner = taken.entry(key).or_insert_with(|| who.to_vec());
    (owner.as_slice() != who).then(|| owner.clone())
}

/// What all workers of a launch note.
pub(super) type SharedTaken = Mutex<Taken>;
