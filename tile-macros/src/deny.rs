//! `#[deny(bank_conflicts, device = "H200", T = f32, N = 4096)]`: findings of a launch
//! that are errors of its kernel.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use tile_ir::check::CheckedKernel;
use tile_ir::config::with_tiles;
use tile_ir::device::known;
use tile_ir::dtype::DType;
use tile_ir::explain::count::Limits;
use tile_ir::explain::{Question, Rule, findings};
use tile_ir::kernel::{Kernel, ScalarId, VarKind};
use tile_ir::value::ScalarValue;
use tile_syntax::ParsedKernel;

use crate::report::{write_attribute_error, write_denied};

/// One such attribute.
#[derive(Debug)]
pub(crate) struct Denial {
    /// What is denied.
    rules: Vec<Rule>,
    /// The launch that is looked at: a device, types, dimensions, tile sizes, scalars.
    values: Vec<(Ident, TokenTree)>,
    /// Where it stands.
    span: Span,
}

impl Denial {
    /// Of the entries of an attribute, those that are for this macro, and the others;
    /// nothing where there are none.
    pub(crate) fn split(entries: Vec<TokenStream>, span: Span) -> Option<(Self, Vec<TokenStream>)> {
        let rule_of = |entry: &TokenStream| Rule::from_name(&entry.to_string());
        if !entries.iter().any(|entry| rule_of(entry).is_some()) {
            return None;
        }
        let mut denial = Self { rules: Vec::new(), values: Vec::new(), span };
        let mut others = Vec::new();
        for entry in entries {
            match (rule_of(&entry), value_of(&entry)) {
                (Some(rule), _) => denial.rules.push(rule),
                (None, Some((name, _))) if name == "reason" => {}
                (None, Some(value)) => denial.values.push(value),
                (None, None) => others.push(entry),
            }
        }
        Some((denial, others))
    }
}

/// `name = value`
fn value_of(entry: &TokenStream) -> Option<(Ident, TokenTree)> {
    let mut trees = entry.clone().into_iter();
    match (trees.next(), trees.next(), trees.next(), trees.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(sign)), Some(value), None)
            if sign.as_char() == '=' =>
        {
            Some((name, value))
        }
        _ => None,
    }
}

/// The errors of a kernel's launches that have what is denied.
pub(crate) fn check_denials(
    kernel: &ParsedKernel,
    checked: &CheckedKernel,
    denials: &[Denial],
) -> TokenStream {
    denials.iter().map(|denial| check_denial(kernel, checked, denial)).collect()
}

fn check_denial(kernel: &ParsedKernel, checked: &CheckedKernel, denial: &Denial) -> TokenStream {
    let found = launch_of(checked.kernel(), denial).and_then(|launch| {
        let failed = |error: String| Mistake { at: denial.span, text: error, help: None };
        let tiles: Vec<(&str, u32)> =
            launch.tiles.iter().map(|(name, size)| (name.as_str(), *size)).collect();
        let config = with_tiles(checked, &launch.types, &launch.device, &launch.dims, &tiles)
            .map_err(|error| failed(error.to_string()))?;
        let question = Question {
            kernel: checked,
            types: &launch.types,
            dims: &launch.dims,
            scalars: &launch.scalars,
            device: &launch.device,
            config: &config,
            registers: None,
            limits: Limits::BRIEF,
            rules: &denial.rules,
        };
        let found = findings(&question).map_err(|error| failed(error.to_string()))?;
        let device = launch.device.name.clone();
        Ok((found, device, config.describe_tiles(checked.kernel())))
    });
    match found {
        Err(mistake) => write_attribute_error(mistake.at, &mistake.text, mistake.help.as_deref()),
        Ok((found, device, tiles)) => {
            let launch = match tiles.as_str() {
                "" => format!("on {device}"),
                tiles => format!("on {device} with {tiles}"),
            };
            found.iter().map(|finding| write_denied(finding, &launch, kernel)).collect()
        }
    }
}

/// What is wrong with an attribute.
struct Mistake {
    at: Span,
    text: String,
    help: Option<String>,
}

/// The launch that an attribute speaks of.
struct Launch {
    device: tile_ir::device::DeviceProperties,
    types: Vec<DType>,
    dims: Vec<u64>,
    scalars: Vec<(ScalarId, ScalarValue)>,
    tiles: Vec<(String, u32)>,
}

fn launch_of(kernel: &Kernel, denial: &Denial) -> Result<Launch, Mistake> {
    let mut device = None;
    let mut types = vec![None; kernel.type_params.len()];
    let dim_names: Vec<&str> = kernel
        .vars
        .values()
        .filter(|var| var.kind == VarKind::Dim)
        .map(|var| var.name.as_str())
        .collect();
    let mut dims = vec![None; dim_names.len()];
    let (mut tiles, mut scalars) = (Vec::new(), Vec::new());
    for (name, value) in &denial.values {
        let text = name.to_string();
        let at = value.span();
        let type_place = kernel.type_params.values().position(|param| param.name == text);
        let dim_place = dim_names.iter().position(|dim| *dim == text);
        let wrong = |text: String| Mistake { at, text, help: None };
        if text == "device" {
            let spelled = value.to_string();
            let spelled = spelled.trim_matches('"');
            let found = known(spelled);
            device = Some(found.ok_or_else(|| Mistake {
                at,
                text: format!("the device `{spelled}` is not known"),
                help: Some("names such as \"H200\", \"A100\", \"RTX 4090\" are".to_owned()),
            })?);
        } else if let Some(place) = type_place {
            let dtype = DType::from_name(&value.to_string());
            let dtype = dtype.ok_or_else(|| wrong(format!("`{value}` is not a scalar type")))?;
            types[place] = Some(dtype);
        } else if let Some(place) = dim_place {
            let number = number(value).ok_or_else(|| wrong(format!("`{value}` is no extent")))?;
            dims[place] = Some(number);
        } else if kernel.tile_params.values().any(|param| param.name == text) {
            let size = number(value).and_then(|size| u32::try_from(size).ok());
            tiles.push((text, size.ok_or_else(|| wrong(format!("`{value}` is no tile size")))?));
        } else if let Some(id) = scalar_of(kernel, &text) {
            scalars.push((id, value));
        } else {
            return Err(Mistake {
                at: name.span(),
                text: format!(
                    "`{}` has no type parameter, dimension, tile parameter or scalar `{text}`",
                    kernel.name
                ),
                help: None,
            });
        }
    }
    let lacking = |what: &str, example: &str| Mistake {
        at: denial.span,
        text: format!("which launch of `{}` is meant? {what} is not said", kernel.name),
        help: Some(format!("add `{example}`")),
    };
    let device = device.ok_or_else(|| lacking("the device", "device = \"H200\""))?;
    let types = kernel.type_params.values().zip(types).map(|(param, found)| {
        found.ok_or_else(|| lacking(&format!("`{}`", param.name), &format!("{} = f32", param.name)))
    });
    let types: Vec<DType> = types.collect::<Result<_, _>>()?;
    let scalars = scalars.into_iter().map(|(id, value)| {
        let found = kernel.scalars[id].elem.bind(&types).and_then(|dtype| scalar(value, dtype));
        let found = found.ok_or_else(|| {
            let text = format!("`{value}` is no value of `{}`", kernel.scalars[id].name);
            Mistake { at: value.span(), text, help: None }
        })?;
        Ok((id, found))
    });
    let scalars = scalars.collect::<Result<_, _>>()?;
    let dims = dim_names.iter().zip(dims).map(|(name, found)| {
        found.ok_or_else(|| lacking(&format!("`{name}`"), &format!("{name} = 4096")))
    });
    Ok(Launch { device, types, dims: dims.collect::<Result<_, _>>()?, scalars, tiles })
}

fn scalar_of(kernel: &Kernel, name: &str) -> Option<ScalarId> {
    kernel.scalars.iter().find(|(_, scalar)| scalar.name == name).map(|(id, _)| id)
}

/// The value of a scalar, as far as a token says it: `true`, or a number without a sign.
fn scalar(value: &TokenTree, dtype: DType) -> Option<ScalarValue> {
    let text = value.to_string();
    let found = match (text.as_str(), number(value)) {
        ("true" | "false", _) => {
            ScalarValue { dtype: DType::Bool, bits: u64::from(text == "true") }
        }
        (_, Some(bits)) => ScalarValue { dtype: DType::U64, bits },
        (text, None) => {
            ScalarValue { dtype: DType::F64, bits: text.parse::<f64>().ok()?.to_bits() }
        }
    };
    found.in_type(dtype)
}

/// An integer literal's value.
fn number(value: &TokenTree) -> Option<u64> {
    let TokenTree::Literal(literal) = value else { return None };
    literal.to_string().replace('_', "").parse().ok()
}
