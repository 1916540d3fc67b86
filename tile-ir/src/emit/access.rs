//! Elements of memory in C++, and the comparisons that guard them.

use super::Writer;
use super::expr::Strength;
use crate::program::{Access, AxisGuard, BufferSpace, ExprId, Swizzle, Target, TileSpace};

impl Writer<'_> {
    /// The value of an element, or its pad where the comparisons fail.
    pub(super) fn loaded(&self, access: &Access) -> (Strength, String) {
        let place = Self::value_at(access, self.place(access));
        match (self.guard(access), access.pad) {
            (Some((strength, guard)), Some(pad)) => {
                let guard = match strength {
                    Strength::Logic => format!("({guard})"),
                    _ => guard,
                };
                let pad = self.operand(pad, Strength::Logic);
                (Strength::Loose, format!("{guard} ? {place} : {pad}"))
            }
            _ => (Strength::Atom, place),
        }
    }

    /// What is read at a place.
    pub(super) fn value_at(access: &Access, place: String) -> String {
        if access.once { format!("tk_load_once(&{place})") } else { place }
    }

    /// The statement that writes a place.
    pub(super) fn assignment(access: &Access, place: &str, value: &str) -> String {
        if access.once {
            format!("tk_store_once(&{place}, {value});")
        } else {
            format!("{place} = {value};")
        }
    }

    /// The statement that writes an element.
    pub(super) fn store_of(&self, access: &Access, value: &str) -> String {
        Self::assignment(access, &self.place(access), value)
    }

    /// The comparisons of an access, `None` where there are none.
    pub(super) fn guard(&self, access: &Access) -> Option<(Strength, String)> {
        let mut tests = Vec::new();
        for (axis, guard) in access.guards.iter().enumerate() {
            let AxisGuard { lower, upper } = *guard;
            let index = self.operand(access.indices[axis], Strength::Sum);
            if lower {
                tests.push(format!("0 <= {index}"));
            }
            if upper {
                let extent = match access.target {
                    Target::Buffer(id) => {
                        let extent = self.kernel.buffers[id].extents[axis];
                        self.operand(extent, Strength::Sum)
                    }
                    Target::Tile(id) => self.kernel.tiles[id].extents[axis].to_string(),
                };
                tests.push(format!("{index} < {extent}"));
            }
        }
        let strength = if tests.len() > 1 { Strength::Logic } else { Strength::Compare };
        (!tests.is_empty()).then(|| (strength, tests.join(" && ")))
    }

    /// `a[offset]`
    pub(super) fn place(&self, access: &Access) -> String {
        format!("{}[{}]", self.array(access), self.offset(access))
    }

    /// The first element's place: a name, or a member of one.
    pub(super) fn array(&self, access: &Access) -> String {
        let name = self.array_name(access);
        match access.target {
            Target::Buffer(id) => match self.kernel.buffers[id].space {
                BufferSpace::Global => name.to_owned(),
                BufferSpace::Constant { .. } => format!("{name}.elems"),
            },
            Target::Tile(_) => name.to_owned(),
        }
    }

    pub(super) fn array_name(&self, access: &Access) -> &str {
        match access.target {
            Target::Buffer(id) => self.names.buffer(id),
            Target::Tile(id) => self.names.tile(id),
        }
    }

    /// The element's offset within its array.
    pub(super) fn offset(&self, access: &Access) -> String {
        let mut terms: Vec<String> = Vec::new();
        match access.target {
            Target::Buffer(id) => {
                let strides = &self.kernel.buffers[id].strides;
                for (&index, &stride) in access.indices.iter().zip(strides) {
                    if self.is_literal(stride, 0) {
                        continue;
                    }
                    if self.is_literal(stride, 1) {
                        self.push_term(&mut terms, index, None);
                    } else {
                        let stride = self.factor(stride);
                        self.push_term(&mut terms, index, Some(&stride));
                    }
                }
            }
            Target::Tile(id) => {
                let tile = &self.kernel.tiles[id];
                for (&index, &stride) in access.indices.iter().zip(&tile.layout.strides) {
                    let stride = (stride != 1).then(|| stride.to_string());
                    self.push_term(&mut terms, index, stride.as_deref());
                }
                if let Some(swizzle) = tile.layout.swizzle {
                    terms = vec![swizzled(&sum_of(&terms), swizzle)];
                }
                if let TileSpace::Local(domain) = tile.space
                    && let Some(register) = self.register_of(domain)
                {
                    let register = match register.contains(' ') {
                        true => format!("({register})"),
                        false => register,
                    };
                    terms.insert(0, format!("{register} * {}", tile.layout.size_elems));
                }
                if let Some(slot) = access.slot
                    && !self.is_literal(slot, 0)
                {
                    let slot = self.factor(slot);
                    terms.insert(0, format!("{slot} * {}", tile.layout.size_elems));
                }
            }
        }
        sum_of(&terms)
    }

    /// Adds `index * stride`, where it is not plainly 0.
    fn push_term(&self, terms: &mut Vec<String>, index: ExprId, stride: Option<&str>) {
        if self.is_literal(index, 0) {
            return;
        }
        terms.push(match stride {
            None => self.sum(index),
            Some(stride) => match self.is_literal(index, 1) {
                true => stride.to_owned(),
                false => format!("{} * {stride}", self.operand(index, Strength::Product)),
            },
        });
    }
}

fn sum_of(terms: &[String]) -> String {
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}

fn swizzled(offset: &str, swizzle: Swizzle) -> String {
    let mask = (1u32 << swizzle.bits) - 1;
    let offset = if offset.contains(' ') { format!("({offset})") } else { offset.to_owned() };
    let bits = format!("{offset} >> {} & {mask}", swizzle.source);
    match swizzle.shift {
        0 => format!("({offset} ^ ({bits}))"),
        shift => format!("({offset} ^ ({bits}) << {shift})"),
    }
}
