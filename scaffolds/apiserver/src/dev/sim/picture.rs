//! The picture of a failure: one HTML file without other resources, in which time runs downwards, each process and each object
//! is a line, each request is an arrow, and each fault is a bar.

use std::{env, fmt::Write, fs, path::PathBuf};

use super::{
    report::{self, FailedRun},
    world::TraceStep,
};

/// Pixels between two lines, and between two steps.
const LANE: usize = 190;
const ROW: usize = 30;
/// Pixels above the steps, and to the left of the lines.
const HEAD: usize = 40;
const LEFT: usize = 90;

const STYLE: &str = "body{font:14px sans-serif;margin:2em}svg{font:12px sans-serif}.who{font-weight:bold}.lane{stroke:#bbb}\
.object{stroke-dasharray:4}.phase{fill:#eee}.fault{fill:#c00}.fault-text{fill:#fff;font-weight:bold}.time{fill:#777}\
.arrow{stroke:#06c;stroke-width:1.5}.refused{stroke:#c00}";

/// Writes the picture beside the program, in the folder `target`, and returns its path.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(failure: &FailedRun) -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| format!("cannot find the folder of the picture: {error}"))?;
    let path = program.with_extension("html");
    let written = fs::write(&path, page(failure));
    written.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    Ok(path)
}

/// The page, from the phase of the first fault on.
fn page(failure: &FailedRun) -> String {
    let steps = &failure.steps[report::first_shown(&failure.steps)..];
    let lanes = lanes(steps);
    let width = LEFT + LANE * lanes.len().max(4);
    let height = HEAD + ROW * (steps.len() + 1);
    let mut svg = String::new();
    for (n, (name, is_process)) in lanes.iter().enumerate() {
        let (x, class) = (place(n), if *is_process { "lane" } else { "lane object" });
        add(
            &mut svg,
            &format!(r#"<line class="{class}" x1="{x}" x2="{x}" y1="{HEAD}" y2="{height}"/>"#),
        );
        text(&mut svg, TextPlace("who", x, HEAD - 20), name);
    }
    for (n, step) in steps.iter().enumerate() {
        draw(&mut svg, step, &lanes, HEAD + ROW * (n + 1));
    }
    let lines = failure.finding.lines.iter();
    let lines: String = lines.map(|line| format!("<li>{}</li>", escape(line))).collect();
    let title = escape(&format!("failure: {}", failure.finding.oracle));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style>\n\
         <h1>{title}</h1><ul>{lines}</ul><p>Replay: <code>{}</code></p>\n\
         <svg width=\"{width}\" height=\"{height}\">\n\
         <defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n{svg}</svg></html>\n",
        escape(&failure.replay())
    )
}

/// The names of all processes, and then of all objects, in the order in which they appear.
fn lanes(steps: &[TraceStep]) -> Vec<(&str, bool)> {
    let mut lanes: Vec<(&str, bool)> = Vec::new();
    let processes = steps.iter().map(|step| (process(step), true));
    let objects = steps.iter().filter_map(|step| Some((step.object.as_deref()?, false)));
    for lane in processes.chain(objects) {
        if !lane.0.is_empty() && !lanes.contains(&lane) {
            lanes.push(lane);
        }
    }
    lanes
}

/// Without the controller.
fn process(step: &TraceStep) -> &str {
    step.who.split('/').next().unwrap_or_default()
}

fn place(lane: usize) -> usize {
    LEFT + LANE * lane + LANE / 2
}

fn draw(svg: &mut String, step: &TraceStep, lanes: &[(&str, bool)], y: usize) {
    let x = |name: &str, is_process| lanes.iter().position(|lane| *lane == (name, is_process)).map(place);
    text(svg, TextPlace("time", 0, y), &format!("{:.3} s", step.at.as_secs_f64()));
    let Some(from) = x(process(step), true) else {
        let (class, inside) = if step.is_fault {
            ("fault", "fault-text")
        } else {
            ("phase", "phase-text")
        };
        let top = y - 15;
        add(
            svg,
            &format!(r#"<rect class="{class}" x="{LEFT}" y="{top}" width="100%" height="20"/>"#),
        );
        text(svg, TextPlace(inside, LEFT + 5, y), &step.what);
        return;
    };
    let Some(to) = step.object.as_deref().and_then(|object| x(object, false)) else {
        add(svg, &format!(r#"<circle cx="{from}" cy="{y}" r="4"/>"#));
        text(svg, TextPlace("step", from + 8, y + 4), &step.what);
        return;
    };
    let refused = if step.what.contains(": ") { " refused" } else { "" };
    add(
        svg,
        &format!(r#"<line class="arrow{refused}" x1="{from}" x2="{to}" y1="{y}" y2="{y}" marker-end="url(#to)"/>"#),
    );
    text(svg, TextPlace("step", from + 5, y - 4), &step.what);
}

/// The class of a text, and where it begins.
struct TextPlace(&'static str, usize, usize);

fn text(svg: &mut String, place: TextPlace, text: &str) {
    let TextPlace(class, x, y) = place;
    add(
        svg,
        &format!(r#"<text class="{class}" x="{x}" y="{y}">{}</text>"#, escape(text)),
    );
}

fn add(svg: &mut String, element: &str) {
    // A String takes all that is written.
    let _ = writeln!(svg, "{element}");
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::dev::sim::oracle::{Finding, Oracle};

    #[test]
    fn a_picture_has_processes_objects_and_faults_and_escapes_their_texts() {
        let step = |who: &str, what: &str, object: Option<&str>| TraceStep {
            at: Duration::from_millis(1500),
            who: who.to_owned(),
            what: what.to_owned(),
            object: object.map(str::to_owned),
            is_fault: what == "dies",
        };
        let failure = FailedRun {
            seed: 7,
            kind: None,
            schedule: "w1:500".parse().unwrap(),
            finding: Finding {
                oracle: Oracle::State,
                phase: 0,
                lines: vec!["`/a` is <b> & \"c\"".to_owned()],
            },
            steps: vec![
                step("", "users <script>", None),
                step("operator 1", "starts", None),
                step(
                    "operator 1/foobar",
                    "applies configmaps a/b: 409",
                    Some("configmaps a/b"),
                ),
                step("", "dies", None),
            ],
        };
        let page = page(&failure);
        for part in [
            "<li>`/a` is &lt;b&gt; &amp; &quot;c&quot;</li>",
            "make sim SEED=7 ONLY=w1:500",
            ">users &lt;script&gt;</text>",
            r#"<text class="who" x="185" y="20">operator 1</text>"#,
            r#"<text class="who" x="375" y="20">configmaps a/b</text>"#,
            r#"class="arrow refused" x1="185" x2="375""#,
            r#"<rect class="fault""#,
            ">1.500 s</text>",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        assert!(!page.contains("http") && !page.contains("<script"), "{page}");
    }
}
