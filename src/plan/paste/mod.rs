//! Plans as people paste them: with the borders of psql, a mail program's line breaks, a log's prefixes.
//!
//! Each stage takes off one wrapping and keeps the number of the line in the input, so that an error still
//! names the line that made no sense.

mod json;
mod log;
mod noise;
mod table;
mod wrap;

use super::error::MAX_BYTES;
use super::{Plan, PlanError, text};

/// One line, with its number in the input.
#[derive(Debug, Clone)]
struct Line {
    number: usize,
    text: String,
}

impl Plan {
    /// Reads whatever people paste: EXPLAIN's text or JSON in any form that psql prints, as other clients copy it,
    /// broken by a mail program or a terminal, or as `auto_explain` logs it.
    ///
    /// # Errors
    /// Where it holds no plan, or more than one: see [`Plan::paste_all`].
    pub fn paste(input: &str) -> Result<Self, PlanError> {
        let mut plans = Self::paste_all(input)?;
        match plans.len() {
            1 => Ok(plans.remove(0)),
            n => Err(PlanError::Several(n)),
        }
    }

    /// The same for inputs that may hold several plans.
    ///
    /// # Errors
    /// Where it holds no plan, or a line of one makes no sense.
    pub fn paste_all(input: &str) -> Result<Vec<Self>, PlanError> {
        if input.len() > MAX_BYTES {
            return Err(PlanError::TooLarge);
        }
        let lines = lines(input);
        if lines.iter().all(|line| line.text.trim().is_empty()) {
            return Err(PlanError::Empty);
        }
        let plans = read(input, lines)?;
        if plans.is_empty() { Err(PlanError::Empty) } else { Ok(plans) }
    }
}

fn read(input: &str, lines: Vec<Line>) -> Result<Vec<Plan>, PlanError> {
    // What the server printed, untouched: nothing in it is anybody's decoration.
    if let Ok(plans) = text::read_all(input) {
        return Ok(plans);
    }
    if let Some(entries) = log::entries(&lines) {
        let mut plans = vec![];
        for entry in entries {
            plans.extend(block(&entry)?);
        }
        return Ok(plans);
    }
    block(&table::decode(&noise::unquote_mail(lines)))
}

fn lines(input: &str) -> Vec<Line> {
    let input = input.strip_prefix('\u{feff}').unwrap_or(input);
    // A browser copies its non-breaking spaces.
    let plain = |text: &str| text.trim_end_matches('\r').replace('\u{a0}', " ");
    let line = |(at, text): (usize, &str)| Line { number: at + 1, text: plain(text) };
    input.split('\n').enumerate().map(line).collect()
}

/// Whether a line can be the first of a plan, as text or as JSON.
fn begins(line: &str) -> bool {
    text::starts_plan(line) || json::starts(line)
}

/// Plans from lines whose borders are off.
fn block(lines: &[Line]) -> Result<Vec<Plan>, PlanError> {
    refuse_other_formats(lines)?;
    let start = |line: &Line| text::starts_plan(line.text.trim());
    let json = lines.iter().position(|line| json::starts(line.text.trim_start()));
    match (json, lines.iter().position(start)) {
        (Some(json), first) if first.is_none_or(|first| json < first) => json::read(&lines[json..]),
        _ => read_text(lines),
    }
}

fn refuse_other_formats(lines: &[Line]) -> Result<(), PlanError> {
    let yaml = |line: &Line| line.text.trim().starts_with("- Plan:") || line.text.trim() == "Plan:";
    let xml = |line: &Line| {
        line.text.trim_start().starts_with("<explain") || line.text.trim_start().starts_with("<Plan>")
    };
    for (name, is) in [("YAML", &yaml as &dyn Fn(&Line) -> bool), ("XML", &xml)] {
        if lines.iter().any(is) {
            return Err(PlanError::Format { name });
        }
    }
    Ok(())
}

/// Reads text as it stands; then with other widths of a tab; then with broken lines joined again.
fn read_text(lines: &[Line]) -> Result<Vec<Plan>, PlanError> {
    let lines = noise::without_footers(lines);
    let first = attempt(&noise::untabbed(&lines, 8));
    let Err(error) = first else { return first };
    let tabs = lines.iter().any(|line| line.text.contains('\t'));
    if let Some(plans) =
        [4, 2].into_iter().filter(|_| tabs).find_map(|width| attempt(&noise::untabbed(&lines, width)).ok())
    {
        return Ok(plans);
    }
    wrap::joined(&noise::untabbed(&lines, 8)).into_iter().find_map(|lines| attempt(&lines).ok()).ok_or(error)
}

/// Reads lines from the first that begins a plan; what stands before it is not read, save a statement that
/// `auto_explain` tells.
fn attempt(lines: &[Line]) -> Result<Vec<Plan>, PlanError> {
    let start = lines.iter().position(|line| text::starts_plan(line.text.trim()));
    let start = start.ok_or_else(|| {
        let line = lines.iter().find(|line| !line.text.trim().is_empty());
        line.map_or(PlanError::Empty, |line| {
            PlanError::text(
                line.number,
                &line.text,
                "no line here or below begins a plan, such as `Seq Scan on t`",
            )
        })
    })?;
    let body = &lines[start..];
    let joined = body.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
    let mut plans = text::read_all(&joined).map_err(|error| error.renumbered(|line| number(body, line)))?;
    if let Some(plan) = plans.first_mut() {
        log::keep_statement(&lines[..start], plan);
    }
    Ok(plans)
}

/// The number in the input of the n-th of some lines.
fn number(lines: &[Line], n: usize) -> usize {
    lines.get(n.saturating_sub(1)).or(lines.last()).map_or(n, |line| line.number)
}
