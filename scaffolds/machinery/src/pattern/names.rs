//! The names of Unicode classes (`\p{Greek}`) that Go supports, and their names in the `regex` crate.

/// Categories with their aliases, and scripts, in lower case. Scripts of several words, such as `Old_Italic`, are missing: Go
/// (1.26) removes the underscore from the name that it looks up, but not from the names in its table, so it never finds them.
const NAMES: &str = "\
    adlam ahom any arabic armenian ascii assigned avestan balinese bamum batak bengali bhaiksuki bopomofo brahmi \
    braille buginese buhid c carian casedletter cc cf chakma cham cherokee chorasmian closepunctuation cn cntrl co \
    combiningmark common connectorpunctuation control coptic cs cuneiform currencysymbol cypriot cyrillic \
    dashpunctuation decimalnumber deseret devanagari digit dogra duployan elbasan elymaic enclosingmark ethiopic \
    finalpunctuation format georgian glagolitic gothic grantha greek gujarati gurmukhi han hangul hanunoo hatran \
    hebrew hiragana inherited initialpunctuation javanese kaithi kannada katakana kawi kharoshthi khmer khojki \
    khudawadi l lao latin lc lepcha letter letternumber limbu lineseparator lisu ll lm lo lowercaseletter lt lu lycian \
    lydian m mahajani makasar malayalam mandaic manichaean marchen mark mathsymbol mc me medefaidrin miao mn modi \
    modifierletter modifiersymbol mongolian mro multani myanmar n nabataean nandinagari nd newa nko nl no \
    nonspacingmark number nushu ogham openpunctuation oriya osage osmanya other otherletter othernumber \
    otherpunctuation othersymbol p palmyrene paragraphseparator pc pd pe pf phoenician pi po privateuse ps punct \
    punctuation rejang runic s samaritan saurashtra sc separator sharada shavian siddham sinhala sk sm so sogdian \
    soyombo spaceseparator spacingmark sundanese surrogate symbol syriac tagalog tagbanwa takri tamil tangsa tangut \
    telugu thaana thai tibetan tifinagh tirhuta titlecaseletter toto ugaritic unassigned uppercaseletter vai vithkuqi \
    wancho yezidi yi z zl zp zs";

/// The class for a name between `\p{` and `}`, or after `\p`.
pub(super) enum Class {
    /// The class has this name in the `regex` crate.
    Named(String),
    /// The surrogates, which no text contains.
    Surrogates,
}

/// The class of this name: case, `_`, `-` and spaces do not count.
pub(super) fn class(name: &str) -> Option<Class> {
    let plain: String = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
    let plain = plain.to_ascii_lowercase();
    match plain.as_str() {
        "cs" | "surrogate" => Some(Class::Surrogates),
        _ => NAMES
            .split_ascii_whitespace()
            .any(|known| known == plain)
            .then_some(Class::Named(plain)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_regex_crate_supports_every_class_that_go_supports() {
        for name in NAMES.split_ascii_whitespace() {
            if let Some(Class::Named(name)) = class(name) {
                assert!(regex::Regex::new(&format!("\\p{{{name}}}")).is_ok(), "{name}");
            }
        }
    }
}
