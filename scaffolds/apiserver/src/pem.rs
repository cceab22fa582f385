//! PEM blocks (RFC 7468), found as in Go: text between blocks is skipped, and so are malformed blocks.

use kubewright_machinery::base64::{self, Encoding};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// A block.
pub struct Block<'t> {
    /// `CERTIFICATE`.
    pub label: &'t str,
    /// Whether there are lines such as `Proc-Type: …` in front of the data.
    pub has_headers: bool,
    /// The data.
    pub bytes: Vec<u8>,
}

/// The blocks of a text.
pub fn blocks(text: &str) -> impl Iterator<Item = Block<'_>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        loop {
            let (begun, is_first) = (rest?, rest?.len() == text.len());
            let after = match begun.strip_prefix(BEGIN).filter(|_| is_first) {
                Some(after) => after,
                None => begun.split_once(&format!("\n{BEGIN}"))?.1,
            };
            match block(after) {
                Some((block, behind)) => {
                    rest = Some(behind);
                    return Some(block);
                }
                None => rest = Some(after),
            }
        }
    })
}

/// A block as text.
#[cfg(feature = "serve")]
pub fn text(label: &str, der: &[u8]) -> String {
    let digits = base64::encode(der, Encoding::Standard);
    let mut text = format!("-----BEGIN {label}-----\n");
    for (index, digit) in digits.chars().enumerate() {
        text.push(digit);
        if index % 64 == 63 {
            text.push('\n');
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    format!("{text}-----END {label}-----\n")
}

/// The block whose label begins `text`, and the text after the block.
fn block(text: &str) -> Option<(Block<'_>, &str)> {
    let (first, body) = text.split_once('\n')?;
    let label = first.trim_end().strip_suffix(DASHES)?;
    let (headers, data) = headers(body);
    let (data, end) = match data.strip_prefix(END) {
        Some(end) => ("", end),
        None => data.split_once(&format!("\n{END}"))?,
    };
    let (last, behind) = match end.split_once('\n') {
        Some((last, _)) => (last, &end[last.len()..]),
        None => (end, ""),
    };
    if last.trim_end().strip_suffix(DASHES)? != label {
        return None;
    }
    let digits: String = data.chars().filter(|it| !"\r\n\t ".contains(*it)).collect();
    let block = Block {
        label,
        has_headers: headers,
        bytes: base64::decode(&digits, Encoding::Standard).ok()?,
    };
    Some((block, behind))
}

/// Whether there are headers, and the text after them.
fn headers(mut text: &str) -> (bool, &str) {
    let mut found = false;
    while let Some((line, rest)) = text.split_once('\n') {
        if !line.contains(':') {
            break;
        }
        (found, text) = (true, rest);
    }
    (found, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "-----BEGIN A-----\nAAEC\n-----END A-----\n";

    fn labels(text: &str) -> Vec<&str> {
        blocks(text).map(|block| block.label).collect()
    }

    #[test]
    fn blocks_are_found_between_other_text() {
        assert_eq!(labels(&format!("x\n{A}y\n{A}")), ["A", "A"]);
        assert_eq!(labels(&format!("x{A}")), Vec::<&str>::new());
        let block = blocks(A).next().unwrap();
        assert_eq!((block.bytes, block.has_headers), (vec![0, 1, 2], false));
    }

    #[test]
    fn a_malformed_block_is_skipped() {
        let other = A.replace("END A", "END B");
        let digits = A.replace("AAEC", "A%EC");
        assert_eq!(labels(&format!("{digits}{A}")), ["A"]);
        assert_eq!(labels(&other), Vec::<&str>::new());
        assert_eq!(labels("-----BEGIN A-----"), Vec::<&str>::new());
    }

    #[test]
    fn a_block_with_headers_is_recognised() {
        let with = A.replace("A-----\nAA", "A-----\nB: c\n\nAA");
        assert!(blocks(&with).next().unwrap().has_headers);
    }
}
