//! The nearest kernels without a mistake, `ui/<rule>/accepted.rs`: they compile,
//! and without a warning where a file denies them.

use std::path::Path;

/// Each rule's accepted kernels as a module, as public as a crate's items are.
macro_rules! accepted {
    ($($rule:ident),* $(,)?) => {
        #[allow(dead_code, missing_docs, reason = "what is tested is that these compile")]
        pub mod ui {
            $(pub mod $rule { pub mod accepted; })*
        }

        const RULES: &[&str] = &[$(stringify!($rule)),*];
    };
}

accepted! {
    bad_assumption,
    bad_header,
    block_race,
    call,
    denied,
    divergence,
    duplicate_name,
    endless_wait,
    global_race,
    literal_range,
    misused_name,
    no_output,
    not_assignable,
    not_uniform,
    pad_changes_result,
    rank_mismatch,
    redundant_barrier,
    shared_race,
    syntax,
    tile_bounds,
    type_mismatch,
    undecided_race,
    uninitialised,
    unknown_name,
    unsupported_operation,
    unused,
}

#[test]
fn every_rule_is_listed() {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let names = std::fs::read_dir(ui).unwrap().map(|entry| entry.unwrap().file_name());
    let mut rules: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    rules.sort();
    assert_eq!(RULES, rules);
}
