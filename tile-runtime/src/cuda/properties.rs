//! A device's properties, from its driver.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, DriverError};
use tile_ir::device::{DeviceProperties, all_known, known};

use crate::tune::Clocks;

/// Reads the limits from the driver. What it does not tell is taken from the
/// table of known devices: the multiply-adds per clock, which go with the
/// compute capability, and the peak bandwidth, where the driver gives none.
pub(super) fn read_properties(cuda: &Arc<CudaContext>) -> Result<DeviceProperties, DriverError> {
    let get = |attribute| cuda.attribute(attribute).map(|value| u32::try_from(value).unwrap_or(0));
    let name = cuda.name()?;
    let compute_capability = (
        get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    let listed = known(&name);
    let relative = listed.clone().unwrap_or_else(|| nearest(compute_capability));
    let clock_khz = get(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?;
    let memory_clock_khz = get(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
    let bus_bits = get(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
    // Two transfers per clock on each line of the bus.
    let computed_bytes_per_s = 2.0 * f64::from(memory_clock_khz) * 1e3 * f64::from(bus_bits) / 8.0;
    let l2_bytes_per_clock = listed.as_ref().and_then(|device| device.l2_bytes_per_clock);
    let published = listed.map(|device| device.memory_bytes_per_s);
    let memory_bytes_per_s = published.unwrap_or(if computed_bytes_per_s > 0.0 {
        computed_bytes_per_s
    } else {
        relative.memory_bytes_per_s
    });
    Ok(DeviceProperties {
        name,
        compute_capability,
        sms: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        warp_size: get(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        max_threads_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_threads_per_sm: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        max_blocks_per_sm: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
        registers_per_sm: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        registers_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?,
        max_registers_per_thread: relative.max_registers_per_thread,
        shared_bytes_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        shared_bytes_per_block_optin: get(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        shared_bytes_per_sm: get(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?,
        shared_bytes_reserved_per_block: get(
            Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
        )?,
        l2_bytes: u64::from(get(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        l2_bytes_per_clock,
        memory_bytes: cuda.total_mem()? as u64,
        memory_bytes_per_s,
        clock_hz: if clock_khz > 0 { f64::from(clock_khz) * 1e3 } else { relative.clock_hz },
        f32_fma_per_clock_per_sm: relative.f32_fma_per_clock_per_sm,
        f64_fma_per_clock_per_sm: relative.f64_fma_per_clock_per_sm,
    })
}

/// The highest clocks that the driver lets the device run at; 0 where it does not tell.
pub(super) fn peak_clocks(cuda: &Arc<CudaContext>) -> Result<Clocks, DriverError> {
    let mhz = |attribute| Ok(u32::try_from(cuda.attribute(attribute)?).unwrap_or(0) / 1000);
    Ok(Clocks {
        sm_mhz: mhz(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        memory_mhz: mhz(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
    })
}

/// The known device of the nearest compute capability, the older of two.
fn nearest((major, minor): (u32, u32)) -> DeviceProperties {
    let number = |(major, minor): (u32, u32)| major * 10 + minor;
    let wanted = number((major, minor));
    let mut devices = all_known();
    devices.sort_by_key(|device| number(device.compute_capability).abs_diff(wanted));
    devices.swap_remove(0)
}
