//! The attributes of a kernel: `#[allow(TK0402)]`, `#[allow(redundant_barrier)]`,
//! `#[deny(bank_conflicts, …)]` and `#[unsafe(unchecked)]` are for this macro, all others
//! are for the compiler.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use tile_ir::diag::Code;
use tile_syntax::Attribute;

use crate::deny::Denial;

/// The attributes of one kernel, by whom they are for.
#[derive(Debug)]
pub(crate) struct Attributes {
    /// What goes to the compiler, as it was written.
    pub(crate) kept: TokenStream,
    /// Of these, what decides whether the kernel exists: `#[cfg(…)]`.
    pub(crate) gates: TokenStream,
    /// The findings that are errors.
    pub(crate) denials: Vec<Denial>,
    /// Whether the author bypasses the checks.
    pub(crate) is_unchecked: bool,
    silenced: Vec<String>,
}

impl Attributes {
    /// Whether the author silences the warnings of a rule.
    pub(crate) fn silences(&self, code: Code) -> bool {
        let names = [Some(code.text()), code.lint()];
        self.silenced.iter().any(|silenced| names.contains(&Some(silenced.as_str())))
    }
}

/// Takes the rules of this macro out of `#[allow(…)]` and `#[deny(…)]`.
pub(crate) fn split_attributes(attributes: &[Attribute]) -> Attributes {
    let (mut kept, mut gates) = (TokenStream::new(), TokenStream::new());
    let (mut silenced, mut denials) = (Vec::new(), Vec::new());
    let is_bypass = |attribute: &&Attribute| attribute.name == "unsafe";
    let is_unchecked = attributes.iter().any(|attribute| is_bypass(&attribute));
    for attribute in attributes.iter().filter(|attribute| !is_bypass(attribute)) {
        let tokens = &attribute.tokens;
        if attribute.name == "deny"
            && let Some((denial, lints)) = Denial::split(lints_of(tokens), attribute.span)
        {
            denials.push(denial);
            if !lints.is_empty() {
                kept.extend(quote!(#[deny(#(#lints),*)]));
            }
            continue;
        }
        if attribute.name != "allow" {
            let written = quote!(#[#tokens]);
            if attribute.name == "cfg" {
                gates.extend(written.clone());
            }
            kept.extend(written);
            continue;
        }
        let mut lints = Vec::new();
        for lint in lints_of(tokens) {
            let text = lint.to_string();
            match is_rule(&text) {
                true => silenced.push(text),
                false => lints.push(lint),
            }
        }
        if !lints.is_empty() {
            kept.extend(quote!(#[allow(#(#lints),*)]));
        }
    }
    Attributes { kept, gates, denials, is_unchecked, silenced }
}

/// The entries of `allow(a, b::c, reason = "…")`.
fn lints_of(tokens: &TokenStream) -> Vec<TokenStream> {
    let list = tokens.clone().into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) => Some(group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    });
    let mut entries = vec![TokenStream::new()];
    for tree in list.unwrap_or_default() {
        match &tree {
            TokenTree::Punct(punct) if punct.as_char() == ',' => entries.push(TokenStream::new()),
            _ => entries.iter_mut().last().into_iter().for_each(|e| e.extend([tree.clone()])),
        }
    }
    entries.retain(|entry| !entry.is_empty());
    entries
}

/// Whether `text` names a rule of this macro, by its code or by its name.
fn is_rule(text: &str) -> bool {
    is_code(text) || Code::RedundantBarrier.lint() == Some(text)
}

fn is_code(text: &str) -> bool {
    text.strip_prefix("TK").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}
