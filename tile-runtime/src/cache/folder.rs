//! Where the cache is, and whether it may be used: what others can write into is
//! not to be trusted, since what lies there is run.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use etcetera::BaseStrategy as _;

/// The environment variable that names the folder; empty, it says that there
/// shall be none.
pub(crate) const VARIABLE: &str = "TILE_CACHE_DIR";

/// The folder's name in the system's folder for caches.
const NAME: &str = "tile-runtime";

/// Why nothing is kept between runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CacheProblem {
    /// The user wants none.
    #[error("{VARIABLE} is empty: nothing is kept between runs")]
    Off,
    /// The system names no folder for caches.
    #[error(
        "there is no folder to keep compiled kernels in: {reason}\n\
         help: set {VARIABLE} to a folder of yours"
    )]
    NoHome {
        /// What the system lacks.
        reason: String,
    },
    /// The folder cannot be made, read or written.
    #[error(
        "the cache {} cannot be used: {reason}\n\
         help: set {VARIABLE} to a folder that you can write", path.display()
    )]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Others could put files there.
    #[error(
        "the cache {} is not used: {reason}, and what lies there would be run\n\
         help: `chmod go-w` it, or set {VARIABLE} to a folder of yours", path.display()
    )]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// Who could.
        reason: &'static str,
    },
}

/// That a cache cannot be written, which is told once: then no more writes are tried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Complaint(Arc<AtomicBool>);

impl Complaint {
    /// That of the user's cache, whatever is kept in it.
    pub(crate) fn of_user() -> Self {
        static OF_USER: LazyLock<Complaint> = LazyLock::new(Complaint::default);
        OF_USER.clone()
    }

    /// Whether it was told.
    pub(crate) fn is_made(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Tells it, unless it was told.
    pub(crate) fn make(&self, folder: &Path, reason: &dyn fmt::Display) {
        if !self.0.swap(true, Ordering::Relaxed) {
            let folder = folder.display();
            tracing::warn!("nothing more is kept in the cache {folder}: {reason}");
        }
    }
}

/// The cache's folder, found and made once per process. Why there is none is told
/// once, as a warning.
pub(crate) fn folder() -> &'static Result<PathBuf, CacheProblem> {
    static FOLDER: OnceLock<Result<PathBuf, CacheProblem>> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let found = choose().and_then(|path| make_private(&path).map(|()| path));
        match &found {
            Ok(path) => tracing::debug!(folder = %path.display(), "cache"),
            Err(CacheProblem::Off) => tracing::debug!("no cache: {VARIABLE} is empty"),
            Err(problem) => tracing::warn!("{problem}"),
        }
        found
    })
}

fn choose() -> Result<PathBuf, CacheProblem> {
    match std::env::var_os(VARIABLE) {
        Some(value) if value.is_empty() => Err(CacheProblem::Off),
        Some(value) => Ok(PathBuf::from(value)),
        None => {
            let system = etcetera::choose_base_strategy();
            let system =
                system.map_err(|error| CacheProblem::NoHome { reason: error.to_string() })?;
            Ok(system.cache_dir().join(NAME))
        }
    }
}

/// Number of files below a folder, and their bytes.
pub(crate) fn usage(folder: &Path) -> (usize, u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.fold((0, 0), |(files, bytes), entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            let (more_files, more_bytes) = usage(&entry.path());
            (files + more_files, bytes + more_bytes)
        }
        Ok(metadata) => (files + 1, bytes + metadata.len()),
        Err(_) => (files, bytes),
    })
}

/// Makes the folder where it is missing, and checks that it can be written, and by
/// this user alone.
pub(super) fn make_private(path: &Path) -> Result<(), CacheProblem> {
    let unusable = |error: io::Error| CacheProblem::Unusable {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(unusable)?;
    // A file of ours tells who we are, and that there is room for one.
    let probe = tempfile::tempfile_in(path).map_err(unusable)?;
    let (own, folder) =
        (probe.metadata().map_err(unusable)?, fs::metadata(path).map_err(unusable)?);
    match stranger(&own, &folder) {
        Some(reason) => Err(CacheProblem::NotPrivate { path: path.to_owned(), reason }),
        None => Ok(()),
    }
}

/// Who else can write into a folder.
#[cfg(unix)]
fn stranger(own: &fs::Metadata, folder: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    if own.uid() != folder.uid() {
        return Some("it belongs to another user");
    }
    (folder.mode() & WRITABLE_BY_OTHERS != 0).then_some("others can write into it")
}

/// Elsewhere a user's own folder is the user's by where it lies.
#[cfg(not(unix))]
fn stranger(_: &fs::Metadata, _: &fs::Metadata) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_is_the_users_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        make_private(&path).unwrap();
        make_private(&path).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "the probe is gone");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let allow = |mode| {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            make_private(folder.path())
        };
        for mode in [0o770, 0o702, 0o777] {
            let problem = allow(mode).unwrap_err();
            assert!(matches!(problem, CacheProblem::NotPrivate { .. }), "{mode:o}: {problem}");
        }
        // That others can read does no harm.
        for mode in [0o755, 0o700] {
            allow(mode).unwrap();
        }
    }

    #[test]
    fn files_and_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(usage(folder.path()), (0, 0));
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/one"), "12345").unwrap();
        fs::write(folder.path().join("two"), "1").unwrap();
        assert_eq!(usage(folder.path()), (2, 6));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        let problem = make_private(&file.join("cache")).unwrap_err();
        assert!(matches!(problem, CacheProblem::Unusable { .. }), "{problem}");
        assert!(problem.to_string().contains("file/cache"), "{problem}");
    }
}
