//! Programs that a device has made ready, and configurations it has chosen.
//!
//! A program is made ready once: launches that need the same one at the same
//! time wait for the first. One that cannot be made ready is not kept, so that
//! a launch after the cause has been mended tries again.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tile_ir::config::{Config, Numerics};
use tile_ir::dtype::DType;
use tile_ir::lower::Binding;

use super::facts::Facts;
use super::ready::Ready;
use super::repeat::Repeats;
use crate::cpu::Watch;
use crate::error::Result;
use crate::tune::Tune;

/// Chosen configurations that are kept; a program that launches ever new
/// shapes chooses anew after that many.
const MAX_CHOICES: usize = 4096;

/// Which kernel: the address of its embedded form, one per kernel and process.
pub(super) type KernelAddress = usize;

/// What a configuration was chosen from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ChoiceKey {
    pub(super) kernel: KernelAddress,
    pub(super) types: Vec<DType>,
    pub(super) dims: Vec<u64>,
    pub(super) tiles: Vec<(String, u32)>,
    pub(super) numerics: Option<Numerics>,
    pub(super) tune: Tune,
}

/// What a program was made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProgramKey {
    pub(super) kernel: KernelAddress,
    pub(super) binding: Binding,
    pub(super) config: Config,
    /// Whether it is the one that is compiled quickly ([`super::variant`]).
    pub(super) is_brief: bool,
    /// What is looked at, where it is one of checked launches.
    pub(super) watch: Option<Watch>,
}

/// The place of one program: filled once.
type Slot = Arc<Mutex<Option<Arc<Ready>>>>;

/// One device's programs.
#[derive(Debug, Default)]
pub(crate) struct ProgramCache {
    choices: Mutex<HashMap<ChoiceKey, Config>>,
    programs: Mutex<HashMap<ProgramKey, Slot>>,
    repeats: Repeats,
    facts: Facts,
}

impl ProgramCache {
    /// The configuration of `key`, chosen by `choose` where it is new.
    pub(super) fn config(
        &self,
        key: ChoiceKey,
        choose: impl FnOnce() -> Result<Config>,
    ) -> Result<Config> {
        if let Some(config) = lock(&self.choices).get(&key) {
            return Ok(config.clone());
        }
        let config = choose()?;
        let mut choices = lock(&self.choices);
        if choices.len() >= MAX_CHOICES {
            choices.clear();
        }
        choices.insert(key, config.clone());
        Ok(config)
    }

    /// Forgets what was chosen: something was measured since.
    pub(crate) fn forget_choices(&self) {
        lock(&self.choices).clear();
        self.repeats.forget();
    }

    /// Lets launches look anew for what they run, in the configurations that were chosen.
    pub(super) fn forget_repeats(&self) {
        self.repeats.forget();
    }

    /// Keeps a program that was made elsewhere.
    pub(super) fn insert(&self, key: ProgramKey, ready: Ready) {
        let slot = lock(&self.programs).entry(key).or_default().clone();
        *lock(&slot) = Some(Arc::new(ready));
    }

    /// The brief programs that are there, and the others.
    pub(crate) fn count(&self) -> (usize, usize) {
        let programs = lock(&self.programs);
        let is_ready = |slot: &Slot| slot.try_lock().is_ok_and(|ready| ready.is_some());
        let ready = programs.iter().filter(|(_, slot)| is_ready(slot));
        let (brief, whole): (Vec<_>, Vec<_>) = ready.partition(|(key, _)| key.is_brief);
        (brief.len(), whole.len())
    }

    /// What launches like earlier ones find.
    pub(super) fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    /// Facts that programs are made for.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The program of `key`, if it is ready.
    pub(super) fn ready(&self, key: &ProgramKey) -> Option<Arc<Ready>> {
        let slot = lock(&self.programs).get(key)?.clone();
        let ready = slot.try_lock().ok()?;
        ready.clone()
    }

    /// The program of `key`, made by `make` where it is new.
    pub(super) fn program(
        &self,
        key: ProgramKey,
        make: impl FnOnce() -> Result<Ready>,
    ) -> Result<Arc<Ready>> {
        let slot = lock(&self.programs).entry(key).or_default().clone();
        let mut slot = lock(&slot);
        if let Some(ready) = &*slot {
            return Ok(ready.clone());
        }
        let ready = Arc::new(make()?);
        *slot = Some(ready.clone());
        Ok(ready)
    }

    /// All programs that are ready.
    #[cfg(test)]
    pub(super) fn made(&self) -> Vec<Arc<Ready>> {
        lock(&self.programs).values().filter_map(|slot| lock(slot).clone()).collect()
    }
}

/// What a panicking thread left behind here is still whole: a value is put in
/// only once it is complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tile_ir::config::AxisItems;
    use tile_ir::program::{IndexWidth, Program};
    use tile_ir::span::SpanTable;

    use super::*;
    use crate::error::Error;
    use crate::launch::ready::Executables;

    fn key(threads: u32) -> ProgramKey {
        ProgramKey {
            kernel: 1,
            binding: Binding {
                types: vec![DType::F32],
                index_width: IndexWidth::Bits32,
                dim_divisors: vec![1],
                layouts: Vec::new(),
            },
            config: Config::plain(vec![32], vec![AxisItems::strided(threads)]),
            is_brief: false,
            watch: None,
        }
    }

    fn ready() -> Ready {
        let program = Program {
            kernels: Vec::new(),
            workspaces: Default::default(),
            promises: Vec::new(),
            spans: SpanTable::new(),
        };
        let kernels = Executables::Host(Vec::new());
        Ready {
            program,
            label: "test".into(),
            file: String::new(),
            tiles: String::new(),
            kernels,
            rechecked: Default::default(),
            watch: None,
        }
    }

    #[test]
    fn launches_at_the_same_time_make_one_program() {
        let (cache, made) = (ProgramCache::default(), AtomicUsize::new(0));
        let make = || {
            made.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(20));
            Ok(ready())
        };
        let programs: Vec<Arc<Ready>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| cache.program(key(32), make).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert!(programs.iter().all(|program| Arc::ptr_eq(program, &programs[0])));
        cache.program(key(64), make).unwrap();
        assert_eq!(made.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let cache = ProgramCache::default();
        let failure = cache.program(key(32), || Err(Error::internal("no", ""))).unwrap_err();
        assert!(failure.to_string().contains("internal error of tile-runtime: no"));
        cache.program(key(32), || Ok(ready())).unwrap();
        cache.program(key(32), || unreachable!("it is there")).unwrap();
    }

    #[test]
    fn choices_are_kept_within_a_bound() {
        let cache = ProgramCache::default();
        let choice = |n: u64| ChoiceKey {
            kernel: 1,
            types: Vec::new(),
            dims: vec![n],
            tiles: Vec::new(),
            numerics: None,
            tune: Tune::Off,
        };
        for n in 0..=MAX_CHOICES as u64 {
            cache.config(choice(n), || Ok(key(32).config)).unwrap();
        }
        cache.config(choice(MAX_CHOICES as u64), || unreachable!("it is there")).unwrap();
        assert!(lock(&cache.choices).len() <= MAX_CHOICES);
    }
}
