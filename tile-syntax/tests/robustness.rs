//! No tokens make the parser panic or hang, nor the phases that take its trees.

use proc_macro2::{Group, TokenStream, TokenTree};
use tile_ir::check::check_kernel;
use tile_ir::resolve::resolve_kernel;
use tile_syntax::{ParsedKernels, parse_kernels};

const KERNELS: [&str; 3] = [
    include_str!("kernels/matmul.kernel"),
    include_str!("kernels/transpose.kernel"),
    include_str!("kernels/everything.kernel"),
];

/// Runs everything that the macro runs on tokens of its user.
fn run(tokens: TokenStream) -> ParsedKernels {
    let parsed = parse_kernels(tokens);
    for kernel in parsed.kernels.iter().filter(|kernel| kernel.errors.is_empty()) {
        if let Ok(resolved) = resolve_kernel(&kernel.item) {
            // Rejected or not: only a panic would fail this test.
            drop(check_kernel(resolved));
        }
    }
    parsed
}

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

fn count(stream: &TokenStream) -> usize {
    let inner = |tree: TokenTree| match tree {
        TokenTree::Group(group) => 1 + count(&group.stream()),
        _ => 1,
    };
    stream.clone().into_iter().map(inner).sum()
}

/// What is done to the token at a position.
#[derive(Clone, Copy)]
enum Edit<'t> {
    Delete,
    /// All tokens of the group from here on.
    Truncate,
    Replace(&'t TokenTree),
    Double,
}

/// `stream` with `edit` done to its token number `at`, counted in the order of
/// the text.
fn edited(stream: &TokenStream, at: &mut usize, edit: Edit<'_>) -> TokenStream {
    let mut out = Vec::new();
    let mut done = false;
    for tree in stream.clone() {
        let here = *at == 0 && !done;
        *at = at.wrapping_sub(1);
        if here {
            done = true;
            match edit {
                Edit::Delete => {}
                Edit::Truncate => break,
                Edit::Replace(other) => out.push(other.clone()),
                Edit::Double => out.extend([tree.clone(), tree]),
            }
            continue;
        }
        match tree {
            TokenTree::Group(group) if !done && *at < usize::MAX / 2 => {
                let inner = edited(&group.stream(), at, edit);
                out.push(TokenTree::Group(Group::new(group.delimiter(), inner)));
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

fn nth(stream: &TokenStream, mut at: usize) -> Option<TokenTree> {
    for tree in stream.clone() {
        if at == 0 {
            return Some(tree);
        }
        at -= 1;
        if let TokenTree::Group(group) = &tree {
            let inside = count(&group.stream());
            if at < inside {
                return nth(&group.stream(), at);
            }
            at -= inside;
        }
    }
    None
}

#[test]
fn every_truncation_and_deletion() {
    for text in KERNELS {
        let whole = tokens(text);
        for at in 0..count(&whole) {
            run(edited(&whole, &mut { at }, Edit::Delete));
            run(edited(&whole, &mut { at }, Edit::Truncate));
            run(edited(&whole, &mut { at }, Edit::Double));
        }
    }
}

#[test]
fn random_edits() {
    let mut random = Random(2);
    for text in KERNELS {
        let whole = tokens(text);
        for _ in 0..400 {
            let mut stream = whole.clone();
            for _ in 0..=random.below(4) {
                let n_tokens = count(&stream);
                let Some(other) = nth(&stream, random.below(n_tokens.max(1))) else { break };
                let edit = match random.below(4) {
                    0 => Edit::Delete,
                    1 => Edit::Truncate,
                    2 => Edit::Double,
                    _ => Edit::Replace(&other),
                };
                stream = edited(&stream, &mut random.below(n_tokens), edit);
            }
            run(stream);
        }
    }
}

/// What is nested or chained without end is an error, not an overflow.
#[test]
fn depth_is_limited() {
    let in_body = |body: String| format!("fn k(c: &mut Tensor<f32, [N]>) {{ {body} }}");
    let many = |part: &str| part.repeat(3000);
    let cases = [
        format!("c[0] = {}1{};", many("("), many(")")),
        format!("c[0] = {}1;", many("- ")),
        format!("c[0] = 1{};", many(" + 1")),
        format!("c[0] = 1{};", many(" as f32")),
        format!("c[0] = x{};", many(".abs()")),
        format!("c[0] = {}1{};", many("if x { 1 } else { "), many("}")),
        format!("c[0] = {}1;", many("if x { 1 } else ")),
        format!("{}{}", many("{"), many("}")),
        format!("if x {{}} {}", many("else if x {}")),
        format!("c[0] = {}1{};", many("c["), many("]")),
    ];
    for case in cases {
        let parsed = run(tokens(&in_body(case)));
        let errors: Vec<_> = parsed.kernels.iter().flat_map(|kernel| &kernel.errors).collect();
        assert!(!errors.is_empty() || !parsed.errors.is_empty());
    }
}
