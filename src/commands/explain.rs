//! `planbook explain`: a pasted plan as an annotated tree, as PostgreSQL's JSON, or for an issue or a post.

use std::io::{IsTerminal, Read};
use std::path::Path;

use crate::cli::{ExplainArgs, ExplainFormat};
use crate::plan::Plan;
use crate::project;
use crate::render;

use super::{CommandError, talk};

/// Columns where no terminal says.
const USUAL_WIDTH: usize = 110;

/// Prints the plan.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, CommandError> {
    let (name, input) = read(args.file.as_deref())?;
    let plans = Plan::paste_all(&input).map_err(|error| {
        CommandError::usage(format!("{name}: {error}"), "give what EXPLAIN (ANALYZE, BUFFERS) printed, whole")
    })?;
    let width = args.width.map(usize::from).unwrap_or_else(terminal_width);
    let format = if args.html { ExplainFormat::Html } else { args.format };
    let templates = args.templates.clone().or_else(project::templates);
    talk::print(printed(&plans, format, width, templates.as_deref())?);
    Ok(0)
}

fn printed(
    plans: &[Plan],
    format: ExplainFormat,
    width: usize,
    templates: Option<&Path>,
) -> Result<String, CommandError> {
    let each = |print: &dyn Fn(&Plan) -> String| plans.iter().map(print).collect::<Vec<_>>().join("\n");
    Ok(match format {
        ExplainFormat::Human => each(&|plan| render::plan_text(plan, width, talk::paint())),
        ExplainFormat::Markdown => each(&render::plan_markdown),
        ExplainFormat::Text => each(&Plan::to_text),
        ExplainFormat::Html => render::plan_html(plans, &super::render::templates(templates)?)?,
        ExplainFormat::Json => {
            let json = serde_json::to_string_pretty(plans).map_err(|error| {
                CommandError::usage(format!("the plan has no JSON: {error}"), "report this input")
            })?;
            format!("{json}\n")
        }
    })
}

fn terminal_width() -> usize {
    let terminal = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    terminal.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0)).max(40)
}

/// The input's name and text.
fn read(file: Option<&Path>) -> Result<(String, String), CommandError> {
    let mut bytes = vec![];
    let name = match file.filter(|path| *path != Path::new("-")) {
        Some(path) => {
            let name = path.display().to_string();
            bytes = std::fs::read(path).map_err(|error| {
                CommandError::usage(
                    format!("{name}: {error}"),
                    "name a file that holds a plan, or - for standard input",
                )
            })?;
            name
        }
        None => {
            let mut stdin = std::io::stdin();
            if file.is_none() && stdin.is_terminal() {
                let next =
                    "psql -c 'EXPLAIN (ANALYZE, BUFFERS) …' | planbook explain, or planbook explain FILE";
                return Err(CommandError::usage("no plan was given", next));
            }
            stdin.read_to_end(&mut bytes).map_err(|error| {
                CommandError::environment(
                    format!("standard input: {error}"),
                    "or name a file that holds the plan",
                )
            })?;
            "standard input".to_owned()
        }
    };
    Ok((name, String::from_utf8_lossy(&bytes).into_owned()))
}
