//! Control flow: uniform, divergent, nested; and what is evaluated lazily.

use tile_ir::dtype::DType;
use tile_ir::op::{BinaryOp, CompareOp, LogicOp};
use tile_ir::program::{ExprId, LoopRange, Scope, Stmt, StmtKind, Ty, VarId};

use super::builder::{Builder, INDEX, at, buffer, execute, index, of};

const I32: Ty = Ty::Scalar(DType::I32);

/// Runs `body` for `n` items over `input`; `body` makes the statements that
/// compute the variable that is stored to the output.
fn check(
    input: &[i32],
    body: impl FnOnce(&mut Builder, &Lanes) -> Vec<Stmt>,
    expect: impl Fn(usize, i32) -> i32,
) {
    let n = input.len() as u32;
    let mut b = Builder::new(n);
    let len = b.int(n.into());
    let a = b.buffer("a", DType::I32, &[len], false);
    let out = b.buffer("out", DType::I32, &[len], true);
    let domain = b.domain(&[n]);
    let i = b.coord(domain, 0);
    let value = b.load(at(buffer(a), &[i]));
    let result = b.new_var(I32, Scope::Thread);
    let zero = b.literal(tile_ir::program::Literal::Int(0), DType::I32);
    let mut stmts = vec![b.let_(result, zero)];
    stmts.extend(body(&mut b, &Lanes { i, value, result }));
    let last = b.var(result);
    stmts.push(b.store(at(buffer(out), &[i]), last));
    b.kernel.body = vec![b.items(domain, stmts)];
    let mut input = input.to_vec();
    let mut values = vec![-1; input.len()];
    execute(&b, &[of(&mut input), of(&mut values)], &[]).unwrap();
    let expected: Vec<i32> = (0..).zip(&input).map(|(at, &value)| expect(at, value)).collect();
    assert_eq!(values, expected);
}

/// What a body is made from.
struct Lanes {
    i: ExprId,
    /// The item's input.
    value: ExprId,
    /// A variable, 0 at first.
    result: VarId,
}

impl Lanes {
    /// `result = result * 3 + value`
    fn mix(&self, b: &mut Builder, value: ExprId) -> Stmt {
        let (old, three) = (b.var(self.result), i32_literal(b, 3));
        let scaled = b.mul(old, three);
        let sum = b.add(scaled, value);
        b.assign(self.result, sum)
    }
}

fn i32_literal(b: &mut Builder, value: i128) -> ExprId {
    b.literal(tile_ir::program::Literal::Int(value), DType::I32)
}

fn mixed(values: impl IntoIterator<Item = i32>) -> i32 {
    values.into_iter().fold(0, |old: i32, value| old.wrapping_mul(3).wrapping_add(value))
}

fn inputs(n: usize) -> Vec<i32> {
    (0..n as i32).map(|at| (at * 37 + at / 7) % 41 - 4).collect()
}

#[test]
fn while_loops_diverge() {
    // Steps of the 3n + 1 sequence from each input.
    fn steps(start: i32) -> i32 {
        let (mut x, mut count) = (start, 0);
        while x > 1 {
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            count += 1;
        }
        count
    }
    for n in [1, 7, 513, 2000] {
        let input = inputs(n);
        check(
            &input,
            |b, lanes| {
                let x = b.new_var(I32, Scope::Thread);
                let declare = b.let_(x, lanes.value);
                let [one, two, three] = [1, 2, 3].map(|value| i32_literal(b, value));
                let zero = i32_literal(b, 0);
                let xv = b.var(x);
                let running = b.compare(CompareOp::Gt, xv, one);
                let rest = b.binary(BinaryOp::Rem, xv, two);
                let even = b.compare(CompareOp::Eq, rest, zero);
                let half = b.binary(BinaryOp::Div, xv, two);
                let triple = b.mul(xv, three);
                let odd_next = b.add(triple, one);
                let then = vec![b.assign(x, half)];
                let otherwise = vec![b.assign(x, odd_next)];
                let count = b.var(lanes.result);
                let more = b.add(count, one);
                let body = vec![b.if_(even, then, otherwise), b.assign(lanes.result, more)];
                vec![declare, b.while_(running, body)]
            },
            |_, value| steps(value),
        );
    }
}

#[test]
fn counted_loops_diverge() {
    let between = |reversed| {
        move |b: &mut Builder, lanes: &Lanes| {
            let start = b.cast(lanes.value, INDEX);
            let thirty = b.int(30);
            let seven = b.int(7);
            let rest = b.binary(BinaryOp::Rem, lanes.i, seven);
            let three = b.int(3);
            let step = b.binary(BinaryOp::Sub, rest, three);
            let k = b.new_var(INDEX, Scope::Thread);
            let kv = b.var(k);
            let as_value = b.cast(kv, I32);
            let body = vec![lanes.mix(b, as_value)];
            vec![b.for_in(k, LoopRange::Between { start, end: thirty, step, reversed }, body)]
        }
    };
    let counters = |at: usize, value: i32| -> Vec<i32> {
        let step = (at % 7) as i32 - 3;
        if step <= 0 { Vec::new() } else { (value..30).step_by(step as usize).collect() }
    };
    let input = inputs(700);
    check(&input, between(false), |at, value| mixed(counters(at, value)));
    check(&input, between(true), |at, value| mixed(counters(at, value).into_iter().rev()));

    let ranged = |range: fn(ExprId) -> LoopRange| {
        move |b: &mut Builder, lanes: &Lanes| {
            let n = b.cast(lanes.value, INDEX);
            let k = b.new_var(INDEX, Scope::Thread);
            let kv = b.var(k);
            let as_value = b.cast(kv, I32);
            let body = vec![lanes.mix(b, as_value)];
            vec![b.for_in(k, range(n), body)]
        }
    };
    check(&input, ranged(LoopRange::Halving), |_, n| {
        mixed(std::iter::successors(Some(n / 2), |&k| Some(k / 2)).take_while(|&k| k >= 1))
    });
    check(&input, ranged(LoopRange::Doubling), |_, n| {
        mixed(std::iter::successors(Some(1), |&k| Some(k * 2)).take_while(|&k| k < n))
    });
}

#[test]
fn loops_stay_uniform_within_divergent_branches() {
    check(
        &inputs(600),
        |b, lanes| {
            let zero = i32_literal(b, 0);
            let positive = b.compare(CompareOp::Gt, lanes.value, zero);
            let k = b.new_var(INDEX, Scope::Thread);
            let kv = b.var(k);
            let counter = b.cast(kv, I32);
            let sum = b.add(counter, lanes.value);
            let (start, end) = (b.int(2), b.int(5));
            let mix = lanes.mix(b, sum);
            let then = vec![b.for_(k, start, end, vec![mix])];
            let seven = i32_literal(b, 7);
            let otherwise = vec![lanes.mix(b, seven)];
            vec![b.if_(positive, then, otherwise)]
        },
        |_, value| if value > 0 { mixed((2..5).map(|k| k + value)) } else { 7 },
    );
}

#[test]
fn bounds_and_names_keep_their_values() {
    // let x = value; let y = x + 1; x = 100; result = y; the loop's end is x
    // before the loop, and the body changes x.
    check(
        &inputs(20),
        |b, lanes| {
            let x = b.new_var(INDEX, Scope::Thread);
            let y = b.new_var(INDEX, Scope::Thread);
            let four = b.int(4);
            let declare = b.let_(x, four);
            let xv = b.var(x);
            let one = b.int(1);
            let next = b.add(xv, one);
            let name = b.let_(y, next);
            let k = b.new_var(INDEX, Scope::Thread);
            let hundred = b.int(100);
            let zero = b.int(0);
            let yv = b.var(y);
            let kept = b.cast(yv, I32);
            let body = vec![b.assign(x, hundred), lanes.mix(b, kept)];
            vec![declare, name, b.for_(k, zero, xv, body)]
        },
        |_, _| mixed([5; 4]),
    );
}

#[test]
fn right_operands_are_evaluated_where_they_decide() {
    // value < 5 && t[value] == t[value], with t of 5 elements and values up to
    // 36: evaluated for all lanes, the load would leave the array.
    let lazy = |op, guard: CompareOp| {
        move |b: &mut Builder, lanes: &Lanes| {
            let table = b.tile("t", DType::I32, &[5]);
            let five = i32_literal(b, 5);
            let at_index = b.cast(lanes.value, INDEX);
            let zero = b.int(0);
            let clamped = b.binary(BinaryOp::Max, at_index, zero);
            let loaded = b.load(at(super::builder::tile(table), &[clamped]));
            let same = b.compare(CompareOp::Eq, loaded, loaded);
            let guard = b.compare(guard, lanes.value, five);
            let cond = b.logic(op, guard, same);
            let one = i32_literal(b, 1);
            let then = vec![b.assign(lanes.result, one)];
            vec![b.if_(cond, then, Vec::new())]
        }
    };
    let input = inputs(600);
    check(&input, lazy(LogicOp::And, CompareOp::Lt), |_, value| i32::from(value < 5));
    check(&input, lazy(LogicOp::Or, CompareOp::Ge), |_, _| 1);
}

#[test]
fn choices_are_evaluated_where_they_are_taken() {
    check(
        &inputs(600),
        |b, lanes| {
            let table = b.tile("t", DType::I32, &[5]);
            let five = i32_literal(b, 5);
            let zero = b.int(0);
            let at_index = b.cast(lanes.value, INDEX);
            let clamped = b.binary(BinaryOp::Max, at_index, zero);
            let inside = b.compare(CompareOp::Lt, lanes.value, five);
            let write = b.store(at(super::builder::tile(table), &[clamped]), lanes.value);
            let nonnegative = i32_literal(b, 0);
            let shown = b.compare(CompareOp::Ge, lanes.value, nonnegative);
            let both = b.logic(LogicOp::And, inside, shown);
            let loaded = b.load(at(super::builder::tile(table), &[clamped]));
            let minus = i32_literal(b, -9);
            let chosen = b.select(both, loaded, minus);
            vec![b.if_(both, vec![write], Vec::new()), b.assign(lanes.result, chosen)]
        },
        |_, value| if (0..5).contains(&value) { value } else { -9 },
    );
}

#[test]
fn block_scope_control_flow() {
    // s counts down from n; while s is positive: if s is even, each item adds
    // s, else item 0 adds 1; a reversed loop then appends its counters.
    let mut b = Builder::new(4);
    let (_, n) = b.arg("n", INDEX);
    let four = b.int(4);
    let out = b.buffer("out", DType::I32, &[four], true);
    let domain = b.domain(&[4]);
    let sum = b.fragment(domain, I32);
    let zero32 = i32_literal(&mut b, 0);
    let clear = b.items(domain, vec![b.set(sum, zero32)]);
    let s = b.new_var(INDEX, Scope::Block);
    let declare = b.let_(s, n);
    let sv = b.var(s);
    let [zero, one, two] = [0, 1, 2].map(|value| b.int(value));
    let running = b.compare(CompareOp::Gt, sv, zero);
    let rest = b.binary(BinaryOp::Rem, sv, two);
    let even = b.compare(CompareOp::Eq, rest, zero);
    let i = b.coord(domain, 0);
    let add = |b: &mut Builder, value| {
        let old = b.fragment_value(sum);
        let scale = i32_literal(b, 10);
        let scaled = b.mul(old, scale);
        let value = b.add(scaled, value);
        b.set(sum, value)
    };
    let value = b.cast(sv, I32);
    let all = add(&mut b, value);
    let one32 = i32_literal(&mut b, 1);
    let single = add(&mut b, one32);
    let first = b.compare(CompareOp::Eq, i, zero);
    let only_first = b.if_(first, vec![single], Vec::new());
    let then = vec![b.items(domain, vec![all])];
    let otherwise = vec![b.items(domain, vec![only_first])];
    let less = b.binary(BinaryOp::Sub, sv, one);
    let body = vec![b.if_(even, then, otherwise), b.assign(s, less)];
    let countdown = b.while_(running, body);
    let k = b.new_var(INDEX, Scope::Block);
    let kv = b.var(k);
    let counter = b.cast(kv, I32);
    let append = add(&mut b, counter);
    let items = b.items(domain, vec![append]);
    let nine = b.int(9);
    let range = LoopRange::Between { start: two, end: nine, step: two, reversed: true };
    let appended = b.for_in(k, range, vec![items]);
    let last = b.fragment_value(sum);
    let write = b.items(domain, vec![b.store(at(buffer(out), &[i]), last)]);
    b.kernel.body = vec![clear, declare, countdown, appended, write];
    let mut values = [0; 4];
    execute(&b, &[of(&mut values)], &[index(4)]).unwrap();
    // 4 for all, 1 for the first, 2 for all, 1 for the first; then 8 6 4 2.
    assert_eq!(values, [41218642, 428642, 428642, 428642]);
}

#[test]
fn declarations_without_a_value() {
    check(
        &inputs(50),
        |b, lanes| {
            let x = b.new_var(I32, Scope::Thread);
            let declare = b.stmt(StmtKind::Let { var: x, value: None });
            let zero = i32_literal(b, 0);
            let five = i32_literal(b, 5);
            let negative = b.compare(CompareOp::Lt, lanes.value, zero);
            let then = vec![b.assign(x, five)];
            let otherwise = vec![b.assign(x, lanes.value)];
            let branch = b.if_(negative, then, otherwise);
            let xv = b.var(x);
            vec![declare, branch, b.assign(lanes.result, xv)]
        },
        |_, value| if value < 0 { 5 } else { value },
    );
}
