//! What is called proved is not refuted: random systems against all small
//! numbers, random kernels against their runs at concrete sizes.

use std::fmt::Write as _;

use super::super::algebra::formula::Formula;
use super::super::algebra::poly::{Monomial, Poly};
use super::super::search::linear::Effort;
use super::super::search::system::System;
use super::{kernel, prove, uniformity};
use crate::solve::skeleton;

/// Unknowns of a random system, each from -3 to 5.
const UNKNOWNS: u32 = 4;

fn random_poly(rng: &mut fastrand::Rng) -> Poly {
    let mut poly = Poly::constant(rng.i128(-4..=4));
    for _ in 0..rng.usize(1..=3) {
        let degree = *rng.choice([1, 1, 1, 2].iter()).unwrap_or(&1);
        let factor = Poly::constant(rng.i128(-3..=3));
        let product = (0..degree)
            .fold(factor, |product, _| product.mul(&Poly::unknown(rng.u32(0..UNKNOWNS))));
        poly = poly.add(&product);
    }
    poly
}

fn random_formula(rng: &mut fastrand::Rng) -> Formula {
    match rng.u8(0..6) {
        0 => Formula::Zero(random_poly(rng)),
        1 => Formula::ne(&random_poly(rng), &random_poly(rng)),
        2 => Formula::Any(vec![
            Formula::AtLeast(random_poly(rng)),
            Formula::All(vec![Formula::Zero(random_poly(rng)), Formula::AtLeast(random_poly(rng))]),
        ]),
        _ => Formula::AtLeast(random_poly(rng)),
    }
}

fn holds(formula: &Formula, at: &[i128]) -> bool {
    let value = |poly: &Poly| -> i128 {
        let term = |(product, factor): &(Monomial, i128)| {
            factor * product.iter().map(|unknown| at[*unknown as usize]).product::<i128>()
        };
        poly.terms().iter().map(term).sum()
    };
    match formula {
        Formula::True | Formula::Unknown => true,
        Formula::False => false,
        Formula::AtLeast(poly) => value(poly) >= 0,
        Formula::Zero(poly) => value(poly) == 0,
        Formula::All(parts) => parts.iter().all(|part| holds(part, at)),
        Formula::Any(parts) => parts.iter().any(|part| holds(part, at)),
    }
}

fn all_points() -> impl Iterator<Item = Vec<i128>> {
    (0..9_i128.pow(UNKNOWNS)).map(|mut number| {
        let mut digit = || {
            let digit = number % 9 - 3;
            number /= 9;
            digit
        };
        (0..UNKNOWNS).map(|_| digit()).collect()
    })
}

#[test]
fn what_has_no_solution_has_none_among_small_numbers() {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut refuted = 0;
    for _ in 0..2_000 {
        let mut formulas: Vec<Formula> =
            (0..rng.usize(2..=7)).map(|_| random_formula(&mut rng)).collect();
        let collision = (random_poly(&mut rng), random_poly(&mut rng));
        let mut system = System::default();
        // Bounds make products tractable.
        for unknown in 0..UNKNOWNS {
            if rng.bool() {
                formulas.push(Formula::AtLeast(Poly::unknown(unknown)));
            }
        }
        formulas.iter().for_each(|formula| system.assert(formula));
        system.assert_collision(&collision.0, &collision.1);
        if !system.has_no_solution(&Effort::of_kernel()) {
            continue;
        }
        refuted += 1;
        formulas.push(Formula::eq(&collision.0, &collision.1));
        let solution = all_points().find(|at| formulas.iter().all(|f| holds(f, at)));
        assert_eq!(solution, None, "{formulas:?}");
    }
    // The test is of no use where nothing is refuted.
    assert!(refuted > 200, "{refuted} refuted");
}

/// The text of a random kernel.
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
    /// The jumps that may stand here, and whether the block takes them together.
    jumps: Vec<&'static str>,
    together_in_loop: bool,
}

impl Writer<'_> {
    fn pick(&mut self, from: &[&str]) -> String {
        from[self.rng.usize(0..from.len())].to_owned()
    }

    fn value(&mut self, uniform: bool) -> String {
        let mut names = self.uniform.clone();
        if !uniform {
            names.extend(self.private.clone());
            names.extend(self.private.clone());
        }
        names[self.rng.usize(0..names.len())].clone()
    }

    fn index(&mut self, uniform: bool) -> String {
        let (a, b) = (self.value(uniform), self.value(uniform));
        let c = self.rng.u8(1..4);
        match self.rng.u8(0..14) {
            0..4 => a,
            4 => format!("{a} + {b}"),
            5 => format!("{a} * {c} + {b}"),
            6 => format!("{a} + {c}"),
            7 => format!("{a} * T + {b}"),
            8 => format!("{a} % {c} + {b}"),
            9 => format!("{a} / {c}"),
            10 => format!("{a} - {b}"),
            11 => format!("min({a}, {b})"),
            12 => format!("{a} % T"),
            _ => format!("T - 1 - {a}"),
        }
    }

    fn condition(&mut self, uniform: bool) -> String {
        let (a, b) = (self.index(uniform), self.index(uniform));
        let op = self.pick(&["<", "<=", "==", "!=", ">"]);
        match self.rng.u8(0..5) {
            0 => format!("{a} {op} {b} && {} < 2", self.value(uniform)),
            1 => format!("!({a} {op} {b} || {} < 1)", self.value(uniform)),
            _ => format!("{a} {op} {b}"),
        }
    }

    fn access(&mut self) -> String {
        let index = self.index(false);
        match self.rng.u8(0..3) {
            0 => format!("s[{index}]"),
            1 => format!("u[{}, {index}]", self.index(false)),
            _ => format!("c[{index}]"),
        }
    }

    fn body(&mut self, depth: u32) {
        let scope = (self.uniform.clone(), self.private.clone());
        for _ in 0..self.rng.usize(1..=3) {
            self.stmt(depth);
        }
        (self.uniform, self.private) = scope;
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    fn stmt(&mut self, depth: u32) {
        match self.rng.u8(0..18) {
            0..4 => {
                let access = self.access();
                let _ = writeln!(self.text, "{access} = 1;");
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
                self.together &= uniform;
                self.body(depth - 1);
                self.text.push_str("} else {\n");
                self.body(depth - 1);
                self.text.push_str("}\n");
                self.together = together;
            }
            11..13 if depth > 0 => self.repeat(depth),
            13 if depth > 0 && self.together && !self.in_each => {
                let name = self.name();
                let _ = writeln!(self.text, "each {name} in T {{");
                let private = std::mem::replace(&mut self.private, vec![name]);
                let jumps = std::mem::take(&mut self.jumps);
                (self.together, self.in_each) = (false, true);
                let uniform = self.uniform.clone();
                self.uniform.retain(|name| name != "o");
                self.body(depth - 1);
                self.text.push_str("}\n");
                (self.together, self.in_each) = (true, false);
                (self.private, self.uniform) = (private, uniform);
                self.jumps = jumps;
            }
            14 if self.together => {
                let step = self.pick(&["o += 1;", "o += T;", "o = 1 - o;", "o = 0;"]);
                let _ = writeln!(self.text, "{step}");
            }
            16..18 if self.together || !self.together_in_loop => self.jump(),
            15 => {
                let (name, value) = (self.name(), self.index(false));
                let _ = writeln!(self.text, "let {name} = {value};");
                self.private.push(name);
            }
            _ => {
                let access = self.access();
                let _ = writeln!(self.text, "{access} += 1;");
            }
        }
    }

    /// A jump that keeps nobody from a barrier that others reach.
    fn jump(&mut self) {
        let jumps: Vec<&str> =
            self.jumps.iter().copied().filter(|jump| self.together || *jump != "return").collect();
        if jumps.is_empty() {
            return;
        }
        let jump = self.pick(&jumps);
        let condition = self.condition(self.together);
        let barrier = if self.together && self.rng.bool() { "barrier; " } else { "" };
        let access = self.access();
        let access = if self.rng.bool() { format!("{access} = 1; ") } else { String::new() };
        let _ = writeln!(self.text, "if {condition} {{ {access}{barrier}{jump}; }}");
    }

    /// The body of a loop in which these jumps may stand.
    fn loop_body(&mut self, depth: u32, jumps: &[&'static str]) {
        let outer = (self.jumps.clone(), self.together_in_loop);
        self.jumps.retain(|jump| *jump == "return");
        self.jumps.extend(jumps);
        self.together_in_loop = self.together;
        self.body(depth);
        (self.jumps, self.together_in_loop) = outer;
    }

    fn repeat(&mut self, depth: u32) {
        let name = self.name();
        if self.rng.u8(0..4) == 0 {
            return self.conditional(depth, &name);
        }
        let uniform = self.rng.bool();
        let range = match (uniform, self.rng.u8(0..5)) {
            (true, 0) => "0..n".to_owned(),
            (true, 1) => "0..3".to_owned(),
            (true, 2) => "halving(T)".to_owned(),
            (true, 3) => "doubling(T)".to_owned(),
            (true, _) => "(0..T).step_by(2).rev()".to_owned(),
            (false, 0) => format!("({}..T + 2).step_by(T)", self.value(false)),
            (false, _) => format!("0..{}", self.value(false)),
        };
        let _ = writeln!(self.text, "for {name} in {range} {{");
        let together = self.together;
        self.together &= uniform;
        let scope = (self.uniform.clone(), self.private.clone());
        if uniform { &mut self.uniform } else { &mut self.private }.push(name);
        self.loop_body(depth - 1, &["break", "continue"]);
        (self.uniform, self.private) = scope;
        self.together = together;
        self.text.push_str("}\n");
    }

    /// A `while` that counts up.
    fn conditional(&mut self, depth: u32, name: &str) {
        let uniform = self.rng.bool();
        let start = self.value(uniform);
        let step = self.pick(&["1", "2", "T"]);
        let _ = writeln!(self.text, "let mut {name}: index = 0;");
        let _ = writeln!(self.text, "{name} += {start};\nwhile {name} < T + 3 {{");
        let together = self.together;
        self.together &= uniform;
        let scope = (self.uniform.clone(), self.private.clone());
        if uniform { &mut self.uniform } else { &mut self.private }.push(name.to_owned());
        self.loop_body(depth - 1, &["break"]);
        let _ = writeln!(self.text, "{name} += {step};\n}}");
        (self.uniform, self.private) = scope;
        self.together = together;
    }
}

/// Blocks of one and two axes, and none.
const BLOCKS: [(&str, &[&str]); 4] = [
    ("block: (tx in T),", &["tx"]),
    ("block: (ty in 2, tx in T),", &["tx", "ty"]),
    ("block: (ty in T, tx in T),", &["tx", "ty"]),
    ("", &["1"]),
];

fn random_kernel(rng: &mut fastrand::Rng) -> String {
    let (block, axes) = BLOCKS[rng.usize(0..BLOCKS.len())];
    let mut writer = Writer {
        rng,
        text: String::new(),
        names: 0,
        uniform: ["bx", "0", "n", "o"].map(str::to_owned).to_vec(),
        private: axes.iter().map(|axis| (*axis).to_owned()).collect(),
        together: true,
        in_each: false,
        jumps: vec!["return"],
        together_in_loop: true,
    };
    writer.body(3);
    let body = writer.text;
    format!(
        "fn f(n: i32, a: &Tensor<f32, [N]>, c: &mut Tensor<f32, [N]>, d: &mut Tensor<f32, [N]>)
where tile: (T in 1..=6), grid: (bx in tiles(N, T)), {block} {{
shared s: [f32; 12];
shared u: [f32; 3, 12];
let mut o = 0;
{body}
each i in T {{ d[bx * T + i] = 1; }}
}}"
    )
}

#[test]
fn what_is_proved_is_not_refuted_by_a_run() {
    let mut rng = fastrand::Rng::with_seed(3);
    let (mut proved, mut refuted, mut open, mut skipped) = (0, 0, 0, 0);
    for _ in 0..600 {
        let text = random_kernel(&mut rng);
        let Some(kernel) = kernel_of_random(&text) else {
            skipped += 1;
            continue;
        };
        let uniformity = uniformity(&kernel);
        let left = prove(&kernel, &uniformity);
        let conflicts = skeleton::enumerate(&kernel, skeleton::Effort::Full).conflicts;
        for conflict in &conflicts {
            let named = |found: &super::Unproved| {
                let spans = [found.first.0, found.second.0];
                found.array == conflict.pair.array()
                    && spans.contains(&conflict.pair.first.span)
                    && spans.contains(&conflict.pair.second.span)
            };
            assert!(left.iter().any(named), "{conflict:?}\n{left:?}\n{text}");
        }
        match (left.is_empty(), conflicts.is_empty()) {
            (true, _) => proved += 1,
            (false, false) => refuted += 1,
            (false, true) => open += 1,
        }
    }
    // The test is of no use where the two engines have little to say.
    assert!(proved > 100 && refuted > 100, "{proved} proved, {refuted} refuted");
    assert!(open < 40 && skipped < 80, "{open} open, {skipped} skipped");
}

fn kernel_of_random(text: &str) -> Option<crate::kernel::Kernel> {
    let item = tile_syntax::parse_kernel_text(text).ok()?;
    tile_ir::resolve::resolve_kernel(&item).ok()?;
    Some(kernel(text))
}
