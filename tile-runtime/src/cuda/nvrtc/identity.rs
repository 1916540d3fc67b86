//! Which NVRTC this process compiles with, known without loading it where an earlier
//! process has loaded the same: what the cache answers then needs no compiler, whose
//! loading takes longer than all the rest.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::find::{VARIABLE, find, loaded};
use super::library::Nvrtc;
use crate::cache::{FileMark, Key, code_store};
use crate::error::Result;

/// What decides which library is found, beside the files there are.
const VARIABLES: [&str; 7] =
    [VARIABLE, "CUDA_PATH", "CUDA_HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME"];

/// What an NVRTC compiles for, and which it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// (major, minor).
    pub(crate) version: (u32, u32),
    /// Compute capabilities, rising: 75, 80, …
    pub(super) capabilities: Vec<u32>,
}

impl Identity {
    /// The architecture that a device of this compute capability (90 for 9.0) is
    /// compiled for: its own, or PTX of the newest one that NVRTC knows where the
    /// device is newer.
    pub(super) fn architecture(&self, capability: u32) -> String {
        let newest = self.capabilities.iter().copied().rfind(|&known| known <= capability);
        match newest {
            Some(newest) if newest < capability => format!("compute_{newest}"),
            Some(_) | None => format!("sm_{capability}"),
        }
    }
}

/// What one process leaves for the next.
#[derive(Serialize, Deserialize)]
struct Remembered {
    identity: Identity,
    library: FileMark,
}

/// The NVRTC that this process has loaded, or that one in the same surroundings has
/// loaded from a file that has not changed since; else it is loaded.
///
/// # Errors
///
/// Where there is none.
pub(crate) fn identity() -> Result<Identity> {
    static KNOWN: Mutex<Option<Identity>> = Mutex::new(None);
    if let Some(nvrtc) = loaded() {
        return Ok(nvrtc.identity());
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(identity) = &*known {
        return Ok(identity.clone());
    }
    let identity = match recall(&key()) {
        Some(identity) => identity,
        None => find()?.identity(),
    };
    Ok(known.insert(identity).clone())
}

/// Leaves for other processes which library was loaded.
pub(super) fn remember(nvrtc: &Nvrtc) {
    let (Some(store), Some(library)) = (code_store(), FileMark::of_mapped(nvrtc.address())) else {
        return;
    };
    let remembered = Remembered { identity: nvrtc.identity(), library };
    let key = key();
    if recall(&key).as_ref() == Some(&remembered.identity) {
        return;
    }
    if let Ok(bytes) = postcard::to_stdvec(&remembered) {
        store.put(&key, &bytes);
    }
}

fn recall(key: &Key) -> Option<Identity> {
    let remembered: Remembered = postcard::from_bytes(&code_store()?.get(key)?).ok()?;
    remembered.library.holds().then_some(remembered.identity)
}

fn key() -> Key {
    let driver = crate::cuda::driver_major().unwrap_or(0).to_le_bytes();
    let values = VARIABLES.map(|name| {
        let value = std::env::var_os(name);
        // Unset and empty are the same to whoever looks.
        value.map(|value| value.into_encoded_bytes()).unwrap_or_default()
    });
    let parts = [&b"which NVRTC"[..], &driver].into_iter();
    Key::of(parts.chain(values.iter().map(Vec::as_slice)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_newer_than_the_compiler_gets_ptx() {
        let identity = Identity { version: (13, 0), capabilities: vec![75, 80, 90, 120] };
        let of = |capability| identity.architecture(capability);
        assert_eq!(
            [of(90), of(89), of(130), of(70)],
            ["sm_90", "compute_80", "compute_120", "sm_70"]
        );
    }
}
