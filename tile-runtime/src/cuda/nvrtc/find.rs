//! Where NVRTC is looked for, in order.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::identity::remember;
use super::library::{LoadError, Nvrtc};
use crate::error::{EnvironmentError, Error, Result};

/// The environment variable that says where NVRTC is: its library, or the
/// folder that holds it. If it is set, NVRTC is looked for nowhere else.
pub const VARIABLE: &str = "TILE_NVRTC";

/// The wheel that a driver of today takes.
const WHEEL: &str = "nvidia-cuda-nvrtc==13.0.88";
/// The newest wheel for drivers of CUDA 12.
const WHEEL_12: &str = "nvidia-cuda-nvrtc-cu12";
/// Major versions that we know the library names of, newest first.
const MAJORS: [u32; 3] = [13, 12, 11];
/// Folders of an environment of Python, below its prefix, that hold packages.
const PACKAGES: [&str; 2] = ["site-packages", "dist-packages"];
/// Folders of the wheels' libraries, below the packages' folder.
const WHEEL_FOLDERS: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"];
/// Folders of a CUDA toolkit that may hold the library.
const TOOLKIT_FOLDERS: [&str; 5] =
    ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "bin"];

/// A place to look in.
struct Place {
    /// In words.
    source: String,
    what: Look,
}

enum Look {
    /// By the system's loader.
    ByName,
    /// In this folder.
    Folder(PathBuf),
}

/// NVRTC of this process, once it is loaded.
static FOUND: OnceLock<Nvrtc> = OnceLock::new();

/// NVRTC of this process. A success is kept; a failure is not, so that a later
/// call finds what has been installed since.
pub(super) fn find() -> Result<&'static Nvrtc> {
    static SEARCHING: Mutex<()> = Mutex::new(());
    if let Some(nvrtc) = FOUND.get() {
        return Ok(nvrtc);
    }
    let _alone = SEARCHING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(nvrtc) = FOUND.get() {
        return Ok(nvrtc);
    }
    let nvrtc = search()?;
    remember(&nvrtc);
    Ok(FOUND.get_or_init(|| nvrtc))
}

/// NVRTC of this process, if it is loaded.
pub(super) fn loaded() -> Option<&'static Nvrtc> {
    FOUND.get()
}

fn search() -> Result<Nvrtc> {
    if let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return load_named(Path::new(&value)).map_err(|reason| {
            let value = PathBuf::from(value);
            EnvironmentError::BadNvrtcVariable { variable: VARIABLE, value, reason }.into()
        });
    }
    search_in(&places(), &majors())
}

/// The first NVRTC that loads.
fn search_in(places: &[Place], majors: &[u32]) -> Result<Nvrtc> {
    let mut looked_in = Vec::new();
    for place in places {
        let (candidates, mut note) = match &place.what {
            Look::ByName => (names(majors), place.source.clone()),
            Look::Folder(folder) => {
                (libraries_in(folder, majors), format!("{} ({})", folder.display(), place.source))
            }
        };
        for candidate in candidates {
            match Nvrtc::load(&candidate, &place.source) {
                Ok(nvrtc) => return Ok(nvrtc),
                Err(LoadError::Unusable(reason)) => {
                    note.push_str(&format!("; {} is there, but {reason}", candidate.display()));
                }
                Err(LoadError::NotLoaded(reason)) if candidate.is_absolute() => {
                    note.push_str(&format!("; {} does not load: {reason}", candidate.display()));
                }
                Err(LoadError::NotLoaded(_)) => {}
            }
        }
        looked_in.push(note);
    }
    let wheel = if majors.first() == Some(&12) { WHEEL_12 } else { WHEEL };
    Err(Error::from(EnvironmentError::NoNvrtc { looked_in, wheel, variable: VARIABLE }))
}

/// Loads what the environment variable names.
fn load_named(value: &Path) -> Result<Nvrtc, String> {
    let source = format!("named by {VARIABLE}");
    let candidates = if value.is_dir() {
        let found = libraries_in(value, &majors());
        if found.is_empty() {
            return Err("the folder holds no libnvrtc".to_owned());
        }
        found
    } else if value.exists() {
        vec![value.to_owned()]
    } else {
        return Err("there is no such file or folder".to_owned());
    };
    let mut reasons = Vec::new();
    for candidate in candidates {
        // The loader takes a path for a path only if it has a separator.
        let path = std::path::absolute(&candidate).unwrap_or(candidate);
        match Nvrtc::load(&path, &source) {
            Ok(nvrtc) => return Ok(nvrtc),
            Err(LoadError::NotLoaded(reason) | LoadError::Unusable(reason)) => reasons.push(reason),
        }
    }
    Err(reasons.join("; "))
}

/// Major versions in the order in which we want them: first the driver's, whose
/// CUBINs it is sure to load, then older ones, which it loads too, then newer.
fn majors() -> Vec<u32> {
    let mut majors = MAJORS.to_vec();
    if let Some(driver) = crate::cuda::driver_major() {
        majors.sort_by_key(|&major| preference(major, driver));
    }
    majors
}

/// How much a major version is wanted with this driver; less is better.
fn preference(major: u32, driver: u32) -> u32 {
    if major <= driver { driver - major } else { u32::MAX / 2 + major }
}

/// The names that the system's loader is asked for.
fn names(majors: &[u32]) -> Vec<PathBuf> {
    if cfg!(windows) {
        return majors.iter().map(|major| format!("nvrtc64_{major}0_0.dll").into()).collect();
    }
    let versioned = majors.iter().map(|major| match major {
        11 => "libnvrtc.so.11.2".into(),
        major => format!("libnvrtc.so.{major}").into(),
    });
    versioned.chain([PathBuf::from("libnvrtc.so")]).collect()
}

/// The files of a folder that are named like NVRTC, best first.
fn libraries_in(folder: &Path, majors: &[u32]) -> Vec<PathBuf> {
    names(majors).into_iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

fn places() -> Vec<Place> {
    let mut places = Vec::new();
    for variable in crate::cuda::TOOLKIT_VARIABLES {
        if let Some(root) = std::env::var_os(variable).filter(|root| !root.is_empty()) {
            add_toolkit(&mut places, Path::new(&root), variable);
        }
    }
    places.push(Place { source: "the system's library path".to_owned(), what: Look::ByName });
    for root in toolkits() {
        add_toolkit(&mut places, &root, "a CUDA toolkit");
    }
    for (prefix, source) in python_prefixes() {
        add_wheels(&mut places, &prefix, &source);
    }
    places
}

fn add_toolkit(places: &mut Vec<Place>, root: &Path, source: &str) {
    let folders = TOOLKIT_FOLDERS.iter().map(|folder| root.join(folder));
    let existing: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    let shown = if existing.is_empty() { vec![root.join(TOOLKIT_FOLDERS[0])] } else { existing };
    places.extend(
        shown
            .into_iter()
            .map(|folder| Place { source: source.to_owned(), what: Look::Folder(folder) }),
    );
}

/// `/usr/local/cuda` and its versions, newest name first.
pub(in crate::cuda) fn toolkits() -> Vec<PathBuf> {
    let mut roots = vec![PathBuf::from("/usr/local/cuda"), PathBuf::from("/opt/cuda")];
    if let Ok(entries) = std::fs::read_dir("/usr/local") {
        let versioned = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut versioned: Vec<PathBuf> = versioned
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| name.starts_with("cuda-"))
            })
            .collect();
        versioned.sort();
        roots.extend(versioned.into_iter().rev());
    }
    roots
}

/// Prefixes of Python environments, with what they are.
fn python_prefixes() -> Vec<(PathBuf, String)> {
    let mut prefixes = Vec::new();
    for variable in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        if let Some(prefix) = std::env::var_os(variable).filter(|prefix| !prefix.is_empty()) {
            prefixes.push((PathBuf::from(prefix), format!("PyPI wheel, {variable}")));
        }
    }
    if let Some(home) = std::env::var_os("HOME") {
        prefixes.push((Path::new(&home).join(".local"), "PyPI wheel of the user".to_owned()));
    }
    for system in ["/usr/local", "/usr"] {
        prefixes.push((PathBuf::from(system), "PyPI wheel of the system".to_owned()));
    }
    prefixes
}

/// The wheels' folders below a prefix, for each of its Python versions.
fn add_wheels(places: &mut Vec<Place>, prefix: &Path, source: &str) {
    let Ok(entries) = std::fs::read_dir(prefix.join("lib")) else { return };
    let mut pythons: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("python3"))
        })
        .collect();
    pythons.sort();
    for python in pythons.into_iter().rev() {
        for packages in PACKAGES {
            for folder in WHEEL_FOLDERS {
                let folder = python.join(packages).join(folder);
                if folder.is_dir() {
                    places.push(Place { source: source.to_owned(), what: Look::Folder(folder) });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_where_there_is_none() {
        let folder = std::env::temp_dir().join(format!("tile-nvrtc-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("libnvrtc.so.13"), "not a library").unwrap();
        let places = ["/nowhere".into(), folder.clone()]
            .map(|folder| Place { source: "a test".to_owned(), what: Look::Folder(folder) });
        let text = search_in(&places, &MAJORS).unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        let start = format!(
            "NVRTC, NVIDIA's run-time compiler, is not found; looked for it in\n  \
             /nowhere (a test)\n  {0} (a test); {0}/libnvrtc.so.13 does not load: ",
            folder.display()
        );
        assert!(text.starts_with(&start), "{text}");
        let end = "\nhelp: install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc==13.0.88`, \
                   or set TILE_NVRTC to the library or the folder that holds it";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn the_drivers_own_version_comes_first() {
        let order = |driver: u32| {
            let mut majors = MAJORS.to_vec();
            majors.sort_by_key(|&major| preference(major, driver));
            majors
        };
        assert_eq!(order(13), [13, 12, 11]);
        assert_eq!(order(12), [12, 11, 13]);
        assert_eq!(order(14), [13, 12, 11]);
    }
}
