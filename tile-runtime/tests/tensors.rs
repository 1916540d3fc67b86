//! Devices, tensors and streams on the CPU device.

use tile_runtime::{
    Constant, Device, Error, Kernel, Options, Stream, Tensor, TensorError, bf16, f16,
};

fn is_send_sync<T: Send + Sync>() {}

#[test]
fn handles_go_between_threads() {
    is_send_sync::<Device>();
    is_send_sync::<Stream>();
    is_send_sync::<Tensor<f32, 2>>();
    is_send_sync::<Tensor<bool, 1>>();
    is_send_sync::<Constant<f32, 2>>();
    is_send_sync::<Kernel>();
    is_send_sync::<Options>();
    is_send_sync::<Error>();
}

#[test]
fn what_goes_in_comes_out() {
    let device = Device::cpu();
    let values = [f16::from_f32(1.5), f16::NAN, f16::NEG_INFINITY];
    let bits = |values: &[f16]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let tensor = device.tensor([3], &values).unwrap();
    assert_eq!(bits(&tensor.to_vec().unwrap()), bits(&values));
    let flags = device.tensor([2, 2], &[true, false, false, true]).unwrap();
    assert_eq!(flags.to_vec().unwrap(), [true, false, false, true]);
    assert_eq!(flags.len(), 4);
    assert!(*flags.device() == device);
}

#[test]
fn a_length_that_is_not_the_shapes() {
    let device = Device::cpu();
    let error = device.tensor([2, 3], &[1.0f32; 5]).unwrap_err();
    assert_eq!(error.to_string(), "shape [2, 3] has 6 elements, the slice has 5");
    let mut tensor = device.zeros::<i32, 1>([4]).unwrap();
    let error = tensor.copy_from(&[1, 2, 3]).unwrap_err();
    assert_eq!(error.to_string(), "shape [4] has 4 elements, the slice has 3");
    tensor.copy_from(&[1, 2, 3, 4]).unwrap();
    assert_eq!(tensor.to_vec().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn tensors_without_elements() {
    let device = Device::cpu();
    let mut tensor = device.zeros::<f64, 3>([4, 0, 1 << 62]).unwrap();
    assert!(tensor.is_empty());
    assert_eq!(tensor.shape(), [4, 0, 1 << 62]);
    tensor.copy_from(&[]).unwrap();
    assert!(tensor.to_vec().unwrap().is_empty());
}

#[test]
fn a_shape_beyond_the_address_space() {
    let error = Device::cpu().zeros::<bf16, 2>([1 << 40, 1 << 40]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "shape [1099511627776, 1099511627776] of bf16 takes more than 2^63 bytes"
    );
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let error = Device::cpu().zeros::<u8, 1>([1 << 62]).unwrap_err();
    assert!(matches!(error, Error::Tensor(TensorError::OutOfMemory { .. })), "{error}");
    assert_eq!(error.to_string(), "CPU has no memory for 4611686018427387904 bytes");
}

#[test]
fn the_cpu_is_one_device() {
    assert!(Device::cpu() == Device::cpu());
    let all = Device::all();
    assert!(all.last() == Some(&Device::cpu()));
    assert_eq!(all.iter().filter(|device| device.is_cpu()).count(), 1);
    let stream = Device::cpu().new_stream().unwrap();
    assert!(*stream.device() == Device::cpu());
    stream.synchronize().unwrap();
    Device::cpu().synchronize().unwrap();
}

#[test]
fn constants_hold_64_kib() {
    let device = Device::cpu();
    let values: Vec<u16> = (0..32 << 10).map(|value| value as u16).collect();
    let table = device.constant([2, 16 << 10], &values).unwrap();
    assert_eq!(table.to_vec().unwrap(), values);
    assert_eq!((table.shape(), table.len(), table.is_empty()), ([2, 16 << 10], 32 << 10, false));
    assert!(*table.device() == device);
    assert_eq!(format!("{table:?}"), "Constant<u16, 2> [2, 16384] on CPU");
    let error = device.constant([(32 << 10) + 1], &[0u16; (32 << 10) + 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "shape [32769] of u16 takes 65538 bytes, constant memory holds 65536\n\
         help: make it with `tensor` and pass it as `&Tensor<u16, [..]>`"
    );
    let error = device.constant([3], &[1.0f32; 2]).unwrap_err();
    assert_eq!(error.to_string(), "shape [3] has 3 elements, the slice has 2");
    assert!(device.constant([0], &[0i8; 0]).unwrap().is_empty());
}
