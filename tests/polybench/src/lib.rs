//! The kernels of PolyBench/GPU (Grauer-Gray, Xu, Searles, Ayalasomayajula and Cavazos,
//! "Auto-tuning a high-level language targeted to GPU codes", InPar 2012), written from
//! what they compute: kernels that this language was not made for. Each is compared with
//! plain loops in `f64`.

pub mod atax;
pub mod bicg;
pub mod conv2d;
pub mod conv3d;
pub mod correlation;
pub mod covariance;
pub mod fdtd2d;
pub mod gemm;
pub mod gesummv;
pub mod gramschmidt;
pub mod mm2;
pub mod mm3;
pub mod mvt;
mod reference;
pub mod syr2k;
pub mod syrk;
pub mod vectors;

use tile_examples::frame::Entry;

/// All of them, in the order of their names.
pub fn all() -> Vec<Entry> {
    vec![
        conv2d::ENTRY,
        mm2::ENTRY,
        conv3d::ENTRY,
        mm3::ENTRY,
        atax::ENTRY,
        bicg::ENTRY,
        correlation::ENTRY,
        covariance::ENTRY,
        fdtd2d::ENTRY,
        gemm::ENTRY,
        gesummv::ENTRY,
        gramschmidt::ENTRY,
        mvt::ENTRY,
        syr2k::ENTRY,
        syrk::ENTRY,
    ]
}
