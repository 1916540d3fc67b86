//! Launches whose blocks and work-items run in a drawn order.

use tile_runtime::{Device, Options, Result, tiled_kernel};

const N: usize = 100;

tiled_kernel! {
    /// The numbers below `N`, each in the slot that its work-item is given.
    pub fn arrivals(next: &mut Tensor<u32, [1]>, slots: &mut Tensor<u32, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        if i < N {
            let slot = atomic next[0] += 1;
            slots[slot] = i as u32;
        }
    }
}

tiled_kernel! {
    /// Each tile turned around.
    pub fn turned(x: &Tensor<f32, [N]>, y: &mut Tensor<f32, [N]>)
    where tile: (TN), grid: (bx in N / TN), block: (tx in TN),
    {
        shared s: [f32; TN];
        load s[i] = x[bx * TN + i];
        barrier;
        y[bx * TN + tx] = s[TN - 1 - tx];
    }
}

/// The slots after a launch of 4 work-items a block.
fn slots(options: Options) -> Result<Vec<u32>> {
    let device = Device::cpu();
    let mut next = device.zeros([1])?;
    let mut slots = device.zeros([N])?;
    arrivals::with(options.tile("TN", 4)).launch(&mut next, &mut slots)?;
    slots.to_vec()
}

#[test]
fn an_order_shows_in_what_depends_on_it() -> Result<()> {
    let numbered: Vec<u32> = (0..N as u32).collect();
    // On several threads blocks run at once.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| slots(Options::new()))?, numbered);
    let mut shuffled = slots(Options::new().shuffled(1))?;
    assert_ne!(shuffled, numbered);
    // Within a block too.
    let blocks = shuffled.chunks(4).filter(|block| !block.is_sorted());
    assert!(blocks.count() > 0, "{shuffled:?}");
    shuffled.sort_unstable();
    assert_eq!(shuffled, numbered);
    Ok(())
}

#[test]
fn a_seed_is_an_order() -> Result<()> {
    // On one thread blocks run one after another.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let on_one_thread = |seed| pool.install(|| slots(Options::new().shuffled(seed)));
    assert_eq!(on_one_thread(7)?, on_one_thread(7)?);
    assert_ne!(on_one_thread(7)?, on_one_thread(8)?);
    Ok(())
}

#[test]
fn other_results_do_not_show_it() -> Result<()> {
    let device = Device::cpu();
    let values: Vec<f32> = (0..96).map(|i| i as f32).collect();
    let x = device.tensor([96], &values)?;
    for seed in 0..8 {
        let mut y = device.zeros([96])?;
        turned::with(Options::new().tile("TN", 32).shuffled(seed)).launch(&x, &mut y)?;
        let mut tiles = values.clone();
        tiles.chunks_mut(32).for_each(<[f32]>::reverse);
        assert_eq!(y.to_vec()?, tiles);
    }
    Ok(())
}
