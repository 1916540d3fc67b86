//! A thread for what may wait: it starts with its first job, does one after the other,
//! and is told to end and waited for when it is dropped.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What is done; it looks at the flag now and then.
type Job = Box<dyn FnOnce(&Cancel) + Send>;

/// That a worker's jobs are to end.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    flag: AtomicBool,
    lock: Mutex<()>,
    told: Condvar,
}

impl Cancel {
    /// Whether they are.
    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Waits so long, or until they are to end.
    pub(crate) fn wait(&self, most: Duration) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let told = self.told.wait_timeout_while(guard, most, |()| !self.is_set());
        drop(told);
    }

    fn set(&self) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.flag.store(true, Ordering::Release);
        self.told.notify_all();
    }
}

/// See the module.
pub(crate) struct Worker {
    /// What it does, for the thread's name and for messages: `tile-tune`.
    name: &'static str,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    jobs: Mutex<Jobs>,
    changed: Condvar,
    cancel: Cancel,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    is_busy: bool,
    /// Set by a panic: no more jobs are taken.
    is_over: bool,
}

impl Shared {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, shared: Arc::default(), thread: Mutex::new(None) }
    }

    /// Does a job when those before it are done; never, where one has panicked.
    pub(crate) fn submit(&self, job: impl FnOnce(&Cancel) + Send + 'static) {
        let mut jobs = self.shared.jobs();
        if jobs.is_over || self.shared.cancel.is_set() {
            return;
        }
        jobs.waiting.push_back(Box::new(job));
        self.shared.changed.notify_all();
        drop(jobs);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let (shared, name) = (self.shared.clone(), self.name);
            let spawned = thread::Builder::new().name(name.to_owned());
            match spawned.spawn(move || work(&shared, name)) {
                Ok(handle) => *thread = Some(handle),
                Err(error) => {
                    tracing::warn!("{name}: no thread for work in the background: {error}");
                    self.shared.jobs().is_over = true;
                }
            }
        }
    }

    /// Waits until all jobs are done.
    pub(crate) fn finish(&self) {
        let jobs = self.shared.jobs();
        let is_at_work = |jobs: &mut Jobs| {
            !jobs.is_over
                && !self.shared.cancel.is_set()
                && (jobs.is_busy || !jobs.waiting.is_empty())
        };
        let done = self.shared.changed.wait_while(jobs, is_at_work);
        drop(done);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.cancel.set();
        self.shared.jobs().waiting.clear();
        self.shared.changed.notify_all();
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // What panicked was told of when it did.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Worker {}", self.name)
    }
}

fn work(shared: &Shared, name: &str) {
    loop {
        let mut jobs = shared.jobs();
        jobs.is_busy = false;
        shared.changed.notify_all();
        let is_idle = |jobs: &mut Jobs| jobs.waiting.is_empty() && !shared.cancel.is_set();
        let waited = shared.changed.wait_while(jobs, is_idle);
        let mut jobs = waited.unwrap_or_else(PoisonError::into_inner);
        let Some(job) = jobs.waiting.pop_front().filter(|_| !shared.cancel.is_set()) else {
            return;
        };
        jobs.is_busy = true;
        drop(jobs);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(&shared.cancel))) {
            let mut jobs = shared.jobs();
            jobs.is_over = true;
            jobs.waiting.clear();
            shared.changed.notify_all();
            tracing::error!(
                "{name} has panicked and does no more in the background: {}. This is a defect of \
                 tile-runtime; please report it",
                message(&*panic)
            );
            return;
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say")
}
