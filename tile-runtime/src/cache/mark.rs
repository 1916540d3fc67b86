//! Whether a file is still the one that it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A file as it was: what replaces it, or is written into it, has another mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMark {
    path: PathBuf,
    bytes: u64,
    /// Since 1970.
    modified: Duration,
}

impl FileMark {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(Self { path: path.to_owned(), bytes: metadata.len(), modified })
    }

    /// Of the program or library that a function or a value of ours is mapped from.
    /// Nothing where the system does not tell.
    pub(crate) fn of_mapped(address: usize) -> Option<Self> {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        Self::of(mapped_file(&maps, address)?)
    }

    /// Whether the file is the same now.
    pub(crate) fn holds(&self) -> bool {
        Self::of(&self.path).as_ref() == Some(self)
    }
}

/// The file whose mapping covers an address, in the lines of `/proc/self/maps`.
fn mapped_file(maps: &str, address: usize) -> Option<&Path> {
    let line = maps.lines().find(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let bound = |text: &str| usize::from_str_radix(text, 16).ok();
        range
            .and_then(|(from, to)| Some((bound(from)?, bound(to)?)))
            .is_some_and(|(from, to)| (from..to).contains(&address))
    })?;
    let path = &line[line.find('/')?..];
    (!path.ends_with(" (deleted)")).then_some(Path::new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(FileMark::of(&path), None);
        fs::write(&path, "one").unwrap();
        let mark = FileMark::of(&path).unwrap();
        assert!(mark.holds());
        fs::write(&path, "three").unwrap();
        assert!(!mark.holds());
        fs::write(&path, "one").unwrap();
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(7)).unwrap();
        assert!(!mark.holds());
    }

    #[test]
    fn the_file_of_an_address() {
        let maps = "5000-6000 r-xp 00000000 08:01 17   /usr/bin/a program\n\
                    6000-7000 rw-p 00000000 00:00 0 \n\
                    7000-7800 r-xp 00001000 08:01 18   /lib/gone.so (deleted)\n";
        assert_eq!(mapped_file(maps, 0x5000), Some(Path::new("/usr/bin/a program")));
        assert_eq!(mapped_file(maps, 0x6000), None);
        assert_eq!(mapped_file(maps, 0x7001), None);
        assert_eq!(mapped_file(maps, 0x9000), None);
        if cfg!(target_os = "linux") {
            let own = FileMark::of_mapped(mapped_file as *const () as usize).unwrap();
            let program = std::env::current_exe().unwrap().canonicalize().unwrap();
            assert_eq!(own.path.canonicalize().unwrap(), program);
        }
    }
}
