//! The figures of a notebook: what its `plot` steps show, taken from the analysis.

mod bars;
mod samples;
mod sweep;

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::ArmResult;
use crate::metric::{Metric, Unit};
use crate::notebook::{Plot, PlotKind, Subject as Of};
use crate::number;
use crate::recording::ArmKey;

use super::Subject;
use super::arms;
use super::outline::Outline;
use super::plot::{self, Drawn, Name, PlotError};
use super::written::written;

/// What a figure shows where there is no evidence of an arm.
const NOT_MEASURED: &str = number::NOT_MEASURED;

/// A figure, drawn, with what the templates see of it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "plot")]
pub(super) struct PlotView {
    /// The step's id, which names the files.
    pub id: String,
    /// The figure's title, which also stands in the figure.
    pub title: String,
    /// The author's words below it, as markdown.
    pub caption: Option<String>,
    /// The same for an HTML page: nothing in it can act.
    pub caption_html: Option<String>,
    /// What it rests on: samples, turns, intervals.
    pub facts: String,
    /// What it shows, in words.
    pub alt: String,
    /// Markup for a page: both layouts of the figure.
    pub inline: String,
    /// The name of the SVG, relative to the report.
    pub svg: String,
    /// The name of the PNG, relative to the report.
    pub png: String,
    /// What the files are made of.
    #[serde(skip)]
    drawn: Drawn,
}

impl PlotView {
    /// The figure's files.
    pub(super) fn files(&self) -> Result<[(String, Vec<u8>); 2], PlotError> {
        Ok([(self.svg.clone(), self.drawn.file()?.into_bytes()), (self.png.clone(), self.drawn.png()?)])
    }
}

/// Draws the figure of a `plot` step.
pub(super) fn view(subject: Subject<'_>, plot: &Plot, outline: &mut Outline) -> Result<PlotView, PlotError> {
    let (figure, facts) = match plot.kind {
        PlotKind::Bars(metric) => bars::figure(subject, plot, metric),
        PlotKind::Timeline => samples::timeline(subject, plot),
        PlotKind::Sweep { value, x } => sweep::figure(subject, plot, value, x),
        PlotKind::Distribution => samples::distribution(subject, plot),
    };
    let drawn = plot::draw(&figure)?;
    let caption = plot.caption.as_ref().map(|caption| written(subject, caption, outline));
    Ok(PlotView {
        id: plot.id.clone(),
        caption_html: caption.as_ref().map(|caption| caption.html.clone()),
        caption: caption.map(|caption| caption.markdown),
        facts,
        alt: format!(
            "{}{} {}",
            figure.title,
            if figure.title.ends_with(['.', '?', '!']) { "" } else { "." },
            figure.description
        ),
        title: figure.title,
        inline: drawn.inline(&plot.id)?,
        svg: format!("plots/{}.svg", plot.id),
        png: format!("plots/{}.png", plot.id),
        drawn,
    })
}

/// The arms that a plot shows, in its order, with what a reader calls them.
fn arms<'a>(subject: Subject<'a>, of: &[Of]) -> Vec<(Name, &'a ArmResult)> {
    // The measure's name belongs to its arms only where there are others.
    let alone = of.iter().all(|one| one.measure == of[0].measure);
    let arms = arms::arms_of(subject, of).into_iter().map(|index| &subject.analysis.arms[index]);
    arms.map(|arm| (name(subject, &arm.key, alone), arm)).collect()
}

fn name(subject: Subject<'_>, key: &ArmKey, alone: bool) -> Name {
    match arms::names_of(subject, key) {
        Some((measure, arm)) => Name { group: (!alone && key.arm.is_some()).then_some(measure), label: arm },
        None => Name { group: None, label: key.to_string() },
    }
}

/// A name as a sentence has it.
fn spoken(name: &Name) -> String {
    match &name.group {
        Some(group) => format!("{group}, {}", name.label),
        None => name.label.clone(),
    }
}

/// The name of the one measure that a plot shows, where it is one with arms.
fn measure_name(subject: Subject<'_>, plot: &Plot) -> Option<String> {
    let first = plot.of.first()?;
    let arm = &subject.analysis.arms[arms::arms_of(subject, &plot.of).into_iter().next()?];
    let alone = plot.of.iter().all(|one| one.measure == first.measure) && arm.key.arm.is_some();
    arms::names_of(subject, &arm.key).filter(|_| alone).map(|(measure, _)| measure)
}

/// Title given, or made of what is shown and of which measure.
fn title(subject: Subject<'_>, plot: &Plot, what: &str) -> String {
    plot.title.clone().unwrap_or_else(|| match measure_name(subject, plot) {
        Some(measure) => format!("{what}: {measure}"),
        None => what.to_owned(),
    })
}

/// Notebook and server: a figure that was taken out of its report still says where it comes from.
fn source(subject: Subject<'_>) -> String {
    let manifest = &subject.recording.manifest;
    let version = manifest.server.release();
    let profile =
        manifest.profile.as_ref().map(|profile| format!(" · profile {profile}")).unwrap_or_default();
    format!("{}{profile} · PostgreSQL {version}", manifest.notebook)
}

/// A metric as the title of a figure.
fn heading(metric: Metric) -> String {
    match metric {
        Metric::Median => "Median latency".to_owned(),
        Metric::Blocks => "Blocks touched".to_owned(),
        Metric::QError => "Worst misestimate of rows".to_owned(),
        Metric::WalRecords => "Write-ahead log records".to_owned(),
        Metric::WalBytes => "Write-ahead log".to_owned(),
        Metric::WalFpi => "Full-page images in the write-ahead log".to_owned(),
        other => capital(&words(other)),
    }
}

/// A metric as the name of an axis.
fn axis(subject: Subject<'_>, metric: Metric) -> String {
    match metric.unit() {
        Unit::Blocks => {
            let kilobytes = subject.recording.manifest.server.block_size / 1024;
            match metric {
                Metric::Blocks => format!("blocks of {kilobytes} kB"),
                other => format!("{}, {kilobytes} kB each", blocks(other)),
            }
        }
        Unit::Milliseconds if metric == Metric::Median => "median latency".to_owned(),
        Unit::Bytes if metric == Metric::WalBytes => "write-ahead log".to_owned(),
        Unit::Bytes => words(metric).replace(" bytes", ""),
        Unit::Cost => format!("{}, in the planner's units", words(metric)),
        Unit::Ratio => format!("{}, as a factor", words(metric)),
        _ => words(metric),
    }
}

fn blocks(metric: Metric) -> String {
    match metric {
        Metric::Hit => "blocks found in PostgreSQL's buffers".to_owned(),
        Metric::Read => "blocks read from outside PostgreSQL's buffers".to_owned(),
        Metric::Dirtied | Metric::Written => format!("blocks {}", words(metric)),
        Metric::TempRead => "blocks of temporary files read".to_owned(),
        Metric::TempWritten => "blocks of temporary files written".to_owned(),
        other => words(other),
    }
}

fn words(metric: Metric) -> String {
    match metric {
        Metric::WalFpi => "full-page images".to_owned(),
        _ => metric.name().replace('_', " ").replace("wal ", "WAL "),
    }
}

/// With its first letter in upper case.
pub(super) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

/// `20 samples`, `15 to 20 samples`.
fn range(counts: &[usize], noun: &str) -> String {
    let (least, most) =
        (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    let plural = if most == 1 { "" } else { "s" };
    let number = |count: usize| number::count(count as f64);
    if least == most {
        format!("{} {noun}{plural}", number(most))
    } else {
        format!("{} to {} {noun}{plural}", number(least), number(most))
    }
}
