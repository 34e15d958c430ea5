//! How fast plans are read, against what parsing their JSON into `serde_json::Value` alone takes in the same run.
//!
//! `cargo bench --bench plan_parse`. The three ways take turns over the same fixtures, and speeds are compared within
//! a turn, so that a slow moment of the machine falls on all alike; the median of the turns counts. Exits 1 below 0.8 (JSON) or 0.4 (text) of the bytes per
//! second of `serde_json::Value`.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use planbook::plan::Plan;
use serde_json::Value;

const ROUNDS: usize = 60;

/// Its name, its inputs, and how it reads one.
type Way<'a> = (&'a str, &'a [String], fn(&str));

fn main() -> ExitCode {
    let (texts, jsons) = fixtures();
    let ways: [Way; 3] = [
        ("serde_json::Value", &jsons, |json| drop(black_box(serde_json::from_str::<Value>(json)))),
        ("Plan::from_json", &jsons, |json| drop(black_box(Plan::from_json(json)))),
        ("Plan::from_text", &texts, |text| drop(black_box(Plan::from_text(text)))),
    ];
    let mut seconds: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for ((_, inputs, read), taken) in ways.iter().zip(&mut seconds) {
            let start = Instant::now();
            inputs.iter().for_each(|input| read(input));
            taken.push(start.elapsed().as_secs_f64());
        }
    }
    let bytes = ways.map(|(_, inputs, _)| inputs.iter().map(String::len).sum::<usize>() as f64);
    for ((name, ..), (bytes, taken)) in ways.iter().zip(bytes.iter().zip(&seconds)) {
        println!("{name:20} {bytes:>9} bytes  {:7.1} MB/s", bytes / median(taken.clone()) / 1e6);
    }
    let against = |way: usize| {
        let turns = seconds[way].iter().zip(&seconds[0]);
        median(turns.map(|(own, value)| (bytes[way] / own) / (bytes[0] / value)).collect())
    };
    let (json, text) = (against(1), against(2));
    println!("JSON {json:.2} (at least 0.8), text {text:.2} (at least 0.4) of serde_json::Value");
    if json >= 0.8 && text >= 0.4 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Texts and JSON of every captured plan.
fn fixtures() -> (Vec<String>, Vec<String>) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plans");
    let (mut texts, mut jsons) = (vec![], vec![]);
    for major in [15, 16, 17, 18] {
        let file = std::fs::read_to_string(folder.join(format!("{major}.jsonl"))).expect("fixtures");
        for line in file.lines() {
            let mut case: Value = serde_json::from_str(line).expect("a case");
            texts.push(case["text"].as_str().expect("text").to_owned());
            // As a server prints it: indented.
            jsons.push(serde_json::to_string_pretty(&case["json"].take()).expect("json"));
        }
    }
    (texts, jsons)
}
