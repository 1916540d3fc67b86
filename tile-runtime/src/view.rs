//! Views: a tensor's elements in other shapes and orders, without a copy.

use std::fmt;
use std::ops::{Deref, DerefMut, Range};

use crate::element::Element;
use crate::error::{Result, TensorError};
use crate::tensor::{Alias, Place, Tensor};

/// A tensor's elements in another shape or order, borrowed to be read: some of them,
/// every n-th, with axes exchanged, repeated along axes.
///
/// It stands wherever a `&Tensor` does, as a kernel's argument too. A kernel is
/// specialised on how the elements of its arguments lie: its loads run along the axis
/// that lies without gaps. Launches with views are not tuned; their tile sizes are
/// those that the device's properties suggest, or the ones that [`crate::Options`]
/// give.
///
/// # Examples
///
/// ```
/// use tile_runtime::{Device, tiled_kernel};
///
/// tiled_kernel! {
///     pub fn add(a: &Tensor<i32, [R, C]>, b: &Tensor<i32, [R, C]>, c: &mut Tensor<i32, [R, C]>)
///     where
///         tile: (TR, TC),
///         grid: (by in tiles(R, TR), bx in tiles(C, TC)),
///         block: (ty in TR, tx in TC),
///     {
///         c[by * TR + ty, bx * TC + tx] =
///             a[by * TR + ty, bx * TC + tx] + b[by * TR + ty, bx * TC + tx];
///     }
/// }
///
/// let dev = Device::cpu();
/// let a = dev.tensor([3, 2], &[1, 2, 3, 4, 5, 6])?;
/// let row = dev.tensor([3], &[10, 20, 30])?;
/// let mut c = dev.zeros([3, 3])?;
/// let rows = row.broadcast([2, 3])?;
/// // All rows of `c` but the first.
/// let mut part = c.slice_mut([1..3, 0..3])?;
/// add::launch(&a.transposed(), &rows, &mut part)?;
/// drop(part);
/// assert_eq!(c.to_vec()?, [0, 0, 0, 11, 23, 35, 12, 24, 36]);
/// # Ok::<(), tile_runtime::Error>(())
/// ```
pub struct View<'a, T: Element, const R: usize>(Alias<'a, T, R>);

/// A tensor's elements in another shape or order, borrowed to be written too: some of
/// them, every n-th, with axes exchanged; no element twice.
///
/// It stands wherever a `&mut Tensor` does. While it lives the tensor itself is out of
/// reach; if it is forgotten ([`std::mem::forget`]), the tensor stays without elements.
pub struct ViewMut<'a, T: Element, const R: usize> {
    /// Has the array while this lives.
    part: Tensor<T, R>,
    /// Has no elements while this lives.
    whole: &'a mut Tensor<T, R>,
    /// What that had, of an array of so many elements.
    had: ([usize; R], Place<R>),
    array_elems: usize,
}

impl<T: Element, const R: usize> Tensor<T, R> {
    /// All elements as they are.
    pub fn view(&self) -> View<'_, T, R> {
        View(self.alias(self.shape(), *self.place()))
    }

    /// The axes in reverse order: of a matrix the transpose.
    pub fn transposed(&self) -> View<'_, T, R> {
        self.view().transposed()
    }

    /// Axis `axes[n]` as the n-th one.
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where `axes` does not name each axis once.
    pub fn permuted(&self, axes: [usize; R]) -> Result<View<'_, T, R>> {
        self.view().permuted(axes)
    }

    /// The elements whose index along each axis is in the range of that axis.
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where a range leaves the tensor.
    pub fn slice(&self, ranges: [Range<usize>; R]) -> Result<View<'_, T, R>> {
        self.view().slice(ranges)
    }

    /// Every `steps[n]`-th element along the n-th axis, the first one included.
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where a step is 0.
    pub fn stepped(&self, steps: [usize; R]) -> Result<View<'_, T, R>> {
        self.view().stepped(steps)
    }

    /// The elements repeated to a larger shape: the last axes are those of the tensor,
    /// of the same extent or of extent 1; along these, and along the axes before, the
    /// elements repeat.
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where the shape is no such one.
    pub fn broadcast<const S: usize>(&self, shape: [usize; S]) -> Result<View<'_, T, S>> {
        self.view().broadcast(shape)
    }

    /// All elements as they are, to be written.
    pub fn view_mut(&mut self) -> ViewMut<'_, T, R> {
        let (had, array_elems) = ((self.shape(), *self.place()), self.array_elems());
        ViewMut { part: self.lend(), whole: self, had, array_elems }
    }

    /// [`Tensor::transposed`], to be written.
    pub fn transposed_mut(&mut self) -> ViewMut<'_, T, R> {
        self.view_mut().transposed()
    }

    /// [`Tensor::permuted`], to be written.
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where `axes` does not name each axis once.
    pub fn permuted_mut(&mut self, axes: [usize; R]) -> Result<ViewMut<'_, T, R>> {
        self.view_mut().permuted(axes)
    }

    /// [`Tensor::slice`], to be written.
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where a range leaves the tensor.
    pub fn slice_mut(&mut self, ranges: [Range<usize>; R]) -> Result<ViewMut<'_, T, R>> {
        self.view_mut().slice(ranges)
    }

    /// [`Tensor::stepped`], to be written.
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where a step is 0.
    pub fn stepped_mut(&mut self, steps: [usize; R]) -> Result<ViewMut<'_, T, R>> {
        self.view_mut().stepped(steps)
    }
}

impl<'a, T: Element, const R: usize> View<'a, T, R> {
    /// Likewise, of the view's elements; see [`Tensor::transposed`].
    #[must_use]
    pub fn transposed(self) -> Self {
        let (shape, place) = transposed(&self);
        self.at(shape, place)
    }

    /// Likewise, of the view's elements; see [`Tensor::permuted`].
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where `axes` does not name each axis once.
    pub fn permuted(self, axes: [usize; R]) -> Result<Self> {
        let (shape, place) = permuted(&self, axes)?;
        Ok(self.at(shape, place))
    }

    /// Likewise, of the view's elements; see [`Tensor::slice`].
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where a range leaves the view.
    pub fn slice(self, ranges: [Range<usize>; R]) -> Result<Self> {
        let (shape, place) = sliced(&self, &ranges)?;
        Ok(self.at(shape, place))
    }

    /// Likewise, of the view's elements; see [`Tensor::stepped`].
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where a step is 0.
    pub fn stepped(self, steps: [usize; R]) -> Result<Self> {
        let (shape, place) = stepped(&self, steps)?;
        Ok(self.at(shape, place))
    }

    /// Likewise, of the view's elements; see [`Tensor::broadcast`].
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where the shape is no such one.
    pub fn broadcast<const S: usize>(self, shape: [usize; S]) -> Result<View<'a, T, S>> {
        const { assert!(S >= 1 && S <= 6, "a tensor has 1 to 6 axes") };
        let (own, place) = (self.shape(), *self.place());
        let mut strides = [0; S];
        let fits = S >= R
            && (0..R).all(|axis| {
                let to = axis + S - R;
                if own[axis] == shape[to] {
                    strides[to] = place.strides[axis];
                }
                own[axis] == shape[to] || own[axis] == 1
            });
        let n_elems = shape.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
        if !fits || n_elems.is_none() {
            let why = "an axis has its own extent, or 1, or is a new one before the others";
            return Err(no_view(&self, format!("of shape {shape:?}"), why));
        }
        Ok(self.at(shape, Place { offset_elems: place.offset_elems, strides, is_whole: false }))
    }

    /// Other elements of the same array.
    fn at<const S: usize>(self, shape: [usize; S], place: Place<S>) -> View<'a, T, S> {
        View(self.0.again(shape, place.normal(shape, self.array_elems())))
    }
}

impl<T: Element, const R: usize> ViewMut<'_, T, R> {
    /// Likewise, of the view's elements; see [`Tensor::transposed`].
    #[must_use]
    pub fn transposed(self) -> Self {
        let (shape, place) = transposed(&self);
        self.at(shape, place)
    }

    /// Likewise, of the view's elements; see [`Tensor::permuted`].
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where `axes` does not name each axis once.
    pub fn permuted(self, axes: [usize; R]) -> Result<Self> {
        let (shape, place) = permuted(&self, axes)?;
        Ok(self.at(shape, place))
    }

    /// Likewise, of the view's elements; see [`Tensor::slice`].
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where a range leaves the view.
    pub fn slice(self, ranges: [Range<usize>; R]) -> Result<Self> {
        let (shape, place) = sliced(&self, &ranges)?;
        Ok(self.at(shape, place))
    }

    /// Likewise, of the view's elements; see [`Tensor::stepped`].
    ///
    /// # Errors
    ///
    /// [`TensorError::View`] where a step is 0.
    pub fn stepped(self, steps: [usize; R]) -> Result<Self> {
        let (shape, place) = stepped(&self, steps)?;
        Ok(self.at(shape, place))
    }

    fn at(mut self, shape: [usize; R], place: Place<R>) -> Self {
        let place = place.normal(shape, self.part.array_elems());
        self.part.set_place(shape, place);
        self
    }
}

impl<T: Element, const R: usize> Drop for ViewMut<'_, T, R> {
    fn drop(&mut self) {
        self.whole.take_back(&mut self.part, self.had, self.array_elems);
    }
}

fn transposed<T: Element, const R: usize>(of: &Tensor<T, R>) -> ([usize; R], Place<R>) {
    let (mut shape, mut place) = (of.shape(), *of.place());
    shape.reverse();
    place.strides.reverse();
    (shape, place)
}

fn permuted<T: Element, const R: usize>(
    of: &Tensor<T, R>,
    axes: [usize; R],
) -> Result<([usize; R], Place<R>)> {
    if (0..R).any(|axis| !axes.contains(&axis)) {
        let why = format!("each of its {R} axes is named once");
        return Err(no_view(of, format!("with the axes {axes:?}"), why));
    }
    let (shape, place) = (of.shape(), *of.place());
    let strides = axes.map(|axis| place.strides[axis]);
    Ok((axes.map(|axis| shape[axis]), Place { strides, ..place }))
}

fn sliced<T: Element, const R: usize>(
    of: &Tensor<T, R>,
    ranges: &[Range<usize>; R],
) -> Result<([usize; R], Place<R>)> {
    let (mut shape, mut place) = (of.shape(), *of.place());
    for (axis, range) in ranges.iter().enumerate() {
        if range.start > range.end || range.end > shape[axis] {
            let why = format!("axis {axis} has {} elements", shape[axis]);
            return Err(no_view(of, format!("of the elements {ranges:?}"), why));
        }
        shape[axis] = range.end - range.start;
        place.offset_elems += range.start * place.strides[axis];
    }
    Ok((shape, place))
}

fn stepped<T: Element, const R: usize>(
    of: &Tensor<T, R>,
    steps: [usize; R],
) -> Result<([usize; R], Place<R>)> {
    if steps.contains(&0) {
        return Err(no_view(of, format!("in steps of {steps:?}"), "a step is at least 1"));
    }
    let (mut shape, mut place) = (of.shape(), *of.place());
    for (axis, step) in steps.into_iter().enumerate() {
        shape[axis] = shape[axis].div_ceil(step);
        place.strides[axis] = place.strides[axis].saturating_mul(step);
    }
    Ok((shape, place))
}

fn no_view<T: Element, const R: usize>(
    of: &Tensor<T, R>,
    view: String,
    why: impl Into<String>,
) -> crate::Error {
    TensorError::View { shape: of.shape().to_vec(), view, why: why.into() }.into()
}

impl<T: Element, const R: usize> Deref for View<'_, T, R> {
    type Target = Tensor<T, R>;

    fn deref(&self) -> &Tensor<T, R> {
        self.0.tensor()
    }
}

impl<T: Element, const R: usize> Deref for ViewMut<'_, T, R> {
    type Target = Tensor<T, R>;

    fn deref(&self) -> &Tensor<T, R> {
        &self.part
    }
}

impl<T: Element, const R: usize> DerefMut for ViewMut<'_, T, R> {
    fn deref_mut(&mut self) -> &mut Tensor<T, R> {
        &mut self.part
    }
}

impl<T: Element, const R: usize> fmt::Debug for View<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, strides) = (self.shape(), self.strides());
        write!(f, "View<{}, {R}> {shape:?}, strides {strides:?}, on {}", T::DTYPE, self.device())
    }
}

impl<T: Element, const R: usize> fmt::Debug for ViewMut<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, strides) = (self.shape(), self.strides());
        write!(f, "ViewMut<{}, {R}> {shape:?}, strides {strides:?}, on {}", T::DTYPE, self.device())
    }
}
