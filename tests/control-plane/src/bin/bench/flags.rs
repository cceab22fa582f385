//! The parsed command line.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::load::Amount;

/// Whether operators record events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Events {
    Both,
    Neither,
}

impl Events {
    pub fn describe(self) -> &'static str {
        match self {
            Self::Both => "on both sides",
            Self::Neither => "on neither side",
        }
    }
}

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// The scenarios on kube-apiserver.
    Real,
    /// The scenarios on the in-process API server.
    InProcess,
    /// Very many objects read into the caches.
    Caches,
    /// The command line.
    Commands,
    /// The cost of the ways to write a child.
    Requests,
    /// The cost that webhooks add to requests.
    Webhooks,
}

/// Everything that can be chosen.
#[derive(Debug)]
pub struct Flags {
    pub rounds: usize,
    pub parts: Vec<Part>,
    pub events: Vec<Events>,
    /// The names of the contenders.
    pub only: Vec<String>,
    /// A binary to measure instead of the generated operator.
    pub operator: Option<PathBuf>,
    pub amount: Amount,
    /// The number of objects that are read into the caches.
    pub cached: Vec<usize>,
    pub first_build: bool,
}

impl Flags {
    pub fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    pub fn describe(&self) -> String {
        let Amount { objects, workers, .. } = self.amount;
        format!("{objects} FooBars, {workers} workers, {} rounds", self.rounds)
    }
}

pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Flags> {
    let amount = Amount {
        objects: 3000,
        single: 200,
        repaired: 200,
        workers: 8,
    };
    let mut flags = Flags {
        rounds: 4,
        parts: vec![
            Part::Real,
            Part::InProcess,
            Part::Caches,
            Part::Commands,
            Part::Requests,
            Part::Webhooks,
        ],
        events: vec![Events::Both, Events::Neither],
        only: ["kubewright", "controller-runtime"].map(str::to_owned).into(),
        operator: None,
        amount,
        cached: vec![100_000, 1_000_000],
        first_build: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--rounds" => flags.rounds = number(&value()?)?.max(1),
            "--objects" => flags.amount.objects = number(&value()?)?.max(1),
            "--single" => flags.amount.single = number(&value()?)?.max(1),
            "--repaired" => flags.amount.repaired = number(&value()?)?.max(1),
            "--workers" => flags.amount.workers = number(&value()?)?.max(1),
            "--cached" => flags.cached = value()?.split(',').map(number).collect::<Result<_>>()?,
            "--operators" => flags.only = value()?.split(',').map(str::to_owned).collect(),
            "--operator" => flags.operator = Some(value()?.into()),
            "--parts" => flags.parts = value()?.split(',').map(part).collect::<Result<_>>()?,
            "--events" => flags.events = value()?.split(',').map(events).collect::<Result<_>>()?,
            "--first-build" => flags.first_build = true,
            other => bail!(
                "`{other}` is not known\n\nhint: --parts real,in-process,caches,commands,requests,webhooks, --events both,neither, \
                 --rounds N, --objects N, --single N, --repaired N, --workers N, --cached N,N, --operators NAME,NAME, \
                 --operator FILE, --first-build"
            ),
        }
    }
    Ok(flags)
}

fn part(name: &str) -> Result<Part> {
    Ok(match name {
        "real" => Part::Real,
        "in-process" => Part::InProcess,
        "caches" => Part::Caches,
        "commands" => Part::Commands,
        "requests" => Part::Requests,
        "webhooks" => Part::Webhooks,
        other => bail!("`{other}` is no part of the benchmark"),
    })
}

fn events(name: &str) -> Result<Events> {
    Ok(match name {
        "both" => Events::Both,
        "neither" => Events::Neither,
        other => bail!("`{other}`: events are on `both` sides or on `neither`"),
    })
}

fn number(text: &str) -> Result<usize> {
    text.parse().with_context(|| format!("`{text}` is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_may_be_small_and_mistakes_are_named() {
        let line = "--parts real,caches --events neither --rounds 1 --objects 50 --cached 100,200";
        let flags = parse(line.split(' ').map(str::to_owned)).unwrap();
        assert_eq!(
            (flags.parts, flags.events),
            (vec![Part::Real, Part::Caches], vec![Events::Neither])
        );
        assert_eq!(
            (flags.rounds, flags.amount.objects, flags.cached),
            (1, 50, vec![100, 200])
        );
        let refused = |line: &str| parse(line.split(' ').map(str::to_owned)).unwrap_err().to_string();
        assert!(refused("--objects").contains("needs a value") && refused("--parts all").contains("`all`"));
        assert!(refused("--fast").contains("hint: --parts"));
    }
}
