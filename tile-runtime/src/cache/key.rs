//! By what an entry is found: a hash of all that it was made from.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of the ingredients of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// The key of these ingredients. Each counts with its length, so that no two
    /// lists run into one another.
    pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    #[cfg(feature = "cuda")]
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn ingredients_do_not_run_into_one_another() {
        let key = |parts: &[&str]| Key::of(parts.iter().map(|part| part.as_bytes()));
        let lists: [&[&str]; 5] = [&["ab", "c"], &["a", "bc"], &["abc"], &["abc", ""], &[]];
        for (at, one) in lists.iter().enumerate() {
            assert!(lists[..at].iter().all(|other| key(other) != key(one)), "{one:?}");
        }
        assert_eq!(key(&["a"]), key(&["a"]));
        assert_eq!(key(&["a"]).to_string().len(), 64);
    }
}
