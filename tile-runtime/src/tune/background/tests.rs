//! Searching in the background on a made-up device with a made-up clock.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tile_ir::config::{AxisItems, Config};

use super::*;
use crate::cache::tests::warnings_of;
use crate::error::Result;
use crate::tune::measure::{Made, Measure, Prepared};
use crate::tune::record::Clocks;
use crate::tune::report::Reason;

/// A device that runs one thing at a time, and a user who launches something that
/// takes `launch` seconds, then waits for `pause` seconds, over and over.
struct World {
    launch: f64,
    pause: f64,
    now: Cell<f64>,
    user_seconds: Cell<f64>,
    begun: Cell<u64>,
    /// When the user launches again.
    next: Cell<f64>,
    /// Until when a launch of the user's runs.
    busy_until: Cell<f64>,
    /// When the search is told to end.
    over_at: f64,
    /// What the search has spent, and the greatest part of the user's time that this was.
    spent: Cell<f64>,
    worst: Cell<f64>,
    log: RefCell<Vec<f64>>,
}

impl World {
    fn new(launch: f64, pause: f64) -> Self {
        let zero = || Cell::new(0.0);
        Self {
            launch,
            pause,
            now: zero(),
            user_seconds: zero(),
            begun: Cell::new(0),
            next: zero(),
            busy_until: zero(),
            over_at: f64::INFINITY,
            spent: zero(),
            worst: zero(),
            log: RefCell::default(),
        }
    }

    /// Lets time pass, and the user launch meanwhile.
    fn pass(&self, seconds: f64) {
        let until = self.now.get() + seconds;
        while self.next.get() <= until {
            let start = self.next.get().max(self.busy_until.get());
            self.begun.set(self.begun.get() + 1);
            self.busy_until.set(start + self.launch);
            self.user_seconds.set(self.user_seconds.get() + self.launch);
            self.next.set(start + self.launch + self.pause);
        }
        self.now.set(until);
    }

    /// A measurement of so many seconds.
    fn measure(&self, seconds: f64) {
        assert!(self.is_quiet(), "a launch of the user's runs");
        self.pass(seconds);
        self.spent.set(self.spent.get() + seconds);
        let share = self.spent.get() / self.user_seconds.get();
        self.worst.set(self.worst.get().max(share));
        self.log.borrow_mut().push(self.now.get());
    }
}

impl Surroundings for World {
    fn user_seconds(&self) -> f64 {
        self.user_seconds.get()
    }
    fn begun(&self) -> u64 {
        self.begun.get()
    }
    fn is_quiet(&self) -> bool {
        self.now.get() >= self.busy_until.get()
    }
    fn now(&self) -> f64 {
        self.now.get()
    }
    fn wait(&self) {
        self.pass(1e-3);
    }
    fn is_over(&self) -> bool {
        self.now.get() >= self.over_at
    }
}

/// Candidates that all take as long.
struct Candidates<'a> {
    world: &'a World,
    seconds: f64,
}

impl Measure for Candidates<'_> {
    fn prepare(&mut self, configs: &[Config]) -> Result<Vec<Made>> {
        Ok(configs.iter().map(|config| (config.clone(), Ok(Prepared::default()))).collect())
    }
    fn first_run(&mut self, _: &Config) -> Result<Result<f64, Reason>> {
        self.world.measure(self.seconds);
        Ok(Ok(self.seconds))
    }
    fn round(&mut self, _: &Config, launches: usize) -> Result<f64> {
        self.world.measure(self.seconds * launches as f64);
        Ok(self.seconds)
    }
    fn clocks(&self) -> Option<Clocks> {
        None
    }
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
    fn width(&self) -> usize {
        16
    }
}

fn config() -> Config {
    Config::plain(vec![32], vec![AxisItems::strided(32)])
}

/// Some samples: one first run, then rounds.
fn samples(polite: &mut Polite<'_>, rounds: usize) -> Result<()> {
    polite.first_run(&config())?.unwrap();
    (0..rounds).try_for_each(|_| polite.round(&config(), 4).map(|_| ()))
}

#[test]
fn it_takes_a_tenth_of_the_users_time_at_any_moment() {
    // Launches of 3 ms, 10 ms apart, for which candidates of up to 3 ms are tried.
    for seconds in [0.1e-3, 1e-3, 2e-3] {
        let world = World::new(3e-3, 10e-3);
        world.pass(1.0);
        let mut candidates = Candidates { world: &world, seconds };
        let mut polite = Polite::new(&mut candidates, &world, 0.1, 3e-3, 0.0);
        samples(&mut polite, 40).unwrap();
        assert!(world.worst.get() <= 0.1, "{seconds}: {}", world.worst.get());
        assert!((polite.spent() - world.spent.get()).abs() < 1e-9);
        assert!((polite.elapsed().as_secs_f64() - polite.spent()).abs() < 1e-6);
        assert_eq!(polite.width(), 1);
    }
}

#[test]
fn what_takes_longer_than_expected_is_waited_off() {
    let world = World::new(3e-3, 30e-3);
    world.pass(2.0);
    let mut candidates = Candidates { world: &world, seconds: 25e-3 };
    let mut polite = Polite::new(&mut candidates, &world, 0.1, 1e-3, 0.0);
    polite.first_run(&config()).unwrap().unwrap();
    let spent = polite.spent();
    assert!(spent >= 25e-3, "{spent}");
    polite.first_run(&config()).unwrap().unwrap();
    // Of the second one it knew: there was room for it.
    assert!(world.spent.get() <= 0.1 * world.user_seconds.get());
}

#[test]
fn without_the_users_launches_it_waits() {
    let mut world = World::new(1e-3, 5e-3);
    world.next.set(f64::INFINITY);
    world.over_at = 100.0;
    let mut candidates = Candidates { world: &world, seconds: 1e-6 };
    let mut polite = Polite::new(&mut candidates, &world, 0.1, 1e-6, 0.0);
    let error = polite.first_run(&config()).unwrap_err();
    assert!(error.to_string().contains("it was told to"), "{error}");
    assert_eq!(world.spent.get(), 0.0);
    assert!(world.now() >= 100.0);
}

#[test]
fn samples_that_overlap_a_launch_do_not_count() {
    // 4 ms do not fit between launches that are 3 ms apart, but 2 ms often do.
    let world = World::new(1e-3, 3e-3);
    world.pass(10.0);
    let mut candidates = Candidates { world: &world, seconds: 2e-3 };
    let mut polite = Polite::new(&mut candidates, &world, 0.1, 2e-3, 0.0);
    for _ in 0..10 {
        let begun = world.begun();
        polite.first_run(&config()).unwrap().unwrap();
        assert!(world.begun() >= begun);
    }
    // The last sample of each run ended before the next launch began.
    assert!(world.log.borrow().len() >= 10);
    let mut candidates = Candidates { world: &world, seconds: 4e-3 };
    let mut polite = Polite::new(&mut candidates, &world, 10.0, 4e-3, 0.0);
    let error = polite.first_run(&config()).unwrap_err();
    assert!(error.to_string().contains("never idle"), "{error}");
}

#[test]
fn a_time_stands_for_the_launches_since_the_last() {
    let (usage, meter) = (Usage::default(), Meter::default());
    let mut timed = Vec::new();
    for _ in 0..100 {
        if let Some(number) = usage.begin() {
            usage.add(number, 0.25, &meter);
            timed.push(number);
        }
    }
    assert_eq!(timed, [1, 2, 3, 4, 8, 16, 32, 64, 96]);
    assert_eq!(meter.seconds(), 96.0 * 0.25);
    assert_eq!(usage.mean_seconds(), 0.25);
    // Late, and counted already.
    usage.add(64, 9.0, &meter);
    assert_eq!(meter.seconds(), 96.0 * 0.25);
}

#[test]
fn a_search_is_asked_for_once_after_its_time() {
    let (usage, meter) = (Usage::default(), Meter::default());
    let after = Duration::from_secs(1);
    let mut asked = Vec::new();
    for number in 1..=10 {
        usage.add(number, 0.25, &meter);
        if usage.asks_for_search(after) {
            asked.push(number);
        }
    }
    assert_eq!(asked, [4], "after the first second of its own device time");
}

#[test]
fn launches_are_counted_while_they_run() {
    let meter = Meter::default();
    let one = meter.launch();
    let other = meter.launch();
    assert_eq!((meter.begun(), meter.running()), (2, 2));
    drop((one, other));
    assert_eq!((meter.begun(), meter.running()), (2, 0));
}

#[test]
fn a_worker_does_its_jobs_in_order() {
    let worker = Worker::new("test");
    let done: Arc<std::sync::Mutex<Vec<u32>>> = Arc::default();
    for number in 0..5 {
        let done = done.clone();
        worker.submit(move |_| done.lock().unwrap().push(number));
    }
    worker.finish();
    assert_eq!(*done.lock().unwrap(), [0, 1, 2, 3, 4]);
}

#[test]
fn dropping_a_worker_ends_its_job_and_waits_for_it() {
    let worker = Worker::new("test");
    let ended = Arc::new(AtomicUsize::new(0));
    let counter = ended.clone();
    let (begun, begins) = std::sync::mpsc::channel();
    worker.submit(move |cancel| {
        begun.send(()).unwrap();
        while !cancel.is_set() {
            cancel.wait(Duration::from_secs(3600));
        }
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let counter = ended.clone();
    worker.submit(move |_| {
        counter.fetch_add(100, Ordering::SeqCst);
    });
    begins.recv().unwrap();
    drop(worker);
    assert_eq!(ended.load(Ordering::SeqCst), 1, "the first has ended, the second never began");
}

#[test]
fn a_panic_ends_all_of_it_and_is_told_once() {
    let worker = Worker::new("test");
    let done = Arc::new(AtomicUsize::new(0));
    worker.submit(|_| panic!("a defect"));
    worker.finish();
    let counter = done.clone();
    let ((), warnings) = warnings_of(|| {
        worker.submit(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        worker.finish();
    });
    drop(worker);
    assert_eq!((done.load(Ordering::SeqCst), warnings), (0, 0));
}
