//! The kernels of `docs/rules.md`: each faulty one has the finding that its section
//! is about, each mended one has none, and every code has a section.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tile_ir::check::{CheckedKernel, check_kernel};
use tile_ir::config::default_config;
use tile_ir::device::known;
use tile_ir::explain::count::Limits;
use tile_ir::explain::{Question, Rule, explain};
use tile_ir::resolve::resolve_kernel;

const PAGE: &str = include_str!("../../../docs/rules.md");
/// Where the codes are declared.
const CODES: &str = include_str!("../../src/diag/code.rs");

/// A section of the page.
struct Section<'a> {
    code: &'a str,
    /// The text of its `rust` blocks.
    kernels: Vec<String>,
}

fn sections() -> Vec<Section<'static>> {
    let parts = PAGE.split("\n## ").skip(1);
    parts
        .map(|part| Section {
            code: part.lines().next().unwrap_or_default(),
            kernels: blocks(part),
        })
        .collect()
}

fn blocks(part: &str) -> Vec<String> {
    let opened = part.split("\n```rust\n").skip(1);
    opened.filter_map(|rest| Some(rest.split_once("\n```")?.0.to_owned() + "\n")).collect()
}

/// The code of what an attribute denies.
const DENIED: &str = "TK0503";

/// Whether the attribute of the page denies a launch of these dimensions.
fn denied(kernel: &CheckedKernel) -> (BTreeSet<String>, String) {
    let device = known("H200").expect("the device is in the table");
    let dims = [65_536, 4096];
    let config = default_config(kernel, &[], &device, &dims).expect("it fits");
    let limits = Limits::default();
    let (types, registers) = (&[], None);
    let question = Question {
        kernel,
        types,
        dims: &dims,
        scalars: &[],
        device: &device,
        config: &config,
        registers,
        limits,
        rules: &Rule::ALL,
    };
    let report = explain(&question).unwrap_or_else(|error| panic!("{error}"));
    let found = report.findings.iter().filter(|finding| finding.rule == Rule::Uncoalesced);
    (found.map(|_| DENIED.to_owned()).collect(), report.to_string())
}

/// The codes of all findings on a kernel, warnings too, with their texts; of a section
/// about launches, whether the kernel's is denied.
fn findings(text: &str, is_of_launches: bool) -> (BTreeSet<String>, String) {
    let item = match tile_syntax::parse_kernel_text(text) {
        Ok(item) => item,
        Err(errors) => {
            let codes = errors.iter().map(|error| error.code.to_string()).collect();
            return (codes, errors.to_string());
        }
    };
    let diags: Vec<tile_ir::diag::Diagnostic> = match resolve_kernel(&item).map(check_kernel) {
        Ok(Ok(checked)) if is_of_launches => return denied(&checked.kernel),
        Ok(Ok(checked)) => checked.warnings,
        Ok(Err(diags)) | Err(diags) => diags.into_iter().collect(),
    };
    let texts: String =
        diags.iter().map(|found| tile_ir::diag::render(found, &item.spans)).collect();
    (diags.iter().map(|found| found.code.text().to_owned()).collect(), texts)
}

#[test]
fn kernels_are_as_their_sections_say() {
    let mut wrong = String::new();
    for section in sections() {
        let [faulty, mended] = section.kernels.as_slice() else {
            panic!("{} shows {} kernels, not two", section.code, section.kernels.len())
        };
        for (kernel, expected) in [(faulty, Some(section.code)), (mended, None)] {
            let (codes, texts) = findings(kernel, section.code == DENIED);
            if codes.iter().map(String::as_str).ne(expected) {
                let _ = write!(wrong, "{}, for {expected:?}:\n{kernel}\n{texts}\n", section.code);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_code_has_a_section() {
    let declared: BTreeSet<&str> =
        CODES.split('"').filter(|text| text.len() == 6 && text.starts_with("TK")).collect();
    assert!(declared.contains("TK0301"), "{declared:?}");
    let described: Vec<&str> = sections().iter().map(|section| section.code).collect();
    let sorted: Vec<&str> = declared.into_iter().collect();
    assert_eq!(described, sorted, "sections of docs/rules.md, in the order of codes");
}
