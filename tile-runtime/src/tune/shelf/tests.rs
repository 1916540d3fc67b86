//! What is kept, when it is used, and what becomes of files that are not as they
//! were written.

use tile_ir::config::{Numerics, default_config};
use tile_ir::device::known;
use tile_ir::dtype::DType;

use super::*;
use crate::cache::tests::warnings_of;
use crate::tiled_kernel;
use crate::tune::record::{Clocks, Conditions, DeviceId, Entry, KernelId};

tiled_kernel! {
    fn add<T: Number>(a: &Tensor<T, [N]>, b: &Tensor<T, [N]>, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = a[bx * TN + tx] + b[bx * TN + tx];
    }
}

fn h200() -> DeviceProperties {
    known("H200").unwrap()
}

fn kernel() -> &'static Kernel {
    add::kernel::<f32>().checked().kernel()
}

fn config(threads: u32) -> Config {
    let checked = add::kernel::<f32>().checked();
    let mut config = default_config(checked, &[DType::F32], &h200(), &[1 << 20]).unwrap();
    config.tiles = vec![1024];
    config.threads = threads;
    config.block[0].threads = threads;
    (config.block[0].lanes, config.block[0].run) = (1, 1);
    config
}

fn situation() -> Situation {
    Situation {
        kernel: KernelId { name: "add".into(), hash: "0123456789abcdef0123".into() },
        device: DeviceId { name: "NVIDIA H200".into(), sms: 132 },
        types: vec!["f32".into()],
        class: "32-bit /128 20".into(),
        given: Vec::new(),
        numerics: Numerics::Exact,
        conditions: Conditions {
            driver: "13.0".into(),
            nvrtc: "13.0".into(),
            peak_clocks: Some(Clocks { sm_mhz: 1980, memory_mhz: 3201 }),
        },
    }
}

fn group(situation: &Situation, times: &[(u32, f64)]) -> Group {
    let entry = |&(threads, seconds): &(u32, f64)| Entry {
        config: config(threads),
        seconds,
        spread: 0.01,
        rounds: 8,
        clocks: Some([Clocks { sm_mhz: 1980, memory_mhz: 3201 }; 2]),
    };
    Group {
        types: situation.types.clone(),
        class: situation.class.clone(),
        given: situation.given.clone(),
        dims: vec![1 << 20],
        conditions: situation.conditions.clone(),
        clocks: None,
        entries: times.iter().map(entry).collect(),
    }
}

fn threads_of(shelf: &Shelf, situation: &Situation) -> Option<u32> {
    shelf.look(situation, kernel(), &h200()).map(|config| config.threads)
}

fn shelf() -> (tempfile::TempDir, Shelf) {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(Some(folder.path().join("records")));
    (folder, shelf)
}

fn path(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("records").join(file_name(&situation()))
}

#[test]
fn the_next_process_uses_what_this_one_found() {
    let (folder, first) = shelf();
    assert_eq!(threads_of(&first, &situation()), None);
    first.keep(&situation(), group(&situation(), &[(128, 2e-6), (256, 1e-6), (512, 3e-6)]));
    let second = Shelf::new(Some(folder.path().join("records")));
    assert_eq!(threads_of(&second, &situation()), Some(256));
    let text = fs::read_to_string(path(&folder)).unwrap();
    let record = Record::parse(&text).unwrap();
    assert_eq!(record.print(), text);
}

#[test]
fn answers_are_kept_until_something_is_found() {
    let (folder, shelf) = shelf();
    let answer = || shelf.best(&situation(), kernel(), &h200()).map(|config| config.threads);
    assert_eq!(answer(), None);
    shelf.keep(&situation(), group(&situation(), &[(256, 1e-6)]));
    assert_eq!(answer(), Some(256));
    fs::remove_file(path(&folder)).unwrap();
    assert_eq!(answer(), Some(256));
    let mut record = Record::new(&situation());
    record.add(group(&situation(), &[(512, 1e-6)]), &situation());
    shelf.ship(&record.print()).unwrap();
    assert_eq!(answer(), Some(512));
}

#[test]
fn one_configuration_more_is_one_entry_more() {
    let (folder, shelf) = shelf();
    shelf.keep(&situation(), group(&situation(), &[(128, 2e-6), (256, 1e-6)]));
    shelf.keep(&situation(), group(&situation(), &[(512, 0.5e-6), (256, 3e-6)]));
    let record = readable(&path(&folder)).unwrap();
    let [group] = &record.groups[..] else { panic!("{record:?}") };
    let times: Vec<(u32, f64)> =
        group.entries.iter().map(|entry| (entry.config.threads, entry.seconds)).collect();
    assert_eq!(times, [(512, 0.5e-6), (128, 2e-6), (256, 3e-6)]);
}

#[test]
fn every_part_of_the_situation_counts_but_names_and_tools() {
    let (_folder, shelf) = shelf();
    shelf.keep(&situation(), group(&situation(), &[(256, 1e-6)]));
    let with = |change: &dyn Fn(&mut Situation)| {
        let mut other = situation();
        change(&mut other);
        threads_of(&shelf, &other)
    };
    assert_eq!(with(&|s| s.kernel.name = "sum".into()), Some(256));
    assert_eq!(with(&|s| s.conditions.driver = "12.4".into()), Some(256));
    assert_eq!(with(&|s| s.conditions.nvrtc = "13.1".into()), Some(256));
    assert_eq!(with(&|s| s.kernel.hash = "1123456789abcdef0123".into()), None);
    // As the file's name has it, and not as the record has it.
    assert_eq!(with(&|s| s.kernel.hash = "0123456789abcdef0124".into()), None);
    assert_eq!(with(&|s| s.device.name = "NVIDIA H100".into()), None);
    assert_eq!(with(&|s| s.device.sms = 114), None);
    assert_eq!(with(&|s| s.types = vec!["f64".into()]), None);
    assert_eq!(with(&|s| s.class = "32-bit /1 20".into()), None);
    assert_eq!(with(&|s| s.given = vec![("TN".into(), 64)]), None);
}

#[test]
fn stale_groups_say_so() {
    let group = group(&situation(), &[(256, 1e-6)]);
    assert!(!group.is_stale(&situation()));
    let stale = |change: &dyn Fn(&mut Conditions)| {
        let mut now = situation();
        change(&mut now.conditions);
        group.is_stale(&now)
    };
    assert!(stale(&|now| now.driver = "13.1".into()));
    assert!(stale(&|now| now.nvrtc = "12.9".into()));
    assert!(stale(&|now| now.peak_clocks = Some(Clocks { sm_mhz: 1200, memory_mhz: 3201 })));
    assert!(stale(&|now| now.peak_clocks = None));
}

#[test]
fn a_file_that_is_no_record_is_told_of_and_written_anew() {
    let (folder, shelf) = shelf();
    shelf.keep(&situation(), group(&situation(), &[(256, 1e-6)]));
    let whole = fs::read_to_string(path(&folder)).unwrap();
    let other_format = whole.replace("\"format\": 2", "\"format\": 99");
    let no_time = whole.replace("1e-6", "-1e-6");
    let other_kernel = whole.replace("0123456789abcdef0123", "0123456789abcdef9999");
    let cut = (0..whole.len() - 2).step_by(7).map(|length| whole[..length].to_owned());
    let foreign = ["", "null", "[1, 2]", "not a record", "{\"format\": 2}", "{\"format\": \"2\"}"];
    let foreign = foreign.iter().map(|text| (*text).to_owned());
    for text in cut.chain(foreign).chain([other_format, no_time, other_kernel]) {
        fs::write(path(&folder), &text).unwrap();
        let (found, warnings) = warnings_of(|| threads_of(&shelf, &situation()));
        assert_eq!((found, warnings), (None, 1), "{text}");
    }
    shelf.keep(&situation(), group(&situation(), &[(512, 1e-6)]));
    assert_eq!(threads_of(&shelf, &situation()), Some(512));
}

#[test]
fn an_entry_that_is_none_of_the_kernel_is_passed_over() {
    let (folder, shelf) = shelf();
    shelf.keep(&situation(), group(&situation(), &[(256, 2e-6), (512, 3e-6)]));
    let mut record = readable(&path(&folder)).unwrap();
    // Faster than all others, if they could be.
    let fastest = Entry { seconds: 1e-9, ..record.groups[0].entries[0].clone() };
    let changes: [&dyn Fn(&mut Config); 4] = [
        &|config| config.threads = 4096,
        &|config| config.tiles = vec![0],
        &|config| config.block.clear(),
        &|config| config.numerics = Numerics::Reassociated,
    ];
    for change in changes {
        let mut entry = fastest.clone();
        change(&mut entry.config);
        record.groups[0].entries.push(entry);
    }
    fs::write(path(&folder), record.print()).unwrap();
    assert_eq!(threads_of(&shelf, &situation()), Some(256));
}

#[test]
fn shipped_records_are_used_where_nothing_was_measured() {
    let (_folder, shelf) = shelf();
    let mut record = Record::new(&situation());
    record.add(group(&situation(), &[(512, 1e-6)]), &situation());
    shelf.ship(&record.print()).unwrap();
    assert_eq!(threads_of(&shelf, &situation()), Some(512));
    shelf.keep(&situation(), group(&situation(), &[(128, 9e-6)]));
    assert_eq!(threads_of(&shelf, &situation()), Some(128), "what was measured here comes first");
    assert!(matches!(shelf.ship("{}"), Err(RecordError::Unreadable { .. })));
    assert!(matches!(shelf.ship("{\"format\": 7}"), Err(RecordError::Format { found: 7 })));
}

#[test]
fn other_devices_give_a_place_to_begin() {
    let (_folder, shelf) = shelf();
    let device = DeviceId { name: "NVIDIA H100".into(), sms: 132 };
    let h100 = Situation { device, ..situation() };
    shelf.keep(&h100, group(&h100, &[(512, 1e-6)]));
    assert_eq!(threads_of(&shelf, &situation()), None);
    let seeds = shelf.elsewhere(&situation(), kernel(), &h200());
    assert_eq!(seeds, [config(512)]);
    assert!(shelf.elsewhere(&h100, kernel(), &h200()).is_empty());
}

#[test]
fn without_a_folder_the_process_remembers() {
    let shelf = Shelf::new(None);
    shelf.keep(&situation(), group(&situation(), &[(256, 1e-6)]));
    assert_eq!(threads_of(&shelf, &situation()), Some(256));
    // A folder that cannot be written is as good as none, and told of.
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("file"), "").unwrap();
    let shelf = Shelf::new(Some(parent.path().join("file/records")));
    let keep = || shelf.keep(&situation(), group(&situation(), &[(128, 1e-6)]));
    let ((), warnings) = warnings_of(keep);
    assert_eq!((warnings, threads_of(&shelf, &situation())), (1, Some(128)));
    let ((), warnings) = warnings_of(keep);
    assert_eq!(warnings, 0, "it was told");
}

#[test]
fn of_many_writers_none_is_lost() {
    let (folder, _) = shelf();
    std::thread::scope(|scope| {
        for number in 0..16u32 {
            let shelf = Shelf::new(Some(folder.path().join("records")));
            scope.spawn(move || {
                let times = [(32 * (number + 1), f64::from(number + 1) * 1e-6)];
                shelf.keep(&situation(), group(&situation(), &times));
            });
        }
    });
    let record = readable(&path(&folder)).unwrap();
    assert_eq!(record.groups[0].entries.len(), 16);
}

#[test]
fn names_of_files() {
    assert_eq!(slug("NVIDIA GeForce RTX 4090"), "nvidia-geforce-rtx-4090");
    assert_eq!(slug("../x/ y"), "x-y");
    assert_eq!(file_name(&situation()), "0123456789abcdef-nvidia-h200-132.json");
}

#[test]
fn what_sums_in_another_order_is_for_launches_that_allow_it() {
    let (_folder, shelf) = shelf();
    let exact = situation();
    let reordered = Situation { numerics: Numerics::Reassociated, ..situation() };
    let mut both = group(&exact, &[(128, 2.0), (256, 3.0)]);
    both.entries[0].config.numerics = Numerics::Reassociated;
    shelf.keep(&exact, both);
    assert_eq!(threads_of(&shelf, &exact), Some(256));
    assert_eq!(threads_of(&shelf, &reordered), Some(128));
    let (_folder, other) = self::shelf();
    other.keep(&exact, group(&exact, &[(128, 2.0)]));
    assert_eq!(threads_of(&other, &reordered), None, "none of its kind was measured");
}
