//! The plural of a kind, by the rules of English for its last word. `--plural` overrides it.

use super::{KindName, Plural};

/// Words with an irregular plural.
const IRREGULAR: [(&str, &str); 34] = [
    ("alumnus", "alumni"),
    ("analysis", "analyses"),
    ("axis", "axes"),
    ("basis", "bases"),
    ("child", "children"),
    ("corpus", "corpora"),
    ("crisis", "crises"),
    ("criterion", "criteria"),
    ("datum", "data"),
    ("diagnosis", "diagnoses"),
    ("foot", "feet"),
    ("goose", "geese"),
    ("half", "halves"),
    ("hero", "heroes"),
    ("hypothesis", "hypotheses"),
    ("index", "indices"),
    ("knife", "knives"),
    ("leaf", "leaves"),
    ("life", "lives"),
    ("man", "men"),
    ("matrix", "matrices"),
    ("medium", "media"),
    ("mouse", "mice"),
    ("person", "people"),
    ("phenomenon", "phenomena"),
    ("potato", "potatoes"),
    ("quiz", "quizzes"),
    ("self", "selves"),
    ("shelf", "shelves"),
    ("thesis", "theses"),
    ("tooth", "teeth"),
    ("vertex", "vertices"),
    ("wolf", "wolves"),
    ("woman", "women"),
];

/// Words whose plural is equal to the singular.
const UNCOUNTED: [&str; 18] = [
    "aircraft",
    "data",
    "dns",
    "endpoints",
    "equipment",
    "fish",
    "gateways",
    "hardware",
    "information",
    "media",
    "metadata",
    "metrics",
    "news",
    "series",
    "sheep",
    "software",
    "species",
    "traffic",
];

/// The plural of `kind`, in lower case: `FooPolicy` gives `foopolicies`.
pub fn plural(kind: &KindName) -> Plural {
    let lower = kind.as_str().to_ascii_lowercase();
    let last = heck::AsSnakeCase(kind.as_str()).to_string();
    let last = last.rsplit('_').next().unwrap_or_default();
    let head = &lower[..lower.len() - last.len()];
    let mut text = format!("{head}{}", word(last));
    // The plural of a kind of 62 or 63 letters can be too long for a label.
    if text.len() > 63 {
        text = lower;
    }
    text.parse()
        .expect("a kind in lower case is a label, and its plural adds letters only")
}

fn word(word: &str) -> String {
    if let Some((_, plural)) = IRREGULAR.iter().find(|(one, _)| *one == word) {
        return (*plural).to_owned();
    }
    if UNCOUNTED.contains(&word) {
        return word.to_owned();
    }
    let vowel = |back: usize| word.chars().rev().nth(back).is_some_and(|c| "aeiou".contains(c));
    match word {
        _ if word.ends_with('y') && word.len() > 1 && !vowel(1) => format!("{}ies", &word[..word.len() - 1]),
        _ if ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end)) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_english() {
        let table = [
            ("FooBar", "foobars"),
            ("Policy", "policies"),
            ("NetworkPolicy", "networkpolicies"),
            ("Datum", "data"),
            ("FooDatum", "foodata"),
            ("Gateway", "gateways"),
            ("Ingress", "ingresses"),
            ("Proxy", "proxies"),
            ("Index", "indices"),
            ("Box", "boxes"),
            ("Batch", "batches"),
            ("Mesh", "meshes"),
            ("Topaz", "topazes"),
            ("Day", "days"),
            ("Child", "children"),
            ("Y", "ys"),
            ("DNS", "dns"),
            ("HTTPRoute", "httproutes"),
            ("Status", "statuses"),
            ("Analysis", "analyses"),
            ("Metrics", "metrics"),
            ("V1Thing", "v1things"),
        ];
        for (kind, plural_of_it) in table {
            assert_eq!(plural(&kind.parse().unwrap()).as_str(), plural_of_it, "{kind}");
        }
    }
}
