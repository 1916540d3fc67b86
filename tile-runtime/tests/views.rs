//! Views of tensors on the CPU device: which elements they have, and which there are
//! none of.

use tile_runtime::{Device, Tensor, View};

fn is_send_sync<T: Send + Sync>() {}

fn matrix() -> Tensor<i32, 2> {
    Device::cpu().tensor([2, 3], &[1, 2, 3, 4, 5, 6]).unwrap()
}

#[test]
fn views_go_between_threads() {
    is_send_sync::<View<'_, f32, 2>>();
    is_send_sync::<View<'_, bool, 1>>();
}

#[test]
fn elements_in_order() {
    let a = matrix();
    assert_eq!(a.strides(), [3, 1]);
    let turned = a.transposed();
    assert_eq!((turned.shape(), turned.strides()), ([3, 2], [1, 3]));
    assert_eq!(turned.to_vec().unwrap(), [1, 4, 2, 5, 3, 6]);
    assert_eq!(turned.transposed().to_vec().unwrap(), [1, 2, 3, 4, 5, 6]);
    let part = a.slice([0..2, 1..3]).unwrap();
    assert_eq!(part.to_vec().unwrap(), [2, 3, 5, 6]);
    assert_eq!(part.transposed().slice([1..2, 0..2]).unwrap().to_vec().unwrap(), [3, 6]);
    assert_eq!(a.stepped([2, 2]).unwrap().to_vec().unwrap(), [1, 3]);
    assert_eq!(a.permuted([1, 0]).unwrap().to_vec().unwrap(), [1, 4, 2, 5, 3, 6]);
    let column = a.slice([0..2, 1..2]).unwrap().broadcast([2, 2]).unwrap();
    assert_eq!(column.to_vec().unwrap(), [2, 2, 5, 5]);
    let twice = a.broadcast([2, 2, 3]).unwrap();
    assert_eq!(twice.to_vec().unwrap(), [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
    assert!(a.slice([1..1, 0..3]).unwrap().to_vec().unwrap().is_empty());
    assert!(a.slice([2..2, 3..3]).unwrap().is_empty());
    assert_eq!(format!("{:?}", a.transposed()), "View<i32, 2> [3, 2], strides [1, 3], on CPU");
}

#[test]
fn views_that_there_are_not() {
    let a = matrix();
    let errors = [
        a.slice([0..3, 0..1]).unwrap_err(),
        a.permuted([0, 0]).unwrap_err(),
        a.stepped([1, 0]).unwrap_err(),
        a.broadcast([4, 3]).unwrap_err(),
        a.broadcast([3]).unwrap_err(),
    ];
    assert_eq!(
        errors.map(|error| error.to_string()),
        [
            "a tensor of shape [2, 3] has no view of the elements [0..3, 0..1]: axis 0 has 2 elements",
            "a tensor of shape [2, 3] has no view with the axes [0, 0]: each of its 2 axes is named once",
            "a tensor of shape [2, 3] has no view in steps of [1, 0]: a step is at least 1",
            "a tensor of shape [2, 3] has no view of shape [4, 3]: an axis has its own extent, or 1, or is a new one before the others",
            "a tensor of shape [2, 3] has no view of shape [3]: an axis has its own extent, or 1, or is a new one before the others",
        ]
    );
}

#[test]
fn views_that_are_written() {
    let mut a = matrix();
    a.slice_mut([0..2, 1..3]).unwrap().copy_from(&[20, 30, 50, 60]).unwrap();
    assert_eq!(a.to_vec().unwrap(), [1, 20, 30, 4, 50, 60]);
    a.transposed_mut().slice([0..1, 0..2]).unwrap().copy_from(&[7, 8]).unwrap();
    assert_eq!(a.to_vec().unwrap(), [7, 20, 30, 8, 50, 60]);
    a.stepped_mut([1, 2]).unwrap().stepped_mut([2, 1]).unwrap().copy_from(&[0, 1]).unwrap();
    assert_eq!(a.to_vec().unwrap(), [0, 20, 1, 8, 50, 60]);
    assert!(a.slice_mut([0..3, 0..1]).is_err());
    assert!(a.permuted_mut([1, 1]).is_err());
    assert_eq!(a.permuted_mut([1, 0]).unwrap().to_vec().unwrap(), [0, 8, 20, 50, 1, 60]);
    assert_eq!((a.shape(), a.strides()), ([2, 3], [3, 1]));
}

#[test]
fn a_tensor_gets_back_what_fits() {
    let dev = Device::cpu();
    let mut a = matrix();
    // Another tensor with as many elements in the view's place.
    *a.transposed_mut() = dev.tensor([3, 2], &[6, 5, 4, 3, 2, 1]).unwrap();
    assert_eq!((a.shape(), a.to_vec().unwrap()), ([2, 3], vec![6, 5, 4, 3, 2, 1]));
    // One with others cannot have the tensor's elements.
    *a.transposed_mut() = dev.tensor([1, 1], &[9]).unwrap();
    assert!(a.is_empty());
    let mut b = matrix();
    std::mem::forget(b.slice_mut([0..1, 0..1]).unwrap());
    assert!(b.to_vec().unwrap().is_empty());
    let mut c = matrix();
    let part = std::mem::replace(&mut *c.slice_mut([0..2, 0..2]).unwrap(), matrix());
    assert_eq!(part.to_vec().unwrap(), [1, 2, 4, 5]);
    let error = part.into_shape([4]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a tensor of shape [2, 2] has no view of shape [4]: its elements do not lie one after the other"
    );
}
