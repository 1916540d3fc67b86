//! Whole numbers that work-items hand on to each other in arrays, and use as places.

use std::fmt::Write as _;

use super::{Of, Writer};

/// An array of whole numbers: how an access to it begins, and the type of its elements.
pub(super) type Whole = (&'static str, &'static str);

const WHOLE: [Whole; 5] =
    [("q[", "i32"), ("q[", "i32"), ("r[", "u32"), ("r[", "u32"), ("p[bx * T + ", "i32")];

impl Of {
    /// The tensors and the tiles that a kernel has beside those of all.
    pub(super) fn arrays(self) -> (&'static str, &'static str) {
        match self {
            Self::Places => ("", ""),
            Self::HandedOn => (
                ", #[pad = 0] p: &mut Tensor<i32, [N]>, #[pad = 0] g: &mut Tensor<u32, [1]>",
                "shared q: [i32; 96];\nshared r: [u32; 96];\nshared v: [u32; 1];\nload q[i] = 0;\n\
                 load r[i] = 0;\n",
            ),
        }
    }

    /// How many statements stand in a row.
    pub(super) fn stmts(self) -> usize {
        match self {
            Self::Places => 2,
            Self::HandedOn => 3,
        }
    }
}

impl Writer<'_> {
    /// A number is stored, changed or found, and what is found told apart by or used.
    pub(super) fn hand_on(&mut self) {
        match self.rng.u8(0..16) {
            0..4 => self.hand(),
            4 => self.change(),
            5 => self.ticket(),
            6 | 7 => self.find(),
            8 => self.tell(),
            9 => self.claim(),
            10 => self.ask_found(),
            11 if self.together && !self.in_each && self.axes != ["1"] => self.come_first(),
            _ => self.use_found(),
        }
        if self.together && self.rng.bool() {
            self.text.push_str("barrier;\n");
        }
    }

    /// A cell to be written: the work-item's own, or any.
    fn cell(&mut self) -> (Whole, String) {
        if self.rng.u8(0..4) == 0
            && let Some(cell) = self.handed_on()
        {
            return cell;
        }
        let place = match self.rng.u8(0..10) {
            0..5 => self.own(),
            5 => format!("{} + {}", self.own(), self.rng.u8(1..4)),
            6 => format!("({}) / 2", self.own()),
            7 => format!("({}) % 2", self.own()),
            8 => self.value(true),
            _ => self.index(false),
        };
        (WHOLE[self.rng.usize(0..WHOLE.len())], place)
    }

    /// A cell in which something was stored before.
    fn handed_on(&mut self) -> Option<(Whole, String)> {
        self.rng.choice(&self.handed).cloned()
    }

    /// A cell to be read: mostly one of those in which something was stored.
    fn found(&mut self) -> String {
        let handed = if self.rng.u8(0..4) > 0 { self.handed_on() } else { None };
        let ((array, _), place) = match handed {
            Some(cell) => cell,
            None => self.cell(),
        };
        format!("{array}{place}]")
    }

    /// A number to be handed on: often another one for each work-item.
    fn number(&mut self) -> String {
        let own = self.own();
        match self.rng.u8(0..10) {
            0..3 => own,
            3 => format!("(T + 8 - ({own}))"),
            4 => format!("(({own}) ^ 1)"),
            5 => format!("(({own}) * 2)"),
            6 => format!("(({own}) / 2)"),
            7 => self.value(true),
            8 => self.rng.u8(0..3).to_string(),
            _ => self.index(false),
        }
    }

    fn hand(&mut self) {
        let (((array, ty), place), number) = (self.cell(), self.number());
        let store = format!("{array}{place}] = ({number}) as {ty};");
        match self.rng.u8(0..4) {
            0 => {
                let condition = self.condition(false);
                let _ = writeln!(self.text, "if {condition} {{ {store} }}");
            }
            _ => {
                let _ = writeln!(self.text, "{store}");
            }
        }
        self.handed.push(((array, ty), place));
    }

    fn change(&mut self) {
        let ((array, ty), place) = self.cell();
        let number = self.number();
        let how = match self.rng.u8(0..4) {
            0 => format!("atomic {array}{place}] += 1;"),
            1 => format!("atomic {array}{place}].max(({number}) as {ty});"),
            2 => format!("{array}{place}] += ({number}) as {ty};"),
            _ => format!("atomic {array}{place}] |= ({number}) as {ty};"),
        };
        let _ = writeln!(self.text, "{how}");
        self.handed.push(((array, ty), place));
    }

    /// One work-item of the block tells the others a number: its own, a sum, or one from a
    /// counter of all blocks.
    fn tell(&mut self) {
        let ((array, ty), _) = self.cell();
        let place = self.value(true);
        let is_first = self.is_first();
        if self.in_each || self.axes == ["1"] {
            return;
        }
        let old = self.name();
        let (before, number) = match self.rng.u8(0..4) {
            0 => (format!("let {old} = atomic g[0] += 1; "), old),
            1 => (format!("let {old} = atomic g[0] += T as u32; "), old),
            _ => (String::new(), self.number()),
        };
        let store = format!("{array}{place}] = ({number}) as {ty};");
        let _ = writeln!(self.text, "if {is_first} {{ {before}{store} }}");
        self.handed.push(((array, ty), place));
    }

    /// Who comes first to a cell has something to itself.
    fn claim(&mut self) {
        let ((_, place), old) = (self.cell(), self.name());
        let how = self.pick(&["swap(1)", "compare_exchange(0, 1)", "max(1)"]);
        let into = self.pick(&["s[", "c[bx * T + ", "c["]);
        let used = if self.rng.bool() { place.clone() } else { self.index(false) };
        let _ = writeln!(self.text, "let {old} = atomic r[{place}].{how};");
        let _ = writeln!(self.text, "if {old} == 0 {{ {into}{used}] = 1.0; }}");
    }

    /// Who comes first to a flag of the block writes something, which all may read behind a
    /// barrier.
    fn come_first(&mut self) {
        let (old, uniform) = (self.name(), self.rng.bool());
        let place = self.index(uniform);
        let number = self.rng.u8(0..2);
        let how = self.pick(&["+= 1", ".swap(5)", ".compare_exchange(0, 1)", ".max(1)"]);
        let asked = self.pick(&["== 0", "== 0", "== 1", "!= 0"]);
        if self.rng.u8(0..4) > 0 {
            let is_first = self.is_first();
            let _ = writeln!(self.text, "if {is_first} {{ v[0] = {number}; }}");
        }
        let into = self.pick(&["s[", "s[", "c[bx * T + "]);
        let _ = writeln!(self.text, "barrier;\nlet {old} = atomic v[0]{how};");
        let _ = writeln!(self.text, "if {old} {asked} {{ {into}{place}] = 1.0; }}\nbarrier;");
        if self.rng.bool() {
            let _ = writeln!(self.text, "let {old}x = s[{place}];");
        }
    }

    /// Who finds some number has something to itself.
    fn ask_found(&mut self) {
        let (found, number) = (self.found(), self.number());
        let used = if self.rng.bool() { self.own() } else { self.index(false) };
        let into = self.pick(&["s[", "c[bx * T + ", "q["]);
        let value = if into.starts_with('q') { "1" } else { "1.0" };
        let op = self.pick(&["==", "==", "<", "!="]);
        let _ =
            writeln!(self.text, "if {found} as index {op} {number} {{ {into}{used}] = {value}; }}");
    }

    /// A number of its own from a counter.
    fn ticket(&mut self) {
        let ((_, place), name, old) = (self.cell(), self.name(), self.name());
        let step = self.rng.u8(1..3);
        let _ = writeln!(self.text, "let {old} = atomic r[{place}] += {step};");
        let _ = writeln!(self.text, "let {name} = {old} as index;");
        self.private.push(name);
    }

    fn find(&mut self) {
        let (found, name) = (self.found(), self.name());
        let _ = writeln!(self.text, "let {name} = {found} as index;");
        self.private.push(name);
    }

    /// A place that was found is stored in at once.
    fn use_found(&mut self) {
        let found = self.found();
        let into = ["s[", "s[", "c[bx * T + ", "c[", "p[bx * T + "][self.rng.usize(0..5)];
        let number = if into.starts_with('p') { "1" } else { "1.0" };
        let _ = writeln!(self.text, "{into}{found} as index] = {number};");
    }
}
