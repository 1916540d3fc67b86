//! rustc's messages as the `.stderr` files have them: without line numbers, with this
//! workspace's folder as `$WORKSPACE`, and without what only counts them.

/// What stands in a message before a place.
const ARROWS: [&str; 2] = ["--> ", "::: "];
const ARROW: usize = ARROWS[0].len();

/// How lines begin that are no part of any message.
const LEFT_OUT: [&str; 3] = [
    "error: aborting due to ",
    "For more information about ",
    "Some errors have detailed explanations",
];

/// The text for a file.
pub(crate) fn normalized(messages: &str) -> String {
    let mut out = String::new();
    let mut is_excerpt = false;
    for line in messages.lines() {
        if LEFT_OUT.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let text = line.trim_start();
        if ARROWS.iter().any(|arrow| text.starts_with(arrow)) {
            is_excerpt = true;
            out += &from_here(without_place(line));
        } else if is_excerpt && text.starts_with(|first: char| "0123456789|.".contains(first)) {
            out += without_number(line).trim_end();
        } else {
            is_excerpt = false;
            out += line.trim_end();
        }
        out.push('\n');
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

/// `  --> case.rs` of `  --> case.rs:12:9`.
fn without_place(line: &str) -> &str {
    let mut parts = line.rsplitn(3, ':');
    let numbers = [parts.next(), parts.next()];
    let is_number = |part: &Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    parts.next().filter(|_| numbers.iter().all(is_number)).unwrap_or(line)
}

/// `--> ui/case.rs` of `--> tests/ui/case.rs`, and `--> $WORKSPACE/file.rs` of another file.
fn from_here(line: &str) -> String {
    let (margin, path) = line.split_at(line.len() - line.trim_start().len() + ARROW);
    match path.strip_prefix("tests/") {
        Some(path) => format!("{margin}{path}"),
        None => format!("{margin}$WORKSPACE/{path}"),
    }
}

/// `   | code` of `12 | code`.
fn without_number(line: &str) -> String {
    let is_margin = |c: &char| c.is_ascii_digit() || *c == ' ';
    let margin = line.chars().take_while(is_margin).count();
    format!("{:margin$}{}", "", &line[margin..])
}
