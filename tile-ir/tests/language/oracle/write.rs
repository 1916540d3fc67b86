//! Texts of random small kernels.

mod handed;

use std::fmt::Write as _;

/// Blocks, with the axes of each and the extents that the text knows.
const BLOCKS: [(&str, &[&str]); 7] = [
    ("block: (tx in T),", &["tx"]),
    ("block: (tx in T),", &["tx"]),
    ("block: (tx in 4),", &["tx"]),
    ("block: (ty in 2, tx in T),", &["tx", "ty"]),
    ("block: (ty in 2, tx in 3),", &["tx", "ty"]),
    ("block: (tz in 2, ty in 2, tx in 2),", &["tx", "ty", "tz"]),
    ("", &["1"]),
];

const GRIDS: [&str; 4] = [
    "grid: (bx in tiles(N, T)),",
    "grid: (bx in tiles(N, T)),",
    "grid: (bx in 2),",
    "grid: (by in 2, bx in 2),",
];

/// What stands beside the kernel.
const FUNCTIONS: &str = "const ONE: index = 1;
fn bounced(i: index, n: index) -> index { let far = 2 * n - i; if i < n { i } else { max(far, 0) } }";

/// What reads outside of the line of numbers give.
const EDGES: [&str; 6] = [
    "#[pad = 0]",
    "#[pad = 0]",
    "#[pad = 0]",
    "#[edge(clamp)]",
    "#[edge(wrap)]",
    "#[edge(reflect)]",
];

const TILES: [&str; 5] = ["T in 1..=5", "T in [2, 4]", "T in [3]", "T in pow2(2..=4)", "T = 4"];

/// What random kernels are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Places in arrays of numbers that nobody looks at.
    Places,
    /// Whole numbers too, which work-items hand on to each other in arrays.
    HandedOn,
}

/// A random kernel.
pub(crate) fn write(rng: &mut fastrand::Rng, of: Of) -> String {
    let pick = |rng: &mut fastrand::Rng, from: &[&'static str]| from[rng.usize(0..from.len())];
    let (block, axes) = BLOCKS[rng.usize(0..BLOCKS.len())];
    let (grid, tile, edge) = (pick(rng, &GRIDS), pick(rng, &TILES), pick(rng, &EDGES));
    let mut writer = Writer {
        rng,
        text: String::new(),
        names: 0,
        uniform: ["bx", "0", "1", "o", "o"].map(str::to_owned).to_vec(),
        private: axes.iter().map(|axis| (*axis).to_owned()).collect(),
        together: true,
        in_each: false,
        axes,
        of,
        handed: Vec::new(),
    };
    let fill = writer.fill();
    writer.text.clear();
    writer.body(2);
    if of == Of::Places {
        writer.body(2);
    }
    let body = writer.text;
    let (tensors, tiles) = of.arrays();
    format!(
        "{FUNCTIONS}
fn f(n: i32, #[pad = 0] ind: &Tensor<i32, [N]>, {edge} c: &mut Tensor<f32, [N]>, d: &mut Tensor<f32, [N, N]>, e: &mut Tensor<f32, [1]>{tensors})
where tile: ({tile}), {grid} {block} {{
shared s: [f32; 96];
shared u: [f32; 3, 96];
{tiles}load u[i, j] = 0.0;
let mut o = 0;
{fill}
barrier;
{body}
atomic e[0] += 1.0;
}}"
    )
}

struct Writer<'a> {
    rng: &'a mut fastrand::Rng,
    text: String,
    names: u32,
    /// Index values in scope: for all work-items the same, and not.
    uniform: Vec<String>,
    private: Vec<String>,
    /// Whether work-items are here together.
    together: bool,
    in_each: bool,
    axes: &'static [&'static str],
    of: Of,
    /// The cells in which numbers were stored, by array and place.
    handed: Vec<(handed::Whole, String)>,
}

impl Writer<'_> {
    fn pick(&mut self, from: &[&str]) -> String {
        from[self.rng.usize(0..from.len())].to_owned()
    }

    fn value(&mut self, uniform: bool) -> String {
        let mut names = self.uniform.clone();
        if !uniform {
            // What tells work-items apart is wanted most.
            for _ in 0..3 {
                names.extend(self.private.clone());
            }
        }
        names[self.rng.usize(0..names.len())].clone()
    }

    fn index(&mut self, uniform: bool) -> String {
        let (a, b) = (self.value(uniform), self.value(uniform));
        let c = self.rng.u8(1..5);
        match self.rng.u8(0..30) {
            0..5 => a,
            5 => format!("{a} + {b}"),
            6 => format!("{a} * {c} + {b}"),
            7 => format!("{a} + {c}"),
            8..11 => format!("{a} * T + {b}"),
            11 => format!("{a} % {c}"),
            12 => format!("{a} / {c}"),
            13 => format!("max({a} - {b}, 0)"),
            14 => format!("min({a}, {b})"),
            15 => format!("({a} + {c}) % T"),
            16 => format!("T + 20 - {a}"),
            17 => format!("({a} ^ {c})"),
            18 => format!("({a} & {c})"),
            19 => format!("({a} >> 1)"),
            20 => format!("(2 * {a} + 1)"),
            21 => format!("({a} | {c})"),
            22 => format!("(if {a} < {b} {{ {a} }} else {{ {b} + {c} }})"),
            23 => format!("({a} << 1)"),
            24 => format!("({a} ^ {b})"),
            25 => format!("bounced({a} + ONE, {c})"),
            26 => format!("({a} - {b}).rem_euclid({c})"),
            27 => format!("({a} + {b}).clamp(0, T + {c})"),
            28 => format!("({a} + {c}).div_euclid(T)"),
            _ => format!("({a} * T + {b}) / {c}"),
        }
    }

    fn condition(&mut self, uniform: bool) -> String {
        let (a, b) = (self.index(uniform), self.index(uniform));
        let op = self.pick(&["<", "<=", "==", "!=", ">", ">="]);
        match self.rng.u8(0..9) {
            8 if !self.in_each => format!("{a} {op} n"),
            0 => format!("{a} {op} {b} && {} < 2", self.value(uniform)),
            1 => format!("!({a} {op} {b} || {} < 1)", self.value(uniform)),
            2 if !self.in_each => format!("ind[{a}] {op} 2"),
            3 => format!("{} == 0", self.value(uniform)),
            _ => format!("{a} {op} {b}"),
        }
    }

    /// What fills a tile, whole or in part.
    fn fill(&mut self) -> String {
        let own = self.own();
        let range = self.pick(&["0..n", "0..3", "0..T", "(0..6).step_by(2)"]);
        let is_uniform = self.rng.bool();
        let cond = self.condition(is_uniform);
        match self.rng.u8(0..16) {
            0..6 => "load s[i] = 0.0;".to_owned(),
            14..16 if self.axes != ["1"] => self.fill_picked(&own, &cond),
            6 => format!("s[{own}] = 0.0;"),
            7 => format!("for k in {range} {{ s[{own} + k] = 0.0; barrier; }}"),
            8 => format!("for k in {range} {{ s[{own} * 5 + k] = 0.0; }}"),
            9 => format!("if {cond} {{ s[{own}] = 0.0; }} else {{ s[{own}] = 1.0; }}"),
            10 => format!("if {cond} {{ s[{own}] = 0.0; }}"),
            11 => "each k in T { s[k] = 0.0; }".to_owned(),
            12 => "each (j, k) in (T, 3) { s[3 * j + k] = 0.0; }".to_owned(),
            _ => String::new(),
        }
    }

    /// What one work-item fills, at a place that each has a name for: one place for all, or not.
    fn fill_picked(&mut self, own: &str, cond: &str) -> String {
        let (name, value) = (self.name(), self.index(false));
        let places = [
            format!("let {name} = ({value}) % 5;"),
            format!("let {name} = (ind[bx] & 3) as index;"),
            format!("let {name} = (ind[{own}] & 3) as index;"),
            format!("let mut {name}: index = 1; if {cond} {{ {name} = 2; }}"),
            format!("let mut {name}: index = 1; if ind[bx] < 2 {{ {name} = 2; }}"),
        ];
        let place = &places[self.rng.usize(0..places.len())];
        // It is to be read most of all.
        self.private.extend(vec![name.clone(); 4]);
        format!("{place}\nif {} {{ s[{name}] = 0.0; }}", self.is_first())
    }

    /// What picks the first work-item of a block.
    fn is_first(&self) -> String {
        let axes: Vec<String> = self.axes.iter().map(|axis| format!("{axis} == 0")).collect();
        axes.join(" && ")
    }

    /// An index of the work-item's own.
    fn own(&self) -> String {
        let own = match (self.in_each, self.private.len()) {
            (true, _) => self.private[0].clone(),
            (false, _) if self.axes.len() == 1 => self.axes[0].to_owned(),
            (false, _) => {
                self.axes.iter().map(|axis| format!(" + 6 * {axis}")).collect::<String>()
                    + " - 5 * tx"
            }
        };
        own.trim_start_matches(" + ").to_owned()
    }

    fn access(&mut self) -> String {
        // Mostly an element of one's own, or next to it.
        let own = self.own();
        let index = match self.rng.u8(0..8) {
            0..5 => own,
            5 => format!("{own} + {}", self.rng.u8(1..4)),
            _ => self.index(false),
        };
        match self.rng.u8(0..8) {
            0..4 => format!("s[{index}]"),
            4 => format!("u[{}, {index}]", self.pick(&["0", "1", "o % 3"])),
            5 => format!("u[{} % 2, {index}]", self.value(true)),
            6 => format!("c[bx * T + {index}]"),
            _ => format!("d[bx, {index}]"),
        }
    }

    fn body(&mut self, depth: u32) {
        let scope = (self.uniform.clone(), self.private.clone(), self.handed.clone());
        for _ in 0..self.rng.usize(1..=self.of.stmts()) {
            self.stmt(depth);
        }
        (self.uniform, self.private, self.handed) = scope;
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    fn stmt(&mut self, depth: u32) {
        if self.of == Of::HandedOn && self.rng.u8(0..3) > 0 {
            return self.hand_on();
        }
        match self.rng.u8(0..20) {
            18..20 if self.together && !self.in_each && self.axes != ["1"] => self.exchange(depth),
            0..4 => {
                let access = self.access();
                let _ = writeln!(self.text, "{access} = 1.0;");
            }
            4..6 => {
                let (access, name) = (self.access(), self.name());
                let _ = writeln!(self.text, "let {name} = {access};");
            }
            6..9 if self.together => self.text.push_str("barrier;\n"),
            9..11 if depth > 0 => {
                let uniform = self.rng.bool();
                let condition = self.condition(uniform);
                let _ = writeln!(self.text, "if {condition} {{");
                let together = self.together;
                self.together &= uniform && !condition.contains("ind[");
                self.body(depth - 1);
                self.text.push_str("} else {\n");
                if self.rng.bool() {
                    self.body(depth - 1);
                }
                self.text.push_str("}\n");
                self.together = together;
            }
            11..13 if depth > 0 => self.repeat(depth),
            13 if depth > 0 && self.together && !self.in_each => self.cooperate(depth),
            14 if self.together => {
                let step = self.pick(&["o += 1;", "o += T;", "o = 1 - o;", "o = 0;"]);
                let _ = writeln!(self.text, "{step}");
            }
            15 => {
                let (name, value) = (self.name(), self.index(false));
                let _ = writeln!(self.text, "let {name} = {value};");
                self.private.push(name);
            }
            16 => {
                let access = self.access();
                let _ = writeln!(self.text, "atomic {access} += 1.0;");
            }
            _ => {
                let access = self.access();
                let _ = writeln!(self.text, "{access} += 1.0;");
            }
        }
    }

    /// What work-items make of each other's values.
    fn exchange(&mut self, depth: u32) {
        let (name, value, cond) = (self.name(), self.index(false), self.condition(false));
        let by = self.rng.u8(1..4);
        let (text, is_uniform) = match self.rng.u8(0..10) {
            0 => (format!("reduce_max({value} as i32) as index"), true),
            1 => (format!("(reduce_sum({value} as i32) & 7) as index"), true),
            2 => (format!("reduce_min({value} as i32) as index"), true),
            3 | 4 => (format!("scan_sum_exclusive(({cond}) as u32) as index"), false),
            5 => (format!("scan_sum(({cond}) as i32) as index"), false),
            6 => (format!("shuffle_xor({value} as i32, {by}) as index"), false),
            7 => (format!("shuffle_down({value} as i32, {by}) as index"), false),
            8 => (format!("(ballot({cond}) & 7) as index"), false),
            _ if depth > 0 => {
                let _ = writeln!(self.text, "if any({cond}) {{");
                self.body(depth - 1);
                self.text.push_str("}\n");
                return;
            }
            _ => (format!("warp_sum(({cond}) as i32) as index"), false),
        };
        let _ = writeln!(self.text, "let {name} = {text};");
        if is_uniform { &mut self.uniform } else { &mut self.private }.push(name);
    }

    fn cooperate(&mut self, depth: u32) {
        let name = self.name();
        let _ = writeln!(self.text, "each {name} in T {{");
        let private = std::mem::replace(&mut self.private, vec![name]);
        let handed = std::mem::take(&mut self.handed);
        (self.together, self.in_each) = (false, true);
        let uniform = self.uniform.clone();
        self.uniform.retain(|name| name != "o");
        self.body(depth - 1);
        self.text.push_str("}\n");
        (self.together, self.in_each) = (true, false);
        (self.private, self.uniform, self.handed) = (private, uniform, handed);
    }

    fn repeat(&mut self, depth: u32) {
        let name = self.name();
        if self.rng.u8(0..4) == 0 {
            return self.conditional(depth, &name);
        }
        let uniform = self.rng.bool();
        let range = match (uniform, self.rng.u8(0..6)) {
            (true, 0) => "0..n".to_owned(),
            (true, 1) => "0..3".to_owned(),
            (true, 2) => "halving(T)".to_owned(),
            (true, 3) => "doubling(T)".to_owned(),
            (true, 4) => "halving(8)".to_owned(),
            (true, _) => "(0..T).step_by(2).rev()".to_owned(),
            (false, 0 | 1) => format!("({}..T + 2).step_by(T)", self.value(false)),
            (false, 2) => format!("({}..9).step_by(4)", self.value(false)),
            (false, _) => format!("0..{}", self.value(false)),
        };
        let _ = writeln!(self.text, "for {name} in {range} {{");
        let together = self.together;
        self.together &= uniform;
        let scope = (self.uniform.clone(), self.private.clone());
        if uniform { &mut self.uniform } else { &mut self.private }.push(name);
        self.body(depth - 1);
        (self.uniform, self.private) = scope;
        self.together = together;
        self.text.push_str("}\n");
    }

    /// A `while` that counts up.
    fn conditional(&mut self, depth: u32, name: &str) {
        let uniform = self.rng.bool();
        let start = self.value(uniform);
        let step = self.pick(&["+= 1", "+= 2", "+= T", "= 2 * {} + 1"]).replace("{}", name);
        let _ = writeln!(self.text, "let mut {name}: index = 0;");
        let head = match self.rng.bool() {
            true => format!("while {name} < T + 3 {{"),
            false => format!("loop {{ if {name} >= T + 3 {{ break; }}"),
        };
        let _ = writeln!(self.text, "{name} += {start};\n{head}");
        let together = self.together;
        self.together &= uniform;
        let scope = (self.uniform.clone(), self.private.clone());
        if uniform { &mut self.uniform } else { &mut self.private }.push(name.to_owned());
        self.body(depth - 1);
        let _ = writeln!(self.text, "{name} {step};\n}}");
        (self.uniform, self.private) = scope;
        self.together = together;
    }
}
