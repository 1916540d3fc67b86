//! Files that are whole or not there, within a size.
//!
//! An entry is one file: [`MAGIC`], the entry's key, the payload's length and
//! SHA-256, the payload. It is written under another name and renamed, so that a
//! process which dies in the middle leaves nothing that looks like an entry, and
//! one that reads never sees half of one. What does not agree with itself is
//! removed, and counts as not there.

use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::folder::{Complaint, make_private};
use super::key::Key;

/// The first bytes of an entry; they change with its layout.
const MAGIC: [u8; 8] = *b"tilekv\x00\x01";
const HEADER_BYTES: usize = MAGIC.len() + 32 + 8 + 32;
const EXTENSION: &str = "entry";
const UNFINISHED: &str = ".unfinished-";
/// After so long, a file that was not finished never will be.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A folder of entries.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    max_bytes: u64,
    /// Bytes written since the folder was last measured; at the beginning, enough
    /// for it to be measured.
    unmeasured_bytes: AtomicU64,
    /// Made by the first write that fails.
    complaint: Complaint,
}

impl Store {
    /// The entries in `folder`, which is made when one is written. Together they
    /// take about `max_bytes` at most.
    pub(crate) fn new(folder: PathBuf, max_bytes: u64) -> Self {
        let unmeasured_bytes = AtomicU64::new(max_bytes);
        Self { folder, max_bytes, unmeasured_bytes, complaint: Complaint::default() }
    }

    /// The same, which tells once, with all others that have this complaint, that it cannot
    /// be written.
    pub(crate) fn complaining_by(self, complaint: Complaint) -> Self {
        Self { complaint, ..self }
    }

    /// The payload of an entry, where there is one and it is whole.
    pub(crate) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut file = File::open(&path).ok()?;
        match read_entry(&mut file, key) {
            Ok(payload) => {
                // What was used last stays longest. A failure only costs that.
                let _ = file.set_modified(SystemTime::now());
                Some(payload)
            }
            Err(reason) => {
                tracing::warn!(file = %path.display(), "a damaged cache entry is dropped: {reason}");
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Keeps an entry. Where that fails, the cache is given up with one warning.
    pub(crate) fn put(&self, key: &Key, payload: &[u8]) {
        if self.complaint.is_made() {
            return;
        }
        if let Err(reason) = self.write(key, payload) {
            self.complaint.make(&self.folder, &reason);
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{key}.{EXTENSION}"))
    }

    fn write(&self, key: &Key, payload: &[u8]) -> Result<(), String> {
        if !self.folder.is_dir() {
            make_private(&self.folder).map_err(|problem| problem.to_string())?;
        }
        let failed = |error: io::Error| error.to_string();
        let builder = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder);
        let mut file = builder.map_err(failed)?;
        write_entry(file.as_file_mut(), key, payload).map_err(failed)?;
        file.persist(self.path(key)).map_err(|error| error.error.to_string())?;
        let written = (HEADER_BYTES + payload.len()) as u64;
        let unmeasured = self.unmeasured_bytes.fetch_add(written, Ordering::Relaxed) + written;
        // Now and then: reading the folder takes longer than writing an entry.
        if unmeasured > self.max_bytes / 16 {
            self.unmeasured_bytes.store(0, Ordering::Relaxed);
            self.evict();
        }
        Ok(())
    }

    /// Removes what nobody will finish and, where there is too much, what was used
    /// longest ago, down to three quarters. Another process may be doing the same:
    /// what cannot be removed has been.
    fn evict(&self) {
        remove_abandoned(&self.folder);
        let mut files = entries(&self.folder);
        let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
        if bytes <= self.max_bytes {
            return;
        }
        files.sort_by_key(|file| file.used);
        let mut removed = 0;
        for file in files {
            if bytes <= self.max_bytes / 4 * 3 {
                break;
            }
            let _ = fs::remove_file(&file.path);
            bytes -= file.bytes;
            removed += 1;
        }
        tracing::debug!(removed, bytes, "the cache was full");
    }
}

/// A file of an entry.
struct EntryFile {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

fn entries(folder: &Path) -> Vec<EntryFile> {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| {
        let entry = entry.ok()?;
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != EXTENSION) {
            return None;
        }
        let metadata = entry.metadata().ok()?;
        let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(EntryFile { path, bytes: metadata.len(), used })
    });
    files.collect()
}

fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        let age = written.ok().and_then(|written| written.elapsed().ok());
        if is_unfinished && age.is_some_and(|age| age > ABANDONED) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn write_entry(file: &mut impl Write, key: &Key, payload: &[u8]) -> io::Result<()> {
    let mut header = Vec::with_capacity(HEADER_BYTES);
    header.extend(MAGIC);
    header.extend(key.bytes());
    header.extend((payload.len() as u64).to_le_bytes());
    header.extend(Sha256::digest(payload));
    file.write_all(&header)?;
    file.write_all(payload)?;
    file.flush()
}

/// The payload of a file, or what is wrong with it.
fn read_entry(file: &mut File, key: &Key) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let Some((header, payload)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err("it ends too early".to_owned());
    };
    let (magic, rest) = header.split_at(MAGIC.len());
    let (found, rest) = rest.split_at(key.bytes().len());
    let (length, sum) = rest.split_at(8);
    if magic != MAGIC {
        return Err("it is of another format".to_owned());
    }
    if found != key.bytes() {
        return Err("it is another entry's".to_owned());
    }
    if length != (payload.len() as u64).to_le_bytes() {
        return Err("it has another length than it says".to_owned());
    }
    if sum != Sha256::digest(payload).as_slice() {
        return Err("its checksum does not match".to_owned());
    }
    bytes.drain(..HEADER_BYTES);
    Ok(bytes)
}

#[cfg(test)]
mod tests;
