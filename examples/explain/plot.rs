//! The roofline as a picture: what a launch can reach at most for what it asks of each
//! memory, and what is expected of it.
//!
//! A round point stands over the global-memory traffic of a launch, one for each tile size;
//! the squares beside that of the report's launch, at its height and in the colours of the
//! roofs, over what it moves of DRAM and of shared memory.

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Color as _, DrawingArea, EmptyElement, IntoDrawingArea as _,
    IntoFont as _, IntoLogRange as _, LineSeries, PathElement, RGBColor, Rectangle, SVGBackend,
    Text, WHITE,
};
use plotters::style::ShapeStyle;
use tile_runtime::ir::explain::roofline::Level;
use tile_runtime::{DeviceProperties, Report};

type Error = Box<dyn std::error::Error>;

const SIZE: (u32, u32) = (960, 640);
/// How far the picture goes beyond the highest roof: room for the key.
const TOP: f64 = 12.0;
const FONT: &str = "sans-serif";
const DRAM: RGBColor = RGBColor(0, 90, 160);
const L2: RGBColor = RGBColor(0, 130, 90);
const SHARED: RGBColor = RGBColor(150, 90, 0);
const POINT: RGBColor = RGBColor(190, 30, 45);

/// A launch in the picture.
struct Point {
    label: String,
    intensity: f64,
    flops_per_s: f64,
}

/// The picture of a report, beside those of other tile sizes.
///
/// # Errors
///
/// Where it cannot be drawn, or the kernel has no floating-point operations.
pub(crate) fn roofline(
    device: &DeviceProperties,
    report: &Report,
    others: &[(u32, Report)],
) -> Result<String, Error> {
    if report.work.flops == 0 {
        return Err("a roofline is of floating-point operations; this kernel has none".into());
    }
    let sizes: Vec<String> =
        report.tiles.iter().map(|tile| format!("{} = {}", tile.name, tile.value)).collect();
    let mut points = vec![point(report, sizes.join(", "))];
    points.extend(others.iter().map(|(size, report)| point(report, format!("tiles of {size}"))));
    let points = merged(points);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    draw(&area, device, report, &points)?;
    area.present()?;
    drop(area);
    Ok(text)
}

fn point(report: &Report, label: String) -> Point {
    Point {
        label,
        intensity: report.work.flops as f64 / report.work.sector_bytes.max(1) as f64,
        flops_per_s: report.work.flops as f64 / report.roofline.predicted_seconds,
    }
}

/// Points at one place are one, with all their labels.
fn merged(points: Vec<Point>) -> Vec<Point> {
    const NEAR: f64 = 0.02;
    let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < NEAR;
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        let same = kept.iter_mut().find(|known| {
            is_near(known.intensity, point.intensity)
                && is_near(known.flops_per_s, point.flops_per_s)
        });
        match same {
            Some(known) => known.label = format!("{}; {}", known.label, point.label),
            None => kept.push(point),
        }
    }
    kept
}

/// A roof that rises with the intensity.
struct Slope {
    level: Level,
    bytes_per_s: f64,
    color: RGBColor,
}

fn draw(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    device: &DeviceProperties,
    report: &Report,
    points: &[Point],
) -> Result<(), Error> {
    let peak = device.peak_f32_flops();
    let slopes = [
        Some((Level::Dram, device.memory_bytes_per_s, DRAM)),
        device.peak_l2_bytes_per_s().map(|rate| (Level::L2, rate, L2)),
        Some((Level::Shared, device.peak_shared_bytes_per_s(), SHARED)),
    ];
    let slopes: Vec<Slope> = slopes
        .into_iter()
        .flatten()
        .map(|(level, bytes_per_s, color)| Slope { level, bytes_per_s, color })
        .collect();
    let ridge = peak / device.memory_bytes_per_s;
    let least = points.iter().map(|point| point.intensity).fold(0.05, f64::min) / 2.0;
    let most = points.iter().map(|point| point.intensity).fold(ridge, f64::max);
    let most = report.roofline.intensity(Level::Dram).map_or(most, |own| own.max(most)) * 8.0;
    let low = points.iter().map(|point| point.flops_per_s).fold(f64::INFINITY, f64::min);
    let low = low.min(least * 4.0 * device.memory_bytes_per_s) / 2.0;
    area.fill(&WHITE)?;
    let dims: Vec<String> =
        report.dims.iter().map(|dim| format!("{} = {}", dim.name, dim.value)).collect();
    let title = format!("{} on {}, {}", report.kernel, device.name, dims.join(", "));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 20))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(84)
        .build_cartesian_2d((least..most).log_scale(), (low..peak * TOP).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("floating-point operations per byte of a memory's traffic (FLOP/B)")
        .y_desc("rate (FLOP/s)")
        .x_label_formatter(&|value| digits(*value))
        .y_label_formatter(&|value| scaled(*value))
        .light_line_style(BLACK.mix(0.05))
        .bold_line_style(BLACK.mix(0.15))
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 15))
        .draw()?;
    for Slope { bytes_per_s, color, .. } in &slopes {
        let start = least.max(low / bytes_per_s);
        let line = [(start, start * bytes_per_s), (peak / bytes_per_s, peak)];
        let style = ShapeStyle::from(color).stroke_width(2);
        chart.draw_series(LineSeries::new(line, style))?;
    }
    let flat = slopes.iter().map(|slope| peak / slope.bytes_per_s).fold(ridge, f64::min);
    let style = ShapeStyle::from(&BLACK).stroke_width(2);
    chart.draw_series(LineSeries::new([(flat, peak), (most, peak)], style))?;
    for Slope { level, color, .. } in slopes.iter().filter(|slope| slope.level != Level::L2) {
        let height = points[0].flops_per_s;
        let at = report.roofline.intensity(*level).map(|intensity| (intensity, height));
        let style = ShapeStyle::from(color).filled();
        let square = |at| EmptyElement::at(at) + Rectangle::new([(-4, -4), (4, 4)], style);
        chart.draw_series(at.map(square))?;
    }
    for point in points {
        let at = (point.intensity, point.flops_per_s);
        let style = ShapeStyle::from(&POINT).filled();
        chart.draw_series([Circle::new(at, 5, style)])?;
    }
    // Labels are placed in pixels, where they are known not to meet.
    let place = |at: (f64, f64)| chart.backend_coord(&at);
    let roof = place((most, peak));
    let text = format!("arithmetic {}", scaled(peak));
    area.draw(&Text::new(text, (roof.0 - 190, roof.1 - 18), (FONT, 14).into_font()))?;
    draw_key(area, &slopes, place((least, peak * TOP)))?;
    let places: Vec<(i32, i32)> =
        points.iter().map(|point| place((point.intensity, point.flops_per_s))).collect();
    draw_labels(area, points, &places)
}

/// What each slope is, in the upper left corner.
fn draw_key(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    slopes: &[Slope],
    corner: (i32, i32),
) -> Result<(), Error> {
    const LINE: i32 = 20;
    for (row, Slope { level, bytes_per_s, color }) in (0..).zip(slopes) {
        let (x, y) = (corner.0 + 14, corner.1 + 14 + row * LINE);
        let style = ShapeStyle::from(color).stroke_width(2);
        area.draw(&PathElement::new([(x, y), (x + 24, y)], style))?;
        let text = format!("{} {}", level.text(), scaled(*bytes_per_s).replace("FLOP", "B"));
        area.draw(&Text::new(text, (x + 32, y - 7), (FONT, 14).into_font()))?;
    }
    let (x, y) = (corner.0 + 26, corner.1 + 14 + slopes.len() as i32 * LINE);
    area.draw(&Circle::new((x, y), 5, ShapeStyle::from(&POINT).filled()))?;
    let text = "a launch, over what it moves of global memory through L2";
    area.draw(&Text::new(text, (x + 20, y - 7), (FONT, 14).into_font()))?;
    area.draw(&Rectangle::new(
        [(x - 4, y + 16), (x + 4, y + 24)],
        ShapeStyle::from(&DRAM).filled(),
    ))?;
    let text = "the first of them over what it moves of DRAM and of shared memory";
    area.draw(&Text::new(text, (x + 20, y + 13), (FONT, 14).into_font()))?;
    Ok(())
}

/// Writes each point's label to its right, or as far below or above as it takes to keep
/// it from the others.
fn draw_labels(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    points: &[Point],
    places: &[(i32, i32)],
) -> Result<(), Error> {
    const HEIGHT: i32 = 16;
    const GAP: i32 = 10;
    let mut taken: Vec<(i32, i32, i32)> =
        places.iter().map(|(x, y)| (x - 6, x + 6, y - HEIGHT / 2)).collect();
    for (point, &(x, y)) in points.iter().zip(places) {
        let font = (FONT, 14).into_font();
        let width = font.box_size(&point.label).map_or(120, |(width, _)| width.cast_signed() + 8);
        let is_free = |x: i32, y: i32, taken: &[(i32, i32, i32)]| {
            taken.iter().all(|(left, right, top)| {
                x > *right || x + width < *left || (y - top).abs() >= HEIGHT
            })
        };
        let right = (x + GAP).min(SIZE.0.cast_signed() - width - GAP);
        let offsets = (0..20).flat_map(|step| [step * 4, -step * 4]);
        let offset = offsets.into_iter().find(|offset| is_free(right, y - 8 + offset, &taken));
        let top = y - 8 + offset.unwrap_or(0);
        taken.push((right, right + width, top));
        area.draw(&Text::new(point.label.clone(), (right, top), font.color(&POINT)))?;
    }
    Ok(())
}

fn digits(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}") } else { format!("{value}") }
}

fn scaled(value: f64) -> String {
    let (factor, prefix) = match value {
        value if value >= 1e12 => (1e12, "T"),
        value if value >= 1e9 => (1e9, "G"),
        value if value >= 1e6 => (1e6, "M"),
        _ => (1.0, ""),
    };
    let number = value / factor;
    let text = if number >= 99.5 { format!("{number:.0}") } else { format!("{number:.1}") };
    format!("{} {prefix}FLOP/s", text.trim_end_matches(".0"))
}
