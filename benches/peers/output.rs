//! The output of a kernel that is measured: spoilt before it is checked, compared
//! with a reference on the host once, and on the device from then on.

use std::cell::{Cell, RefCell, RefMut};

use tile_runtime::bench::copy;
use tile_runtime::{Number, Result, Tensor, tiled_kernel};

use crate::case::{Bench, Failure};

tiled_kernel! {
    /// Every element of `c` becomes `value`.
    pub fn fill<T: Element>(value: T, c: &mut Tensor<T, [N]>)
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        c[bx * TN + tx] = value;
    }
}

tiled_kernel! {
    /// Adds to `count[0]` how many elements of `a` and `b` are not equal.
    pub fn count_differences<T: Number>(
        a: &Tensor<T, [N]>,
        b: &Tensor<T, [N]>,
        count: &mut Tensor<u32, [1]>,
    )
    where tile: (TN), grid: (bx in tiles(N, TN)), block: (tx in TN),
    {
        let i = bx * TN + tx;
        let mut differs: u32 = 0;
        if in_bounds(a[i]) {
            if a[i] != b[i] {
                differs = 1;
            }
        }
        let total = reduce_sum(differs);
        if tx == 0 {
            if total != 0 {
                atomic count[0] += total;
            }
        }
    }
}

/// What the output holds before a launch that is checked.
enum Start<T: Number> {
    /// This value, everywhere.
    Poison(T),
    /// These values: the kernel reads them.
    Values(Tensor<T, 1>),
}

/// A tensor that a kernel writes.
pub(crate) struct Output<T: Number, const R: usize> {
    /// There but while it is looked at as a tensor of one axis.
    tensor: RefCell<Option<Tensor<T, R>>>,
    start: Start<T>,
    /// What was stored when it was compared with the reference.
    proven: RefCell<Option<Tensor<T, 1>>>,
    /// The greatest deviation that was found then.
    deviation: Cell<f64>,
}

impl<T: Number + Copy, const R: usize> Output<T, R> {
    /// An output that holds `poison` before each check.
    pub(crate) fn new(bench: &Bench, shape: [usize; R], poison: T) -> Result<Self> {
        let start = Start::Poison(poison);
        Ok(Self::starting(bench.device.zeros(shape)?, start))
    }

    /// An output that holds `values` before each check.
    pub(crate) fn from_values(bench: &Bench, shape: [usize; R], values: &[T]) -> Result<Self> {
        let start = Start::Values(bench.device.tensor([values.len()], values)?);
        Ok(Self::starting(bench.device.tensor(shape, values)?, start))
    }

    fn starting(tensor: Tensor<T, R>, start: Start<T>) -> Self {
        let (tensor, proven) = (RefCell::new(Some(tensor)), RefCell::new(None));
        Self { tensor, start, proven, deviation: Cell::new(0.0) }
    }

    /// The tensor, for a launch.
    pub(crate) fn tensor(&self) -> RefMut<'_, Tensor<T, R>> {
        RefMut::map(self.tensor.borrow_mut(), |slot| slot.as_mut().expect("it is there"))
    }

    /// Gives it the values from before a launch.
    pub(crate) fn reset(&self, bench: &Bench) -> Result<(), Failure> {
        let options = bench.options();
        self.flat(|flat| match &self.start {
            Start::Poison(value) => fill::with(options).launch(*value, flat),
            Start::Values(values) => copy(&bench.stream, values, flat),
        })?;
        // The comparison must be able to see a launch that stores nothing.
        if self.differences(bench)? == Some(0) {
            return Err(Failure("an output that was overwritten compares equal".to_owned()));
        }
        Ok(())
    }

    /// As [`crate::case::Work::verify`]; `reference` gives the greatest deviation.
    pub(crate) fn verify(
        &self,
        bench: &Bench,
        reference: impl FnOnce(&[T]) -> Result<f64, String>,
    ) -> Result<f64, Failure> {
        if let Some(n_different) = self.differences(bench)? {
            if n_different == 0 {
                return Ok(self.deviation.get());
            }
            if bench.may_round_otherwise.get() {
                return reference(&self.tensor().to_vec()?).map_err(Failure);
            }
            let text = format!("{n_different} elements differ from another configuration's");
            return Err(Failure(text));
        }
        let values = self.tensor().to_vec()?;
        let deviation = reference(&values).map_err(Failure)?;
        let mut proven = bench.device.zeros([values.len()])?;
        self.flat(|flat| copy(&bench.stream, flat, &mut proven))?;
        self.proven.replace(Some(proven));
        self.deviation.set(deviation);
        Ok(deviation)
    }

    /// Elements that differ from those that were proven, once there are such.
    fn differences(&self, bench: &Bench) -> Result<Option<u32>> {
        let proven = self.proven.borrow();
        let Some(proven) = &*proven else { return Ok(None) };
        let mut count = bench.device.zeros([1])?;
        let options = bench.options();
        self.flat(|flat| count_differences::with(options).launch(flat, proven, &mut count))?;
        Ok(Some(count.to_vec()?[0]))
    }

    /// Does something with all elements on one axis.
    fn flat<A>(&self, act: impl FnOnce(&mut Tensor<T, 1>) -> Result<A>) -> Result<A> {
        let mut slot = self.tensor.borrow_mut();
        let tensor = slot.take().expect("it is there");
        let (shape, n_elems) = (tensor.shape(), tensor.len());
        let mut flat = tensor.into_shape([n_elems])?;
        let outcome = act(&mut flat);
        *slot = Some(flat.into_shape(shape)?);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use tile_runtime::Device;

    use super::*;

    fn bench() -> Bench {
        let device = Device::cpu();
        Bench::new(device.stream(), device, None)
    }

    #[test]
    fn one_wrong_element_is_seen() {
        let bench = bench();
        let output = Output::<f32, 2>::new(&bench, [40, 30], f32::NAN).unwrap();
        let store = |at: usize, value: f32| {
            let mut values: Vec<f32> = (0..1200u16).map(f32::from).collect();
            values[at] += value;
            output.tensor().copy_from(&values).unwrap();
        };
        output.reset(&bench).unwrap();
        let refused = output.verify(&bench, |values| {
            assert!(values.iter().all(|value| value.is_nan()));
            Err("all of it".to_owned())
        });
        assert_eq!(refused, Err(Failure("all of it".to_owned())));
        store(0, 0.0);
        assert_eq!(output.verify(&bench, |_| Ok(0.5)), Ok(0.5));
        for at in [0, 1023, 1199] {
            output.reset(&bench).unwrap();
            store(at, 1.0);
            let found = output.verify(&bench, |_| unreachable!("it is known"));
            assert!(found.unwrap_err().0.starts_with("1 elements differ"));
            store(0, 0.0);
            assert_eq!(output.verify(&bench, |_| unreachable!("it is known")), Ok(0.5));
        }
    }

    #[test]
    fn values_that_a_kernel_reads_are_there_again() {
        let bench = bench();
        let output = Output::<f32, 1>::from_values(&bench, [3], &[1.0, 2.0, 3.0]).unwrap();
        output.tensor().copy_from(&[5.0; 3]).unwrap();
        output.reset(&bench).unwrap();
        assert_eq!(output.tensor().to_vec().unwrap(), [1.0, 2.0, 3.0]);
    }
}
