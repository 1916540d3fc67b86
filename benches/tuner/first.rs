//! The first launch of a process: with nothing cached, and with what an earlier
//! process has left.

use crate::Arguments;
use crate::child::{FirstLaunch, Role, ask, new_cache};
use crate::line::{Cache, Line};

/// The product that is launched.
const SHAPE: [usize; 3] = [4096, 4096, 4096];
const QUICK_SHAPE: [usize; 3] = [64, 64, 64];
/// Processes of each kind.
const PROCESSES: usize = 5;

/// One line per process.
pub(crate) fn measure(arguments: &Arguments) -> Result<Vec<Line>, Box<dyn std::error::Error>> {
    let shape = if arguments.quick { QUICK_SHAPE } else { SHAPE };
    let processes = if arguments.quick { 1 } else { PROCESSES };
    let line = |cache: Cache, first: FirstLaunch| Line::FirstLaunch { shape, cache, first };
    let mut lines = Vec::new();
    for _ in 0..processes {
        let cache = new_cache()?;
        lines.push(line(Cache::Cold, ask(Role::FirstCold, shape, arguments, cache.path())?));
    }
    let cache = new_cache()?;
    let _: FirstLaunch = ask(Role::FirstWarm, shape, arguments, cache.path())?;
    for _ in 0..processes {
        lines.push(line(Cache::Warm, ask(Role::FirstWarm, shape, arguments, cache.path())?));
    }
    Ok(lines)
}
