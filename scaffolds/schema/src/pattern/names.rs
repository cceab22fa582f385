//! The names of classes of Unicode (`\p{Greek}`) that Go knows, and their forms in the `regex` crate.

/// Categories with their aliases, and scripts, in lower case. Scripts of several words, such as `Old_Italic`, are none: Go
/// (1.26) takes the space out of the name that it looks for, and not out of those that it knows.
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

/// What there is of a name between `\p{` and `}`, or after `\p`.
pub(super) enum Class {
    /// The `regex` crate knows it by this name.
    Named(String),
    /// Halves of surrogate pairs, of which no text consists.
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
    fn the_engine_knows_every_class_that_go_knows() {
        for name in NAMES.split_ascii_whitespace() {
            if let Some(Class::Named(name)) = class(name) {
                assert!(regex::Regex::new(&format!("\\p{{{name}}}")).is_ok(), "{name}");
            }
        }
    }
}
