//! The records' files, and the records that a program brings along.
//!
//! A file is replaced as a whole: written under another name and renamed, while a
//! lock beside it is held, so that of several processes none loses what another has
//! just found. One that cannot be read is told of and counts as not there; the next
//! search writes it anew.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tile_ir::config::Config;
use tile_ir::device::DeviceProperties;
use tile_ir::kernel::Kernel;

use super::record::{Group, Record, RecordError, Situation};
use crate::cache::{Complaint, folder};

/// Answers that are kept.
const MAX_ANSWERS: usize = 1024;

/// The records' folder in the cache.
const FOLDER: &str = "records";

/// Hexadecimal digits of a kernel's hash in a file's name; the whole stands inside.
const HASH_DIGITS: usize = 16;

/// Where records are written, and read first.
#[derive(Debug)]
enum Files {
    /// In the user's cache, if there is one.
    Cache,
    /// In this folder, which is made when one is written; or nowhere.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests have folders of their own"))]
    Folder(Option<PathBuf>),
}

/// Where records are.
#[derive(Debug)]
pub(crate) struct Shelf {
    files: Files,
    /// What was found where there is no folder, and what the program has brought
    /// along, in this order.
    memory: Mutex<Vec<Record>>,
    /// Made by the first write that fails.
    complaint: Complaint,
    /// What was answered: a program that launches many shapes of one class asks often.
    answers: Mutex<HashMap<Situation, Option<Config>>>,
}

impl Shelf {
    /// Records in the user's cache, which is looked for when one is wanted.
    pub(crate) fn of_user() -> Self {
        Self { complaint: Complaint::of_user(), ..Self::of(Files::Cache) }
    }

    /// Records in files of `folder`.
    #[cfg(test)]
    fn new(folder: Option<PathBuf>) -> Self {
        Self::of(Files::Folder(folder))
    }

    fn of(files: Files) -> Self {
        let (memory, answers) = (Mutex::default(), Mutex::default());
        Self { files, memory, complaint: Complaint::default(), answers }
    }

    fn folder(&self) -> Option<PathBuf> {
        match &self.files {
            Files::Cache => folder().as_ref().ok().map(|folder| folder.join(FOLDER)),
            Files::Folder(folder) => folder.clone(),
        }
    }

    /// Adds a record that the program brings along. Files come before it.
    pub(crate) fn ship(&self, text: &str) -> Result<(), RecordError> {
        let record = Record::parse(text)?;
        self.memory().push(record);
        self.answers().clear();
        Ok(())
    }

    /// The fastest configuration of a situation, as the files were when it was first
    /// asked for.
    pub(crate) fn best(
        &self,
        situation: &Situation,
        kernel: &Kernel,
        device: &DeviceProperties,
    ) -> Option<Config> {
        if let Some(answer) = self.answers().get(situation) {
            return answer.clone();
        }
        let best = self.look(situation, kernel, device);
        let mut answers = self.answers();
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.insert(situation.clone(), best.clone());
        best
    }

    /// The same, as the files are now.
    pub(crate) fn look(
        &self,
        situation: &Situation,
        kernel: &Kernel,
        device: &DeviceProperties,
    ) -> Option<Config> {
        let memory = self.memory();
        let records = self.read(situation);
        let records = records.iter().chain(memory.iter());
        let groups = records.filter(|record| record.is_of(situation));
        let mut groups = groups.filter_map(|record| record.group(situation));
        groups.find_map(|group| {
            let best = group.best(kernel, device, situation.numerics)?;
            if group.is_stale(situation) {
                let (was, is) = (&group.conditions, &situation.conditions);
                tracing::debug!(
                    kernel = situation.kernel.name,
                    ?was,
                    ?is,
                    "a stale record is used"
                );
            }
            Some(best.clone())
        })
    }

    /// What was fastest in such a situation on other devices: where a search may
    /// begin, and no more than that.
    pub(crate) fn elsewhere(
        &self,
        situation: &Situation,
        kernel: &Kernel,
        device: &DeviceProperties,
    ) -> Vec<Config> {
        let memory = self.memory();
        let prefix = file_prefix(situation);
        let entries = self.folder().and_then(|folder| fs::read_dir(folder).ok()).into_iter();
        let paths = entries.flatten().flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| {
                let name = path.file_name().map(|name| name.to_string_lossy());
                name.is_some_and(|name| name.starts_with(&prefix) && name.ends_with(".json"))
            })
            .collect();
        paths.sort();
        // The situation's own was read before, and told of where it is damaged.
        paths.retain(|path| !path.ends_with(file_name(situation)));
        let read: Vec<Record> = paths.iter().filter_map(|path| readable(path)).collect();
        let records = read.iter().chain(memory.iter());
        let others = records.filter(|r| r.is_of_kernel(situation) && !r.is_of(situation));
        let bests =
            others.filter_map(|r| r.group(situation)?.best(kernel, device, situation.numerics));
        let mut configs: Vec<Config> = bests.cloned().collect();
        configs.dedup();
        configs
    }

    /// Keeps what a search has found. Where that cannot be, it is told once, and what is
    /// found stays in this process.
    pub(crate) fn keep(&self, situation: &Situation, group: Group) {
        let folder = self.folder().filter(|_| !self.complaint.is_made());
        let kept = folder.map(|folder| {
            let merged = merge(&folder, situation, group.clone());
            merged.inspect_err(|error| self.complaint.make(&folder, error))
        });
        if !matches!(kept, Some(Ok(()))) {
            let mut record = Record::new(situation);
            record.add(group, situation);
            self.memory().insert(0, record);
        }
        self.answers().clear();
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<Situation, Option<Config>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self) -> MutexGuard<'_, Vec<Record>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, situation: &Situation) -> Option<Record> {
        let path = self.folder()?.join(file_name(situation));
        readable(&path).filter(|record| {
            let fits = record.is_of(situation);
            if !fits {
                let path = path.display();
                tracing::warn!("{path} is a record of something else, and is not used");
            }
            fits
        })
    }
}

fn merge(folder: &Path, situation: &Situation, group: Group) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let path = folder.join(file_name(situation));
    let lock = File::create(path.with_extension("lock"))?;
    lock.lock()?;
    // What cannot be read was told of when it was looked for.
    let known = read_record(&path).ok().flatten().filter(|record| record.is_of(situation));
    let mut record = known.unwrap_or_else(|| Record::new(situation));
    record.add(group, situation);
    let mut file = tempfile::Builder::new().prefix(".unfinished-").tempfile_in(folder)?;
    file.write_all(record.print().as_bytes())?;
    file.flush()?;
    file.persist(&path).map_err(|error| error.error)?;
    // The lock ends with its file's handle, in a process that is killed as well.
    drop(lock);
    Ok(())
}

/// The record in a file; nothing, which is told of, where it cannot be read.
fn readable(path: &Path) -> Option<Record> {
    read_record(path).unwrap_or_else(|reason| {
        tracing::warn!("{} is not used: {reason}", path.display());
        None
    })
}

/// The record in a file, if there is a file; why it cannot be read.
fn read_record(path: &Path) -> Result<Option<Record>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Record::parse(&text).map(Some).map_err(|error| error.to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}

/// The file of a situation: `0123456789abcdef-nvidia-h200-132.json`. The kernel's name
/// does not count, and so does not stand there.
fn file_name(situation: &Situation) -> String {
    let device = slug(&situation.device.name);
    format!("{}{device}-{}.json", file_prefix(situation), situation.device.sms)
}

/// What the names of a kernel's files begin with, whatever the device.
fn file_prefix(situation: &Situation) -> String {
    let hash = situation.kernel.hash.get(..HASH_DIGITS).unwrap_or(&situation.kernel.hash);
    format!("{hash}-")
}

/// A name as part of a file's name.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let text: String = name.to_ascii_lowercase().chars().map(plain).collect();
    let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}

#[cfg(test)]
mod tests;
