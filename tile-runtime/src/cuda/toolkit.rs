//! The CUDA toolkit of the machine. Nothing here needs one, but NVRTC may come from it,
//! and other programs are compiled with it.

use std::fs;
use std::path::{Path, PathBuf};

use super::nvrtc::toolkits;

/// The environment variables that name a toolkit's folder, in the order in which they count.
pub(super) const VARIABLES: [&str; 2] = ["CUDA_PATH", "CUDA_HOME"];

/// A toolkit's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Toolkit {
    pub(crate) folder: PathBuf,
    /// (major, minor), where a file of it says so.
    pub(crate) version: Option<(u32, u32)>,
}

/// The toolkit that the environment names, else the first in a usual place; and the
/// variables that name a folder which is not there.
pub(crate) fn find() -> (Option<Toolkit>, Vec<(&'static str, PathBuf)>) {
    let named = VARIABLES.iter().filter_map(|&variable| {
        let value = std::env::var_os(variable).filter(|value| !value.is_empty())?;
        Some((variable, PathBuf::from(value)))
    });
    let (there, missing): (Vec<_>, Vec<_>) = named.partition(|(_, folder)| folder.is_dir());
    let mut folders = there.into_iter().map(|(_, folder)| folder).chain(toolkits());
    let found = folders.find(|folder| folder.is_dir());
    (found.map(|folder| Toolkit { version: version(&folder), folder }), missing)
}

/// What `version.json` says, or the header in older toolkits.
fn version(folder: &Path) -> Option<(u32, u32)> {
    let listed = fs::read_to_string(folder.join("version.json")).ok();
    let listed = listed.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let listed = listed.as_ref().and_then(|list| list["cuda"]["version"].as_str());
    if let Some(version) = listed.and_then(parse_version) {
        return Some(version);
    }
    let header = fs::read_to_string(folder.join("include/cuda.h")).ok()?;
    let line = header.lines().find_map(|line| line.trim().strip_prefix("#define CUDA_VERSION "))?;
    let number: u32 = line.trim().parse().ok()?;
    Some((number / 1000, number % 1000 / 10))
}

/// `12.4.131`
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolkit_tells_its_version() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(version(folder.path()), None);
        fs::create_dir(folder.path().join("include")).unwrap();
        let header = "#ifndef X\n#define CUDA_VERSION 11080\n#endif\n";
        fs::write(folder.path().join("include/cuda.h"), header).unwrap();
        assert_eq!(version(folder.path()), Some((11, 8)));
        let list = r#"{ "cuda": { "name": "CUDA SDK", "version": "12.4.20240315" } }"#;
        fs::write(folder.path().join("version.json"), list).unwrap();
        assert_eq!(version(folder.path()), Some((12, 4)));
        // Of a file that is none, the header.
        fs::write(folder.path().join("version.json"), "{").unwrap();
        assert_eq!(version(folder.path()), Some((11, 8)));
    }
}
