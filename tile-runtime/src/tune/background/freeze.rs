//! That nothing changes any more, in this process and for good.

use std::sync::{PoisonError, RwLock};

static FROZEN: RwLock<bool> = RwLock::new(false);

/// Ends all searching in the background. What is being put in place is waited for.
pub(crate) fn freeze() {
    *FROZEN.write().unwrap_or_else(PoisonError::into_inner) = true;
}

/// Whether it has been called.
pub(crate) fn is_frozen() -> bool {
    *FROZEN.read().unwrap_or_else(PoisonError::into_inner)
}

/// Changes what launches run, unless that is not to change any more.
pub(crate) fn unless_frozen(change: impl FnOnce()) {
    let frozen = FROZEN.read().unwrap_or_else(PoisonError::into_inner);
    if !*frozen {
        change();
    }
}
