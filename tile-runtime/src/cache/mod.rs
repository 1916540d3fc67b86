//! What is kept between runs, in one folder that is private to the user.
//!
//! | file | decides |
//! | --- | --- |
//! | `folder` | where the folder is, and whether it may be used |
//! | `key` | by what an entry is found |
//! | `store` | files that are whole or not there, within a size |
//! | `code` | compiled kernels: in memory, then on disk, then made |
//! | `own` | what this very program has computed before |
//! | `mark` | whether a file is still the one that it was |
//!
//! A cache is never needed: what goes wrong with it is told once and costs time,
//! not results.

#[cfg(feature = "cuda")]
mod code;
mod folder;
mod key;
#[cfg(feature = "cuda")]
mod mark;
#[cfg(feature = "cuda")]
mod own;
#[cfg(feature = "cuda")]
mod store;

#[cfg(feature = "cuda")]
pub(crate) use code::{CodeCache, kernel_key};
pub(crate) use folder::{CacheProblem, Complaint, VARIABLE, folder, usage};
pub(crate) use key::Key;
#[cfg(feature = "cuda")]
pub(crate) use mark::FileMark;
#[cfg(feature = "cuda")]
pub(crate) use own::computed_once;
#[cfg(feature = "cuda")]
pub(crate) use store::Store;

/// What compiled kernels may take on disk, in bytes.
#[cfg(feature = "cuda")]
const MAX_CODE_BYTES: u64 = 512 << 20;

/// Compiled kernels of this user on disk; nothing where there is no folder for them.
#[cfg(feature = "cuda")]
pub(crate) fn code_store() -> Option<&'static Store> {
    use std::sync::OnceLock;
    static STORE: OnceLock<Option<Store>> = OnceLock::new();
    let open = || {
        let folder = folder().as_ref().ok()?.join("code");
        Some(Store::new(folder, MAX_CODE_BYTES).complaining_by(Complaint::of_user()))
    };
    STORE.get_or_init(open).as_ref()
}

#[cfg(test)]
pub(crate) mod tests {
    //! Counts what is told.

    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    /// Counts warnings of one thread.
    struct Counter(Arc<AtomicUsize>);

    impl Subscriber for Counter {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            if *event.metadata().level() == Level::WARN {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    /// What `body` gives, and how many warnings it gave in this thread.
    pub(crate) fn warnings_of<T>(body: impl FnOnce() -> T) -> (T, usize) {
        let count = Arc::new(AtomicUsize::new(0));
        let value = tracing::subscriber::with_default(Counter(count.clone()), body);
        (value, count.load(Ordering::Relaxed))
    }
}
