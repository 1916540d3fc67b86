//! Names in the emitted text: the user's, made unique.

use std::collections::BTreeSet;

use crate::arena::EntityId as _;
use crate::program::{ArgId, BufferId, DomainId, FragmentId, ProgramKernel, TileId, VarId};

/// Words that a user may use as a name and C++ may not.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "concept",
    "const",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "block_number",
    "shared_memory",
    "main",
    "__shared__",
];

/// The name of every entity of a kernel.
pub(super) struct Names {
    pub(super) buffers: Vec<String>,
    pub(super) args: Vec<String>,
    pub(super) tiles: Vec<String>,
    pub(super) vars: Vec<String>,
    pub(super) fragments: Vec<String>,
    /// One per axis of each domain.
    pub(super) coords: Vec<Vec<String>>,
}

impl Names {
    pub(super) fn of(kernel: &ProgramKernel) -> Self {
        let mut taken = BTreeSet::from([identifier(&kernel.name)]);
        let mut unique = |name: &str| -> String {
            let base = identifier(name);
            let mut candidate = base.clone();
            let mut number = 2;
            while !taken.insert(candidate.clone()) {
                candidate = format!("{base}_{number}");
                number += 1;
            }
            candidate
        };
        Self {
            buffers: kernel.buffers.values().map(|buffer| unique(&buffer.name)).collect(),
            args: kernel.args.values().map(|arg| unique(&arg.name)).collect(),
            tiles: kernel.tiles.values().map(|tile| unique(&tile.name)).collect(),
            vars: kernel.vars.values().map(|var| unique(&var.name)).collect(),
            fragments: kernel.fragments.values().map(|info| unique(&info.name)).collect(),
            coords: kernel
                .domains
                .values()
                .map(|domain| domain.axes.iter().map(|axis| unique(&axis.name)).collect())
                .collect(),
        }
    }

    pub(super) fn buffer(&self, id: BufferId) -> &str {
        &self.buffers[id.index()]
    }

    pub(super) fn arg(&self, id: ArgId) -> &str {
        &self.args[id.index()]
    }

    pub(super) fn tile(&self, id: TileId) -> &str {
        &self.tiles[id.index()]
    }

    pub(super) fn var(&self, id: VarId) -> &str {
        &self.vars[id.index()]
    }

    pub(super) fn fragment(&self, id: FragmentId) -> &str {
        &self.fragments[id.index()]
    }

    pub(super) fn coord(&self, domain: DomainId, axis: usize) -> &str {
        &self.coords[domain.index()][axis]
    }
}

/// A C++ identifier of a user's name: non-ASCII letters and double underscores
/// are spelled out, reserved words and prelude names take an underscore.
pub(super) fn identifier(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            text.push(letter);
        } else {
            text.push_str(&format!("u{:x}", u32::from(letter)));
        }
    }
    if RESERVED.contains(&text.as_str()) || text.starts_with("tk_") || text.starts_with("__") {
        text.insert_str(0, "k_");
    }
    text
}
