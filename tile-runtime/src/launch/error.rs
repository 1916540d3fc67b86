//! What can be wrong with the arguments of a launch.

use tile_ir::dtype::DType;

/// Why the arguments of a launch do not fit the kernel or one another.
///
/// Shapes stand in it as they are, so that both sides of a disagreement can be
/// read off the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// Two tensors disagree about a dimension that they share.
    #[error(
        "{first} is {first_shape:?}, {second} is {second_shape:?}: \
             {dim} is {first_extent} in {first} and {second_extent} in {second}"
    )]
    SharedDimension {
        /// The dimension.
        dim: String,
        /// The tensor that has it first in the signature.
        first: String,
        /// Its shape.
        first_shape: Vec<usize>,
        /// The dimension in it.
        first_extent: usize,
        /// The tensor that disagrees.
        second: String,
        /// Its shape.
        second_shape: Vec<usize>,
        /// The dimension in it.
        second_extent: usize,
    },
    /// One tensor has a dimension on two axes, with two extents.
    #[error(
        "{tensor} is {shape:?}: {dim} is {first_extent} on axis {first_axis} \
             and {second_extent} on axis {second_axis}"
    )]
    RepeatedDimension {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The dimension.
        dim: String,
        /// Where it stands first.
        first_axis: usize,
        /// The extent there.
        first_extent: usize,
        /// Where it stands again.
        second_axis: usize,
        /// The extent there.
        second_extent: usize,
    },
    /// Nothing can be measured of a kernel.
    #[error("`{kernel}` cannot be tuned: {reason}")]
    NotTunable {
        /// The kernel.
        kernel: String,
        /// Why.
        reason: &'static str,
    },
    /// An extent is not what the signature says.
    #[error("{tensor} is {shape:?}: axis {axis} is {found}, `{kernel}` declares {}",
        if where_.is_empty() { declared.clone() }
        else { format!("`{declared}`, which is {expected} for {where_}") })]
    Extent {
        /// The kernel.
        kernel: String,
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The axis.
        axis: usize,
        /// Its extent.
        found: usize,
        /// The extent in the signature, as written.
        declared: String,
        /// Its value.
        expected: i128,
        /// The names in it and their values, e.g. `N = 4`; empty where it is a number.
        where_: String,
    },
    /// An extent that is not an index.
    #[error("{tensor} is {shape:?}: an extent of more than 2^62 cannot be indexed")]
    ExtentTooLarge {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Dimensions of which a tensor cannot be.
    #[error("{tensor} of `{kernel}` would be {shape:?}, which takes more than 2^63 bytes")]
    TensorTooLarge {
        /// The kernel.
        kernel: String,
        /// The tensor.
        tensor: String,
        /// The shape that the dimensions make.
        shape: Vec<i128>,
    },
    /// More bytes of constants than constant memory holds.
    #[error(
        "the constants of `{kernel}` take {bytes} bytes ({constants}), constant memory holds {limit}\n\
             help: declare the largest, {largest}, as a `&Tensor<..>`"
    )]
    ConstantMemory {
        /// The kernel.
        kernel: String,
        /// Each constant with its bytes: `a: 40000, b: 30000`.
        constants: String,
        /// The constant that takes most.
        largest: String,
        /// Bytes of all.
        bytes: usize,
        /// Bytes that constant memory holds.
        limit: usize,
    },
    /// Tensors of two devices.
    #[error(
        "{first} is on {first_device}, {second} is on {second_device}: \
             the tensors of one launch are on one device\n\
             help: make {second} with `tensor` or `zeros` of the device of {first}"
    )]
    Devices {
        /// A tensor.
        first: String,
        /// Its device.
        first_device: String,
        /// Another tensor.
        second: String,
        /// Its device.
        second_device: String,
    },
    /// The stream belongs to another device.
    #[error(
        "the stream is of {stream_device}, {tensor} is on {tensor_device}\n\
             help: make the stream with `new_stream` of the tensors' device"
    )]
    Stream {
        /// The stream's device.
        stream_device: String,
        /// A tensor.
        tensor: String,
        /// Its device.
        tensor_device: String,
    },
    /// More blocks than a device launches.
    #[error(
        "`{kernel}` with {tiles} needs {blocks} blocks, {device} launches at most {most}\n\
             help: use larger tiles"
    )]
    TooManyBlocks {
        /// The kernel.
        kernel: String,
        /// The tile sizes.
        tiles: String,
        /// Blocks of the launch.
        blocks: u128,
        /// The device.
        device: String,
        /// Blocks that it launches at most.
        most: u64,
    },
    /// More work-items, or places of them, than a kernel numbers in 32 bits.
    #[error(
        "this launch of `{kernel}` has {items} work-items, or places of its grid's tiles, and the \
         kernel computes indices or conditions from 32-bit numbers of them, which admits {most}\n\
             help: leave out the `as` to 32 bits, or launch a part at a time"
    )]
    TooManyItems {
        /// The kernel.
        kernel: String,
        /// Work-items of the launch, over all blocks; or, if they are more, places in the
        /// pieces that the axes of its grid count.
        items: u128,
        /// Work-items, and places, that the kernel admits.
        most: u64,
    },
    /// A number of 32 or 64 bits that may wrap in this launch, and of which the proof that the
    /// kernel has no race says that it does not.
    #[error(
        "this launch of `{kernel}` may wrap `{number}` (line {line}), which is of `{dtype}`: it goes \
         from {low} to {high}\n\
             help: compute it of an `index`, without `as`, or launch a part at a time"
    )]
    NumberWraps {
        /// The kernel.
        kernel: String,
        /// The number, as the text has it.
        number: String,
        /// Its line.
        line: u32,
        /// Its type.
        dtype: DType,
        /// The least value that it may have in the launch.
        low: i128,
        /// The greatest.
        high: i128,
    },
    /// A tile size given by name that the given configuration contradicts.
    #[error(
        "the options of `{kernel}` give {tile} = {value}, their configuration has \
             {tile} = {configured}\nhelp: give one of the two"
    )]
    TwiceConfigured {
        /// The kernel.
        kernel: String,
        /// The tile parameter.
        tile: String,
        /// The value given by name.
        value: u32,
        /// The value in the configuration.
        configured: u32,
    },
    /// A kernel that no check has passed, elsewhere than where it is looked at.
    #[error(
        "`{kernel}` is `#[unsafe(unchecked)]`: it runs in checked launches on the CPU device, and not \
             on {device} like this\n\
             help: launch it on `Device::cpu()`, with `Options::checked(true)` or without"
    )]
    Unchecked {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
    },
    /// A number of values that is not the kernel's number of dimensions.
    #[error("`{kernel}` has {expected} dimensions ({names}), {found} values are given")]
    DimCount {
        /// The kernel.
        kernel: String,
        /// Its dimensions.
        names: String,
        /// How many they are.
        expected: usize,
        /// How many values there are.
        found: usize,
    },
    /// A scalar that a kernel does not have.
    #[error("`{kernel}` has no scalar `{name}`{}", if names.is_empty() { String::new() }
        else { format!(": its scalars are {names}") })]
    NoScalar {
        /// The kernel.
        kernel: String,
        /// The name.
        name: String,
        /// The scalars that it has.
        names: String,
    },
    /// A value that a scalar's type does not have.
    #[error("`{name}` of `{kernel}` is of type `{dtype}`, which has no {value}")]
    ScalarValue {
        /// The kernel.
        kernel: String,
        /// The scalar.
        name: String,
        /// Its type.
        dtype: &'static str,
        /// The value.
        value: String,
    },
    /// A launch whose cost cannot be computed beforehand.
    #[error("{reason}, so that it cannot be explained beforehand")]
    Unexplained {
        /// Why.
        reason: String,
    },
}
