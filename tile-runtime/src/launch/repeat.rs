//! Launches like earlier ones: the same kernel and options on tensors of the same
//! shapes. What an earlier one has checked, chosen and made ready holds for them, and
//! is found without an allocation.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tile_ir::arena::EntityId as _;
use tile_ir::config::{Config, Numerics};
use tile_ir::dtype::DType;
use tile_ir::kernel::{Kernel, Param};
use tile_ir::syntax::TensorSpace;
use tile_ir::value::ScalarValue;

use super::argument::{Argument, ArgumentKind, TensorArgument};
use super::background::Watched;
use super::bind::{Bound, Dims};
use super::cache::KernelAddress;
use super::exact::Numbers;
use super::ready::Ready;
use super::variant::Upgrade;
use crate::cpu::Watch;
use crate::options::Options;
use crate::tune::Tune;

/// Kinds of launches that are kept; a program that launches ever new shapes begins
/// anew after that many.
const MAX_PATTERNS: usize = 4096;

/// What launches have in common that need the same to be checked, chosen and made
/// ready: all but the data, the scalars' values and the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    kernel: KernelAddress,
    types: Vec<DType>,
    parameters: Vec<Shape>,
    tiles: Vec<(String, u32)>,
    config: Option<Config>,
    numerics: Option<Numerics>,
    recheck: Option<bool>,
    tune: Tune,
    watch: Option<Watch>,
}

/// What is known of an argument without looking into it.
#[derive(Debug, PartialEq, Eq)]
enum Shape {
    Tensor {
        extents: Vec<usize>,
        /// Of a view, where its elements are.
        view: Option<(Vec<usize>, usize)>,
        dtype: DType,
        space: TensorSpace,
        mutable: bool,
    },
    Scalar(DType),
}

impl Shape {
    fn of(argument: &Argument<'_>) -> Self {
        match &argument.kind {
            ArgumentKind::Scalar(value) => Self::Scalar(value.dtype),
            ArgumentKind::Tensor(tensor) => Self::Tensor {
                extents: tensor.shape.to_vec(),
                view: tensor.strides.map(|strides| (strides.to_vec(), tensor.offset_elems)),
                dtype: tensor.dtype,
                space: tensor.space,
                mutable: tensor.mutable,
            },
        }
    }

    fn is_of(&self, argument: &Argument<'_>) -> bool {
        match (self, &argument.kind) {
            (Self::Scalar(dtype), ArgumentKind::Scalar(value)) => *dtype == value.dtype,
            (
                Self::Tensor { extents, view, dtype, space, mutable },
                ArgumentKind::Tensor(tensor),
            ) => {
                let places = tensor.strides.map(|strides| (strides, tensor.offset_elems));
                extents == tensor.shape
                    && view.as_ref().map(|(strides, at)| (strides.as_slice(), *at)) == places
                    && *dtype == tensor.dtype
                    && *space == tensor.space
                    && *mutable == tensor.mutable
            }
            (Self::Scalar(_), ArgumentKind::Tensor(_))
            | (Self::Tensor { .. }, ArgumentKind::Scalar(_)) => false,
        }
    }
}

/// A launch before anything of it is looked up.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) kernel: KernelAddress,
    pub(super) types: &'a [DType],
    pub(super) arguments: &'a [Argument<'a>],
    pub(super) options: &'a Options,
    /// The policy, which is the device's where the options name none.
    pub(super) tune: Tune,
    /// What is looked at, of a checked launch.
    pub(super) watch: Option<Watch>,
}

impl Asked<'_> {
    fn pattern(&self) -> Pattern {
        let Options { tiles, config, numerics, recheck, .. } = self.options;
        Pattern {
            kernel: self.kernel,
            types: self.types.to_vec(),
            parameters: self.arguments.iter().map(Shape::of).collect(),
            tiles: tiles.clone(),
            config: config.clone(),
            numerics: *numerics,
            recheck: *recheck,
            tune: self.tune,
            watch: self.watch,
        }
    }

    fn is_of(&self, pattern: &Pattern) -> bool {
        let Options { tiles, config, numerics, recheck, .. } = self.options;
        pattern.kernel == self.kernel
            && pattern.types == self.types
            && pattern.parameters.len() == self.arguments.len()
            && pattern.parameters.iter().zip(self.arguments).all(|(shape, arg)| shape.is_of(arg))
            && pattern.tiles == *tiles
            && pattern.config == *config
            && pattern.numerics == *numerics
            && pattern.recheck == *recheck
            && pattern.tune == self.tune
            && pattern.watch == self.watch
    }

    /// Equal for launches of one pattern, and seldom for others.
    fn hash(&self) -> u64 {
        let Options { tiles, config, numerics, .. } = self.options;
        let mut hasher = Words::default();
        self.kernel.hash(&mut hasher);
        self.types.hash(&mut hasher);
        for argument in self.arguments {
            match &argument.kind {
                ArgumentKind::Scalar(value) => value.dtype.hash(&mut hasher),
                ArgumentKind::Tensor(tensor) => (tensor.shape, tensor.strides).hash(&mut hasher),
            }
        }
        (tiles, config, numerics, self.tune).hash(&mut hasher);
        hasher.finish()
    }
}

/// A hasher for a few words that nobody chooses with ill intent: what it finds is
/// compared.
#[derive(Default)]
struct Words(u64);

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // The multiplier is 2^64 over the golden ratio.
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}

/// What launches of a pattern run.
#[derive(Debug)]
pub(super) struct Repeat {
    pattern: Pattern,
    /// Of each tensor and each scalar of the kernel, by id, its place among the
    /// arguments.
    tensors: Vec<usize>,
    scalars: Vec<usize>,
    dims: Dims,
    pub(super) prepared: Prepared,
}

/// What a launch runs.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// Nothing where the grid has no block.
    pub(super) ready: Option<Arc<Ready>>,
    /// What is to take its place, where there is such.
    pub(super) upgrade: Option<Upgrade>,
    /// Its kind, where that may be searched for in the background.
    pub(super) watched: Option<Arc<Watched>>,
    /// What each launch is asked of its scalars, if that is something.
    pub(super) numbers: Option<Numbers>,
}

impl Repeat {
    pub(super) fn new(kernel: &Kernel, asked: &Asked<'_>, dims: &Dims, prepared: Prepared) -> Self {
        let mut tensors = vec![0; kernel.tensors.len()];
        let mut scalars = vec![0; kernel.scalars.len()];
        for (place, param) in kernel.params.iter().enumerate() {
            match param {
                Param::Tensor(id) => tensors[id.index()] = place,
                Param::Scalar(id) => scalars[id.index()] = place,
            }
        }
        Self { pattern: asked.pattern(), tensors, scalars, dims: dims.clone(), prepared }
    }

    /// The arguments by the ids of the kernel's parameters; nothing where they are of
    /// several devices.
    pub(super) fn bind<'a>(&self, arguments: &'a [Argument<'a>]) -> Option<Bound<'a>> {
        let tensor = |&place: &usize| -> Option<&'a TensorArgument<'a>> {
            match &arguments.get(place)?.kind {
                ArgumentKind::Tensor(tensor) => Some(tensor),
                ArgumentKind::Scalar(_) => None,
            }
        };
        let scalar = |&place: &usize| -> Option<ScalarValue> {
            match &arguments.get(place)?.kind {
                ArgumentKind::Scalar(value) => Some(*value),
                ArgumentKind::Tensor(_) => None,
            }
        };
        let tensors: Option<Vec<_>> = self.tensors.iter().map(tensor).collect();
        let tensors = tensors?;
        let first = tensors.first()?.device;
        let scalars: Option<Vec<_>> = self.scalars.iter().map(scalar).collect();
        let is_of_one = tensors.iter().all(|tensor| tensor.device == first);
        is_of_one.then_some(Bound { tensors, scalars: scalars?, dims: self.dims.clone() })
    }
}

/// The patterns of one device.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    known: RwLock<HashMap<u64, Vec<Arc<Repeat>>, BuildHasherDefault<Words>>>,
    /// How often all was forgotten.
    generation: AtomicU64,
}

impl Repeats {
    /// What a launch like this one has left.
    pub(super) fn find(&self, asked: &Asked<'_>) -> Option<Arc<Repeat>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let alike = known.get(&asked.hash())?;
        alike.iter().find(|repeat| asked.is_of(&repeat.pattern)).cloned()
    }

    /// To be asked before anything is chosen that is then kept.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Keeps what was chosen since [`Repeats::generation`] gave this number, unless it
    /// was forgotten meanwhile.
    pub(super) fn keep(&self, asked: &Asked<'_>, repeat: Repeat, generation: u64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if self.generation() != generation {
            return;
        }
        if known.len() >= MAX_PATTERNS {
            known.clear();
        }
        let alike = known.entry(asked.hash()).or_default();
        alike.retain(|other| !asked.is_of(&other.pattern));
        alike.push(Arc::new(repeat));
    }

    /// Forgets all: something was measured or made ready since.
    pub(super) fn forget(&self) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        self.generation.fetch_add(1, Ordering::AcqRel);
        known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensor::Tensor;

    /// Whether a launch finds what one of `first` has left.
    fn is_found(first: &Options, second: &Options, shapes: [[usize; 2]; 2]) -> bool {
        let device = Device::cpu();
        let tensors = shapes.map(|shape| device.zeros::<f32, 2>(shape).unwrap());
        let [one, other] = &tensors;
        let repeats = Repeats::default();
        let of_one = [Argument::input(one)];
        let asked = asked(first, &of_one);
        repeats.keep(&asked, repeat(&asked), repeats.generation());
        let of_other = [Argument::input(other)];
        repeats.find(&super::Asked { options: second, arguments: &of_other, ..asked }).is_some()
    }

    fn asked<'a>(options: &'a Options, arguments: &'a [Argument<'a>]) -> Asked<'a> {
        Asked { kernel: 7, types: &[DType::F32], arguments, options, tune: Tune::Off, watch: None }
    }

    fn repeat(asked: &Asked<'_>) -> Repeat {
        let (tensors, scalars) = (vec![0], Vec::new());
        let (dims, prepared) = (Dims::none(), Prepared::default());
        Repeat { pattern: asked.pattern(), tensors, scalars, dims, prepared }
    }

    #[test]
    fn launches_are_alike_in_shapes_and_options() {
        let plain = Options::new();
        let tiled = Options::new().tile("TM", 64);
        let cases = [
            (&plain, &plain, [[2, 3], [2, 3]], true),
            (&plain, &plain, [[2, 3], [3, 2]], false),
            (&plain, &tiled, [[2, 3], [2, 3]], false),
            (&tiled, &tiled, [[2, 3], [2, 3]], true),
            (&tiled, &Options::new().tile("TM", 32), [[2, 3], [2, 3]], false),
            (&plain, &Options::new().numerics(Numerics::Exact), [[2, 3], [2, 3]], false),
            (&plain, &Options::new().stream(&Device::cpu().stream()), [[2, 3], [2, 3]], true),
        ];
        for (first, second, shapes, expected) in cases {
            assert_eq!(is_found(first, second, shapes), expected, "{second:?} {shapes:?}");
        }
    }

    #[test]
    fn what_was_chosen_before_all_was_forgotten_is_not_kept() {
        let (options, repeats) = (Options::new(), Repeats::default());
        let tensor = Device::cpu().zeros::<f32, 1>([4]).unwrap();
        let arguments = [Argument::input(&tensor)];
        let asked = asked(&options, &arguments);
        let before = repeats.generation();
        repeats.forget();
        repeats.keep(&asked, repeat(&asked), before);
        assert!(repeats.find(&asked).is_none());
        repeats.keep(&asked, repeat(&asked), repeats.generation());
        assert!(repeats.find(&asked).is_some());
        repeats.forget();
        assert!(repeats.find(&asked).is_none());
    }

    #[test]
    fn tensors_of_several_devices_are_left_to_the_check() {
        let (one, two) = (Device::cpu(), Device::new_cpu("another CPU"));
        let zeros = |device: &Device| -> Tensor<f32, 1> { device.zeros([4]).unwrap() };
        let (a, b) = (zeros(&one), zeros(&two));
        let repeat = |arguments: &[Argument<'_>]| Repeat {
            tensors: vec![0, 1],
            ..repeat(&asked(&Options::new(), arguments))
        };
        let of_one = [Argument::input(&a), Argument::input(&a)];
        assert!(repeat(&of_one).bind(&of_one).is_some());
        let of_both = [Argument::input(&a), Argument::input(&b)];
        assert!(repeat(&of_both).bind(&of_both).is_none());
    }
}
