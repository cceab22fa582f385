//! Random lists of rules with few different words, so that many rules can be joined.

use super::dice::Dice;
use kubewright_schema::rbac::PolicyRule;

const GROUPS: [&str; 5] = ["", "core", "apps", "batch", "a.b"];
const RESOURCES: [&str; 6] = ["pods", "pods/log", "foos", "foos/status", "nodes", "*"];
const NAMES: [&str; 3] = ["x", "y-1", "z.w"];
const URLS: [&str; 4] = ["/metrics", "/healthz", "/api/*", "/"];
const VERBS: [&str; 6] = ["get", "list", "watch", "create", "deletecollection", "*"];

/// The rules for a seed. A quarter of the lists use so few words that most of their rules can be joined.
pub fn rules(seed: u64) -> Vec<PolicyRule> {
    let mut dice = Dice::of(seed);
    let narrow = dice.once_in(4);
    (0..1 + dice.below(8)).map(|_| rule(&mut dice, narrow)).collect()
}

fn rule(dice: &mut Dice, narrow: bool) -> PolicyRule {
    let most = |words: &'static [&'static str]| if narrow { &words[words.len() / 2..][..2] } else { words };
    let mut rule = PolicyRule {
        verbs: some(dice, most(&VERBS), 3),
        ..PolicyRule::default()
    };
    if dice.once_in(5) {
        rule.non_resource_urls = some(dice, most(&URLS), 2);
        return rule;
    }
    rule.api_groups = some(dice, most(&GROUPS), 2);
    rule.resources = some(dice, most(&RESOURCES), 3);
    if dice.once_in(5) {
        rule.resource_names = some(dice, most(&NAMES), 2);
    }
    rule
}

/// One to `most` of these, sometimes with duplicates.
fn some(dice: &mut Dice, of: &[&str], most: usize) -> Vec<String> {
    (0..1 + dice.below(most)).map(|_| dice.pick(of).to_owned()).collect()
}
