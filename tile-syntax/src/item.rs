//! Whole kernels: attributes, visibility, signature, header, body.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use tile_ir::diag::Code;
use tile_ir::span::{SpanId, SpanTable};
use tile_ir::syntax::{KernelItem, Library, Name, Param, ParamKind};

use crate::context::Context;
use crate::error::{SpanPair, SyntaxError};
use crate::generics::parse_generics;
use crate::header::{Header, parse_header};
use crate::library::{ItemKind, item_kind, parse_library_item};
use crate::param::parse_params;
use crate::stmt::parse_block;
use crate::token::{Cursor, Group, Token, read_tokens};
use crate::words;

type Result<T> = std::result::Result<T, SyntaxError>;

/// The kernels of one macro invocation.
#[derive(Debug)]
pub struct ParsedKernels {
    /// The kernels, in order; those with mistakes too.
    pub kernels: Vec<ParsedKernel>,
    /// The functions and constants beside them.
    pub library: ParsedLibrary,
    /// Mistakes outside any kernel, function or constant.
    pub errors: Vec<SyntaxError>,
}

/// The functions and constants of one invocation. Each kernel has a copy of its
/// own, whose spans are among the kernel's.
#[derive(Debug, Default)]
pub struct ParsedLibrary {
    /// The items that were understood.
    pub items: Library,
    /// Where the spans of the items stand.
    pub spans: SpanTable,
    /// The tokens of these spans.
    pub places: Places,
    /// Mistakes in them. Kernels may then lack what they name.
    pub errors: Vec<SyntaxError>,
}

/// The tokens that spans stand for.
#[derive(Debug, Default)]
pub struct Places(Vec<SpanPair>);

impl Places {
    /// The tokens of a place.
    pub fn pair(&self, span: SpanId) -> SpanPair {
        use tile_ir::arena::EntityId as _;
        self.0.get(span.index()).copied().unwrap_or_else(|| Span::call_site().into())
    }
}

/// One kernel and what of it the compiler needs.
#[derive(Debug)]
pub struct ParsedKernel {
    /// The syntax tree. Where there are `errors` it lacks what they are about.
    pub item: KernelItem,
    /// Mistakes in the kernel, in its order.
    pub errors: Vec<SyntaxError>,
    /// Attributes other than the doc comment, as they were written.
    pub attributes: Vec<Attribute>,
    /// The visibility as it was written.
    pub visibility: TokenStream,
    /// The parameters in the order of the text: its index in `item.params`, or
    /// `None` for one with a mistake.
    pub params: Vec<Option<usize>>,
    /// The tokens of its spans.
    pub places: Places,
}

/// An attribute: `#[name …]`.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its path's only word; empty for a longer path.
    pub name: String,
    /// What stands between the brackets.
    pub tokens: TokenStream,
    /// The name in the source.
    pub span: Span,
}

impl ParsedKernel {
    /// The tokens of a place of the kernel.
    pub fn spans_of(&self, span: SpanId) -> SpanPair {
        self.places.pair(span)
    }

    /// A name of the kernel as an identifier at its place in the source.
    pub fn ident(&self, name: &Name) -> Ident {
        let span = self.spans_of(name.span).start;
        match words::is_keyword(&name.text) {
            true => Ident::new_raw(&name.text, span),
            false => Ident::new(&name.text, span),
        }
    }
}

pub(crate) fn parse_items(stream: TokenStream) -> ParsedKernels {
    let mut errors = Vec::new();
    let tokens = read_tokens(stream, &mut errors);
    let (library, beside) = parse_library(tokens.cursor());
    let mut kernels: Vec<ParsedKernel> = Vec::new();
    let mut input = tokens.cursor();
    while !input.is_end() {
        if input.eat_op(";") {
            continue;
        }
        let kind = item_kind(input);
        if kind != ItemKind::Kernel {
            skip_item(&mut input, kind);
            continue;
        }
        match parse_kernel(&mut input, &beside) {
            Ok(kernel) => {
                let taken = library.items.functions.iter().map(|item| &item.name);
                let taken = taken.chain(library.items.consts.iter().map(|item| &item.name));
                let mut names = taken.chain(kernels.iter().map(|other| &other.item.name));
                match names.any(|name| name.text == kernel.item.name.text) {
                    true => errors.push(defined_twice(
                        "the kernel",
                        &kernel.item.name,
                        kernel.spans_of(kernel.item.name.span),
                    )),
                    false => kernels.push(kernel),
                }
            }
            Err(error) => {
                errors.push(error);
                skip_item(&mut input, kind);
            }
        }
    }
    ParsedKernels { kernels, library, errors }
}

/// The functions and constants, and where those that were understood begin.
fn parse_library(mut input: Cursor<'_>) -> (ParsedLibrary, Vec<(Cursor<'_>, ItemKind)>) {
    let mut cx = Context::default();
    let (mut items, mut beside) = (Library::default(), Vec::new());
    while !input.is_end() {
        let kind = item_kind(input);
        if input.eat_op(";") {
            continue;
        }
        let start = input;
        skip_item(&mut input, kind);
        if kind != ItemKind::Kernel && parse_library_item(&mut cx, &mut { start }, kind, &mut items)
        {
            beside.push((start, kind));
        }
    }
    for (what, names) in [
        ("the function", items.functions.iter().map(|item| &item.name).collect::<Vec<_>>()),
        ("the constant", items.consts.iter().map(|item| &item.name).collect()),
    ] {
        for (position, name) in names.iter().enumerate() {
            if names[..position].iter().any(|earlier| earlier.text == name.text) {
                cx.errors.push(defined_twice(what, name, cx.pair(name.span)));
            }
        }
    }
    let Context { table, pairs, errors, .. } = cx;
    (ParsedLibrary { items, spans: table, places: Places(pairs), errors }, beside)
}

fn defined_twice(what: &str, name: &Name, at: SpanPair) -> SyntaxError {
    let message = format!("{what} `{}` is defined twice", name.text);
    SyntaxError { code: Code::DuplicateName, ..SyntaxError::new(at, message) }
}

/// Moves behind an item: its body, or for a constant its `;`.
fn skip_item(input: &mut Cursor<'_>, kind: ItemKind) {
    while let Some(token) = input.peek() {
        let ends = match token {
            Token::Group(group) => kind != ItemKind::Const && group.delimiter == Delimiter::Brace,
            Token::Punct { ch, .. } => *ch == ';',
            Token::Ident(_) | Token::Literal(_) => false,
        };
        input.bump();
        if ends {
            return;
        }
    }
}

fn parse_kernel(input: &mut Cursor<'_>, beside: &[(Cursor<'_>, ItemKind)]) -> Result<ParsedKernel> {
    let mut cx = Context::default();
    let (docs, attributes) = parse_attributes(&mut cx, input)?;
    let visibility = parse_visibility(input);
    expect_fn(input)?;
    let name = cx.name(input, "the kernel's name after `fn`")?;
    let type_params = parse_generics(&mut cx, input);
    let Some(group) = input.eat_group(Delimiter::Parenthesis) else {
        return Err(input.expected(&format!("`(` and the parameters of `{}`", name.text)));
    };
    let written = parse_params(&mut cx, group);
    let plain = attributes.is_empty() && cx.errors.is_empty();
    if plain && input.peek_group(Delimiter::Brace).is_some() && is_function(&written) {
        return Err(SyntaxError::new(cx.pair(name.span), format!("`{}` gives no result", name.text))
            .help("a function says its result's type, `fn f(x: f32) -> f32 { … }`; a kernel has a tensor that it writes"));
    }
    if input.is_op("->") {
        cx.errors.push(
            SyntaxError::new(input.here(), "a kernel returns nothing")
                .help("write its results to a parameter: `c: &mut Tensor<…>`"),
        );
    }
    let before_body = |cursor: &Cursor<'_>| {
        cursor.is_word("where") || cursor.peek_group(Delimiter::Brace).is_some()
    };
    let between = *input;
    let stray = input.split_before(before_body);
    let headless = !stray.is_end() && !between.is_op("->");
    if headless {
        cx.errors.push(between.expected("`where` or the body in braces").help(
            "the header follows `where`: `where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN)`",
        ));
    }
    let mut header = Header::default();
    if input.eat_word("where") {
        let entries = input.split_before(|cursor| cursor.peek_group(Delimiter::Brace).is_some());
        header = parse_header(&mut cx, entries);
    }
    let body = match input.eat_group(Delimiter::Brace) {
        Some(group) => parse_block(&mut cx, group),
        None => {
            if !headless {
                cx.errors.push(input.expected(&format!("the body of `{}` in braces", name.text)));
            }
            Vec::new()
        }
    };
    let mut library = Library::default();
    for (start, kind) in beside {
        parse_library_item(&mut cx, &mut { *start }, *kind, &mut library);
    }
    let mut params = Vec::new();
    let mut positions = Vec::new();
    for param in written {
        positions.push(param.is_some().then_some(params.len()));
        params.extend(param);
    }
    let item = KernelItem {
        docs,
        name,
        type_params,
        params,
        tiles: header.tiles,
        constraints: header.constraints,
        grid: header.grid,
        block: header.block,
        body,
        library,
        spans: cx.table,
    };
    let (errors, places) = (cx.errors, Places(cx.pairs));
    Ok(ParsedKernel { item, errors, attributes, visibility, params: positions, places })
}

/// Whether what has no header has the parameters of a function: values alone.
fn is_function(params: &[Option<Param>]) -> bool {
    let is_value =
        |param: &Option<Param>| matches!(param, Some(Param { kind: ParamKind::Scalar { .. }, .. }));
    !params.is_empty() && params.iter().all(is_value)
}

fn expect_fn(input: &mut Cursor<'_>) -> Result<()> {
    for word in ["unsafe", "const", "async", "extern"] {
        let prefix = input.is_word(word) && input.nth_ident(1).is_some_and(|next| next == "fn");
        if prefix {
            return Err(SyntaxError::new(input.here(), format!("a kernel is not `{word}`"))
                .help("write `pub fn`"));
        }
    }
    match input.eat_word("fn") {
        true => Ok(()),
        false => Err(input.expected("a kernel").help(match input.peek_ident() {
            Some(word) if *word == "static" || *word == "let" => {
                "a value for all kernels of a macro is `const EPS: f32 = 1e-5;`"
            }
            Some(word) if *word == "use" => {
                "what kernels use stands beside them: `const EPS: f32 = 1e-5;`, `fn f(x: f32) -> f32 { … }`"
            }
            Some(word) if *word == "struct" || *word == "enum" || *word == "type" => {
                "kernels know numbers, tensors and tiles alone; declare other types outside the macro"
            }
            _ => "write `pub fn name<T: Number>(a: &Tensor<T, [N]>, …) where … { … }`",
        })),
    }
}

fn parse_visibility(input: &mut Cursor<'_>) -> TokenStream {
    let mut tokens = TokenStream::new();
    let Some(word) = input.peek_ident().filter(|word| *word == "pub") else { return tokens };
    tokens.extend([TokenTree::Ident(word.clone())]);
    input.bump();
    if let Some(group) = input.peek_group(Delimiter::Parenthesis) {
        tokens.extend([TokenTree::Group(group.to_tree())]);
        input.bump();
    }
    tokens
}

fn parse_attributes(
    cx: &mut Context,
    input: &mut Cursor<'_>,
) -> Result<(Vec<String>, Vec<Attribute>)> {
    let (mut docs, mut attributes) = (Vec::new(), Vec::new());
    while input.is_op("#") {
        input.bump();
        if input.is_op("!") {
            return Err(SyntaxError::new(input.here(), "an attribute of a kernel is `#[…]`"));
        }
        let Some(group) = input.eat_group(Delimiter::Bracket) else {
            return Err(input.expected("`[` after `#`"));
        };
        match doc_text(group) {
            Some(text) => docs.extend(text.lines().map(ToOwned::to_owned)),
            None => attributes.extend(cx.report(parse_attribute(group))),
        }
    }
    Ok((docs, attributes))
}

/// The text of `#[doc = "…"]`, which a doc comment is; one leading space of
/// each line is the comment's.
fn doc_text(group: &Group) -> Option<String> {
    let mut inner = group.cursor();
    if !inner.eat_word("doc") || !inner.eat_op("=") {
        return None;
    }
    let Some(Token::Literal(literal)) = inner.peek() else { return None };
    let text = crate::literal::string_value(&literal.to_string())?;
    let lines: Vec<&str> =
        text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    Some(match lines.is_empty() {
        true => "\n".to_owned(),
        false => lines.join("\n"),
    })
}

fn parse_attribute(group: &Group) -> Result<Attribute> {
    let inner = group.cursor();
    let Some(ident) = inner.peek_ident() else {
        return Err(inner.expected("an attribute's name"));
    };
    let name = ident.to_string();
    let known = ["allow", "expect", "warn", "deny", "forbid", "cfg", "doc", "deprecated", "unsafe"];
    if !known.contains(&name.as_str()) {
        return Err(SyntaxError::new(ident.span(), format!("a kernel has no attribute `{name}`"))
            .help("it takes doc comments, `#[allow(…)]`, `#[cfg(…)]` and `#[deprecated]`"));
    }
    let tokens = group.to_tree().stream();
    if name == "unsafe" && tokens.to_string().replace(' ', "") != "unsafe(unchecked)" {
        return Err(SyntaxError::new(ident.span(), "the one unsafe attribute is `unchecked`")
            .help("`#[unsafe(unchecked)]` bypasses the checks, for tests on the CPU device"));
    }
    Ok(Attribute { name, tokens, span: ident.span() })
}
