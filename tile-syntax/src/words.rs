//! The words of the language, and those that are not in it.

use tile_ir::resolve::nearest;

use crate::error::{SpanPair, SyntaxError};

/// Rust's keywords, none of which can be a name.
const KEYWORDS: [&str; 39] = [
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub",
    "ref", "return", "self", "Self", "static", "struct", "super", "trait", "true", "type",
    "unsafe", "use", "where", "while", "yield",
];

/// Whether `text` is a keyword of Rust (a raw identifier is not).
pub(crate) fn is_keyword(text: &str) -> bool {
    KEYWORDS.contains(&text)
}

/// What a word that begins a statement of this language means, for messages.
pub(crate) fn statement_word(text: &str) -> Option<&'static str> {
    Some(match text {
        "shared" => "`shared s: [f32; T];` declares a tile",
        "load" => "`load s[i] = a[i];` fills a tile",
        "each" => "`each (i, j) in (A, B) { … }` is a loop that the block shares out",
        "phase" => "`phase p in tiles(K, TK) { … }` is a loop over tiles",
        "barrier" => "`barrier;` orders what the block does before it and after it",
        "atomic" => "`atomic` begins an update that other work-items may make at the same time",
        "warp_barrier" => "`warp_barrier;` orders what a warp does before it and after it",
        "assume" => "`assume(…);` states a fact about the inputs",
        _ => return None,
    })
}

/// The word that was meant by a misspelt one at the beginning of a statement.
pub(crate) fn nearest_statement_word(text: &str) -> Option<&'static str> {
    nearest(
        text,
        ["shared", "load", "each", "phase", "barrier", "let", "for", "while", "loop", "if"],
    )
}

/// Whether a statement can begin with `text`: where parsing resumes after a mistake.
pub(crate) fn begins_statement(text: &str) -> bool {
    statement_word(text).is_some()
        || matches!(text, "let" | "for" | "while" | "loop" | "if" | "return" | "break" | "continue")
}

/// What to write instead of a macro of Rust's.
pub(crate) fn instead_of_macro(name: &str) -> Option<&'static str> {
    Some(match name {
        "assert" | "assert_eq" | "assert_ne" | "debug_assert" => {
            "what is true of the data is `assume(c);`, which the CPU device checks"
        }
        "print" | "println" | "eprint" | "eprintln" | "dbg" => {
            "a kernel prints nothing: write to a tensor, and print that"
        }
        "min" | "max" => "these are functions: `min(a, b)`",
        "panic" | "todo" | "unimplemented" | "unreachable" => {
            "a kernel does not fail: write what went wrong to a tensor"
        }
        _ => return None,
    })
}

/// The error for a word that this language does not have, or does not have yet.
pub(crate) fn unavailable(text: &str, at: impl Into<SpanPair>) -> Option<SyntaxError> {
    let (message, help) = match text {
        "atomic" => (
            "an atomic update is a statement".to_owned(),
            Some("`let old = atomic c[i] += e;` gives the value before it"),
        ),
        "fn" => (
            "a function stands beside the kernels, not in one".to_owned(),
            Some("move it out of the kernel, within the same `tiled_kernel!`"),
        ),
        "const" => (
            "a constant stands beside the kernels, not in one".to_owned(),
            Some("move it out of the kernel, within the same `tiled_kernel!`, or use `let`"),
        ),
        "loop" => ("a `loop` gives no value".to_owned(), Some("assign a variable in it")),
        "match" => ("`match` is not in the language".to_owned(), Some("use `if … else if …`")),
        "unsafe" => ("`unsafe` is not in the language".to_owned(), Some("a kernel needs none")),
        "static" | "struct" | "enum" | "use" | "mod" | "type" | "impl" | "trait" | "extern" => {
            (format!("`{text}` cannot stand in a kernel"), Some("declare it outside the macro"))
        }
        "async" | "await" | "dyn" | "move" | "ref" | "yield" | "crate" | "super" | "self"
        | "Self" | "pub" => (format!("`{text}` is not in the language"), None),
        "__syncthreads" | "syncthreads" | "sync_threads" => {
            (format!("`{text}` is not in the language"), Some("write `barrier;`"))
        }
        "__shared__" => {
            (format!("`{text}` is not in the language"), Some("a tile is `shared s: [f32; T];`"))
        }
        "__syncwarp" | "syncwarp" => {
            (format!("`{text}` is not in the language"), Some("write `warp_barrier;`"))
        }
        "gridDim" => (
            format!("`{text}` is not in the language"),
            Some(
                "the number of blocks is what the header says: `grid: (bx in G)` with a dimension or a scalar `G`",
            ),
        ),
        "threadIdx" | "blockIdx" | "blockDim" => (
            format!("`{text}` is not in the language"),
            Some("name the axes in the header: `grid: (bx in tiles(N, TN)), block: (tx in TN)`"),
        ),
        _ => return None,
    };
    let error = SyntaxError::new(at, message);
    Some(match help {
        Some(help) => error.help(help),
        None => error,
    })
}
