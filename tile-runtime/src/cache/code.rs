//! Compiled kernels: in memory, then on disk, then compiled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use super::key::Key;
use super::store::Store;
use crate::error::Result;
use crate::nvrtc::Cubin;

/// Compiled kernels that are kept in memory; beyond that all are forgotten that
/// nobody waits for.
const MAX_IN_MEMORY: usize = 256;

/// The place of one compiled kernel: filled once.
type Slot = Arc<Mutex<Option<Arc<Cubin>>>>;

/// Compiled kernels of this process.
#[derive(Debug, Default)]
pub(crate) struct CodeCache {
    slots: Mutex<HashMap<Key, Slot>>,
}

impl CodeCache {
    /// The compiled kernel of `key`: from memory, from `store`, or by `compile`.
    /// Threads that want the same one at the same time wait for the first. A
    /// failure is not kept.
    pub(crate) fn get(
        &self,
        store: Option<&Store>,
        key: Key,
        compile: impl FnOnce() -> Result<Cubin>,
    ) -> Result<Arc<Cubin>> {
        let slot = self.slot(key);
        let mut place = lock(&slot);
        if let Some(cubin) = &*place {
            return Ok(cubin.clone());
        }
        let stored = store.and_then(|store| read(store, &key));
        let cubin = match stored {
            Some(cubin) => cubin,
            None => {
                let cubin = compile()?;
                if let (Some(store), Ok(bytes)) = (store, postcard::to_stdvec(&cubin)) {
                    store.put(&key, &bytes);
                }
                cubin
            }
        };
        Ok(place.insert(Arc::new(cubin)).clone())
    }

    /// The compiled kernel of `key`, if it is in memory or in `store`; one that is just
    /// being compiled is not.
    pub(crate) fn known(&self, store: Option<&Store>, key: Key) -> Option<Arc<Cubin>> {
        let slot = self.slot(key);
        let mut place = match slot.try_lock() {
            Ok(place) => place,
            Err(TryLockError::Poisoned(place)) => place.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if place.is_none() {
            *place = store.and_then(|store| read(store, &key)).map(Arc::new);
        }
        place.clone()
    }

    fn slot(&self, key: Key) -> Slot {
        let mut slots = lock(&self.slots);
        if slots.len() >= MAX_IN_MEMORY {
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        slots.entry(key).or_default().clone()
    }
}

fn read(store: &Store, key: &Key) -> Option<Cubin> {
    let bytes = store.get(key)?;
    // Whole, and of another version's layout: as good as not there.
    postcard::from_bytes(&bytes).ok()
}

/// What a panicking thread left behind here is still whole: a value is put in
/// only once it is complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The key of a kernel's compiled form: its text, where comments and lines of the
/// user's file do not count, the compiler's arguments, the architecture among
/// them, and the compiler's version.
pub(crate) fn kernel_key(source: &str, arguments: &[String], version: (u32, u32)) -> Key {
    let text = without_comments(source);
    let version = format!("NVRTC {}.{}", version.0, version.1);
    let parts = [version.as_bytes(), text.as_bytes()];
    Key::of(parts.into_iter().chain(arguments.iter().map(|argument| argument.as_bytes())))
}

/// CUDA C++ without comments, `#line`, indentation and empty lines. What stands
/// in quotes is kept as it is.
fn without_comments(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            kept.push(' ');
            inside.find("*/").map_or(rest.len(), |at| at + 4)
        } else if first == '"' || first == '\'' {
            let length = quoted_bytes(rest, first);
            kept.push_str(&rest[..length]);
            length
        } else {
            kept.push(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    let lines = kept.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("#line"));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// Bytes of a text in quotes at the start of `text`, the quotes among them.
fn quoted_bytes(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::Error;
    use crate::nvrtc::{CompileReport, Image};

    const SOURCE: &str = "#line 3 \"src/a.rs\"\n// a tile\nvoid f() {\n    x = 1; /* why */\n}\n";

    fn cubin(byte: u8) -> Cubin {
        Cubin {
            image: Image::Cubin(vec![byte; 100]),
            architecture: "sm_90".into(),
            report: CompileReport::default(),
            log: "log".into(),
        }
    }

    fn arguments(list: &[&str]) -> Vec<String> {
        list.iter().map(|argument| (*argument).to_owned()).collect()
    }

    #[test]
    fn comments_and_lines_do_not_count() {
        let key = |source: &str| kernel_key(source, &[], (13, 0));
        let other = "#line 70 \"src/b.rs\"\nvoid f() {\n  x = 1;  // two\n\n}";
        assert_eq!(key(SOURCE), key(other));
        assert_ne!(key("a // b\nc"), key("a c"), "a line's end still counts");
        assert_eq!(
            key("asm(\"// no comment\\\" */\"); /* one */"),
            key("asm(\"// no comment\\\" */\");")
        );
        assert_ne!(key("asm(\"// one\");"), key("asm(\"// two\");"));
        assert_ne!(key("a/**/b"), key("ab"));
    }

    #[test]
    fn every_ingredient_counts() {
        let options = arguments(&["--gpu-architecture=sm_90", "--fmad=false"]);
        let key = kernel_key(SOURCE, &options, (13, 0));
        let others = [
            kernel_key(&SOURCE.replace("x = 1", "x = 2"), &options, (13, 0)),
            kernel_key(SOURCE, &arguments(&["--gpu-architecture=sm_80", "--fmad=false"]), (13, 0)),
            kernel_key(SOURCE, &options[..1], (13, 0)),
            kernel_key(SOURCE, &options, (13, 1)),
            kernel_key(SOURCE, &options, (12, 0)),
        ];
        assert!(!others.contains(&key));
    }

    #[test]
    fn the_disk_answers_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned(), 1 << 20);
        let key = kernel_key(SOURCE, &[], (13, 0));
        let first = CodeCache::default().get(Some(&store), key, || Ok(cubin(7))).unwrap();
        let none = || unreachable!("it is on the disk");
        let second = CodeCache::default().get(Some(&store), key, none).unwrap();
        assert_eq!(first, second);
    }

    #[test]
    fn a_damaged_file_is_compiled_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned(), 1 << 20);
        let key = kernel_key(SOURCE, &[], (13, 0));
        CodeCache::default().get(Some(&store), key, || Ok(cubin(7))).unwrap();
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let mut bytes = std::fs::read(&file).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
        let again = CodeCache::default().get(Some(&store), key, || Ok(cubin(8))).unwrap();
        assert_eq!(again.image, cubin(8).image);
        let none = || unreachable!("it was written anew");
        CodeCache::default().get(Some(&store), key, none).unwrap();
    }

    #[test]
    fn threads_that_want_one_kernel_compile_it_once() {
        let (cache, compiled) = (CodeCache::default(), AtomicUsize::new(0));
        let key = kernel_key(SOURCE, &[], (13, 0));
        let compile = || {
            compiled.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(20));
            Ok(cubin(1))
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| cache.get(None, key, compile).unwrap());
            }
        });
        assert_eq!(compiled.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_is_being_compiled_is_not_known_yet() {
        let cache = CodeCache::default();
        let key = kernel_key(SOURCE, &[], (13, 0));
        assert_eq!(cache.known(None, key), None);
        let compile = || {
            assert_eq!(cache.known(None, key), None, "it does not wait");
            Ok(cubin(1))
        };
        let made = cache.get(None, key, compile).unwrap();
        assert_eq!(cache.known(None, key), Some(made));
    }

    #[test]
    fn a_failure_is_not_kept() {
        let cache = CodeCache::default();
        let key = kernel_key(SOURCE, &[], (13, 0));
        cache.get(None, key, || Err(Error::internal("no", ""))).unwrap_err();
        assert_eq!(*cache.get(None, key, || Ok(cubin(3))).unwrap(), cubin(3));
    }

    #[test]
    fn memory_is_bounded() {
        let cache = CodeCache::default();
        for n in 0..2 * MAX_IN_MEMORY as u32 {
            cache.get(None, kernel_key(SOURCE, &[], (n, 0)), || Ok(cubin(1))).unwrap();
        }
        assert!(lock(&cache.slots).len() <= MAX_IN_MEMORY);
    }
}
