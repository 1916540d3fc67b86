//! What a store keeps, and what becomes of it when something goes wrong.

use super::*;
use crate::cache::tests::warnings_of;

const ROOM: u64 = 1 << 20;

fn key(name: &str) -> Key {
    Key::of([name.as_bytes()])
}

fn store(max_bytes: u64) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("entries"), max_bytes);
    (folder, store)
}

#[test]
fn what_was_put_is_there_in_the_next_process() {
    let (_folder, first) = store(ROOM);
    assert_eq!(first.get(&key("a")), None);
    first.put(&key("a"), b"one");
    first.put(&key("b"), b"");
    let second = Store::new(first.folder.clone(), ROOM);
    assert_eq!(second.get(&key("a")).as_deref(), Some(&b"one"[..]));
    assert_eq!(second.get(&key("b")).as_deref(), Some(&b""[..]));
    assert_eq!(entries(&second.folder).len(), 2);
    second.put(&key("a"), b"two");
    assert_eq!(first.get(&key("a")).as_deref(), Some(&b"two"[..]));
}

#[test]
fn any_changed_byte_and_any_length_is_noticed() {
    let (_folder, store) = store(ROOM);
    store.put(&key("a"), b"payload");
    let path = store.path(&key("a"));
    let whole = fs::read(&path).unwrap();
    let damaged = (0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    });
    let cut = (0..whole.len()).map(|length| whole[..length].to_vec());
    let longer = [[&whole[..], b"x"].concat()];
    for bytes in damaged.chain(cut).chain(longer) {
        fs::write(&path, &bytes).unwrap();
        let (found, warnings) = warnings_of(|| store.get(&key("a")));
        assert_eq!((found, warnings), (None, 1), "{bytes:?}");
        assert!(!path.exists(), "it is removed, so that it is made anew");
    }
    store.put(&key("a"), b"payload");
    assert_eq!(store.get(&key("a")).as_deref(), Some(&b"payload"[..]));
}

#[test]
fn an_entry_under_another_name_is_not_taken() {
    let (_folder, store) = store(ROOM);
    store.put(&key("a"), b"payload");
    fs::rename(store.path(&key("a")), store.path(&key("b"))).unwrap();
    assert_eq!(store.get(&key("b")), None);
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let (_folder, store) = store(10_000);
    let age = |name: &str, seconds| {
        let file = File::options().write(true).open(store.path(&key(name))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    for (name, seconds) in [("old", 300), ("older", 400), ("used", 500)] {
        store.put(&key(name), &[0; 2800]);
        age(name, seconds);
    }
    assert!(store.get(&key("used")).is_some());
    store.put(&key("new"), &[0; 2800]);
    let there = |name| store.path(&key(name)).exists();
    assert_eq!(["older", "old", "used", "new"].map(there), [false, false, true, true]);
}

#[test]
fn a_process_that_dies_while_it_writes_leaves_nothing_behind_for_good() {
    let (_folder, store) = store(ROOM);
    store.put(&key("a"), b"payload");
    let unfinished = store.folder.join(format!("{UNFINISHED}x"));
    fs::write(&unfinished, b"half").unwrap();
    let other = Store::new(store.folder.clone(), ROOM);
    other.put(&key("b"), b"payload");
    assert!(unfinished.exists(), "its writer may still be at it");
    let file = File::options().write(true).open(&unfinished).unwrap();
    file.set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
    other.evict();
    assert!(!unfinished.exists());
    assert_eq!(entries(&other.folder).len(), 2);
}

#[test]
fn a_folder_that_cannot_be_written_is_told_of_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let store = Store::new(file.join("entries"), ROOM);
    let ((), warnings) = warnings_of(|| {
        for name in ["a", "b", "c"] {
            assert_eq!(store.get(&key(name)), None);
            store.put(&key(name), b"payload");
        }
    });
    assert_eq!(warnings, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failed_write() {
    let mut full = File::options().write(true).open("/dev/full").unwrap();
    let error = write_entry(&mut full, &key("a"), b"payload").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
