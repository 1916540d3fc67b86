//! "did you mean": the visible name nearest to an unknown one.

/// The candidate that a slip of the finger makes into `name`: the nearest within
/// a third of its length (at least one edit), the first of equals. Of one letter
/// only the other case is near.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    let candidates = candidates.into_iter();
    let candidates =
        candidates.filter(|candidate| length > 1 || candidate.eq_ignore_ascii_case(name));
    let near = candidates.map(|candidate| (edits(name, candidate), candidate));
    let near = near.filter(|&(distance, _)| 0 < distance && distance <= limit);
    near.min_by_key(|&(distance, _)| distance).map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours between two
/// names; a change of case alone counts as one.
fn edits(a: &str, b: &str) -> usize {
    if a != b && a.eq_ignore_ascii_case(b) {
        return 1;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(name, candidates.iter().copied()), expected);
    }

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        check("a_S", &["b_s", "a_s"], Some("a_s"));
        check("acc", &["ac", "ty"], Some("ac"));
        check("tmie", &["time"], Some("time"));
        check("x", &["alpha", "TM"], None);
        check("row", &["col"], None);
        check("y", &["s", "x"], None);
        check("t", &["s", "T"], Some("T"));
    }
}
