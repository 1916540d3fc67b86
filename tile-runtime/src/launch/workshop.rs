//! Threads that make candidates of a search ready, while others are measured.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use tile_ir::config::Config;

use crate::error::Result;

/// Whether candidates are made while others are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// They are: what is ready is handed out as soon as a thread has nothing to do.
    Ahead,
    /// They are not: all are waited for.
    InStep,
}

/// What is to be made, and who makes it. Dropping it drops what was not begun; the scope
/// waits for the rest.
pub(super) struct Workshop<T> {
    queue: Arc<Queue>,
    finished: Receiver<(Config, thread::Result<Result<T>>)>,
    /// How many were given and not handed out.
    n_open: usize,
    width: usize,
    pace: Pace,
}

#[derive(Default)]
struct Queue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    /// What takes longest is the last, and begun first: at the end nobody waits for it.
    waiting: Vec<(f64, Config)>,
    is_closed: bool,
}

impl Queue {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, for which it waits; nothing where there will be none.
    fn next(&self) -> Option<Config> {
        let mut jobs = self.jobs();
        loop {
            if jobs.is_closed {
                return None;
            }
            if let Some((_, config)) = jobs.waiting.pop() {
                return Some(config);
            }
            jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T: Send> Workshop<T> {
    /// A workshop of `width` threads, one less where they work ahead, which leaves a core for
    /// whoever measures.
    pub(super) fn open<'scope>(
        scope: &'scope Scope<'scope, '_>,
        width: usize,
        pace: Pace,
        make: impl Fn(&Config) -> Result<T> + Copy + Send + 'scope,
    ) -> Self
    where
        T: 'scope,
    {
        let queue = Arc::new(Queue::default());
        let (sender, finished) = mpsc::channel();
        let spare = usize::from(pace == Pace::Ahead);
        let width = width.saturating_sub(spare).max(1);
        for _ in 0..width {
            let (queue, sender) = (queue.clone(), sender.clone());
            scope.spawn(move || {
                while let Some(config) = queue.next() {
                    // A panic is one of whoever waits.
                    let made = catch_unwind(AssertUnwindSafe(|| make(&config)));
                    if sender.send((config, made)).is_err() {
                        return;
                    }
                }
            });
        }
        Self { queue, finished, n_open: 0, width, pace }
    }

    /// How many threads there are.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Takes on jobs, each with what it costs, and hands out what is finished, of these and of
    /// earlier ones: as soon as a thread has nothing to do, but at least one if there is one.
    pub(super) fn make(
        &mut self,
        new: impl IntoIterator<Item = (f64, Config)>,
    ) -> Vec<(Config, Result<T>)> {
        {
            let mut jobs = self.queue.jobs();
            let before = jobs.waiting.len();
            jobs.waiting.extend(new);
            self.n_open += jobs.waiting.len() - before;
            jobs.waiting.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            self.queue.changed.notify_all();
        }
        let mut finished: Vec<_> = self.finished.try_iter().collect();
        while finished.len() < self.n_open && (finished.is_empty() || self.is_busy()) {
            // The threads hold the other end for as long as the queue is open.
            let Ok(one) = self.finished.recv() else { break };
            finished.push(one);
        }
        self.n_open -= finished.len();
        let unwound = |made: thread::Result<_>| made.unwrap_or_else(|panic| resume_unwind(panic));
        finished.into_iter().map(|(config, made)| (config, unwound(made))).collect()
    }

    fn is_busy(&self) -> bool {
        self.pace == Pace::InStep || !self.queue.jobs().waiting.is_empty()
    }
}

impl<T> Drop for Workshop<T> {
    fn drop(&mut self) {
        let mut jobs = self.queue.jobs();
        jobs.waiting.clear();
        jobs.is_closed = true;
        drop(jobs);
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tile_ir::config::AxisItems;

    use super::*;

    fn job(n: u32) -> (f64, Config) {
        (f64::from(n), Config::plain(vec![n], vec![AxisItems::strided(32)]))
    }

    /// What a workshop hands out, call by call, of jobs that sleep for so many milliseconds.
    fn handed_out(width: usize, pace: Pace, jobs: &[u32]) -> Vec<Vec<u32>> {
        let make = |config: &Config| {
            thread::sleep(Duration::from_millis(config.tiles[0].into()));
            Ok(config.tiles[0])
        };
        thread::scope(|scope| {
            let mut workshop = Workshop::open(scope, width, pace, make);
            let mut calls = vec![workshop.make(jobs.iter().copied().map(job))];
            while calls.last().is_some_and(|last| !last.is_empty()) {
                calls.push(workshop.make([]));
            }
            let values = |made: Vec<(Config, Result<u32>)>| {
                made.into_iter().map(|(_, value)| value.unwrap()).collect()
            };
            calls.into_iter().map(values).collect()
        })
    }

    #[test]
    fn in_step_all_are_handed_out_at_once() {
        let calls = handed_out(2, Pace::InStep, &[1, 20, 3]);
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[0].len(), 3);
    }

    #[test]
    fn ahead_what_takes_long_is_not_waited_for() {
        let calls = handed_out(3, Pace::Ahead, &[2, 400, 1, 3]);
        assert!(!calls[0].contains(&400), "{calls:?}");
        assert_eq!(calls.concat(), [3, 2, 1, 400]);
    }

    #[test]
    fn nothing_is_handed_out_of_an_empty_workshop() {
        assert_eq!(handed_out(2, Pace::Ahead, &[]), [Vec::<u32>::new()]);
    }

    #[test]
    #[should_panic(expected = "a defect of lowering")]
    fn a_panic_reaches_whoever_waits() {
        thread::scope(|scope| {
            let make = |_: &Config| -> Result<()> { panic!("a defect of lowering") };
            Workshop::open(scope, 2, Pace::Ahead, make).make([job(1)]);
        });
    }
}
