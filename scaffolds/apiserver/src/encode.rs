//! Encodes values as JSON text on one line.

use std::io;

use kubewright_machinery::go;
use serde::Serialize;
use serde_json::{
    Serializer,
    ser::{CompactFormatter, Formatter},
};

/// Appends the JSON text of a value.
pub fn append<T: Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    // Neither can fail: writing to memory, and encoding a Value, whose maps have only strings as keys.
    let _ = value.serialize(&mut Serializer::with_formatter(text, GoFloats));
}

/// Writes floats as Go does: `1e-7`, `0.00001`, `100000000000000000000`.
struct GoFloats;

impl Formatter for GoFloats {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        /// 2⁶⁴: whole floats below it keep their fraction, because without it they would be read as integers.
        const BOUND: f64 = 18_446_744_073_709_551_616.0;
        if value.fract() == 0.0 && value.abs() < BOUND {
            return CompactFormatter.write_f64(writer, value);
        }
        writer.write_all(go::json_float(value).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn floats_are_written_as_in_go_and_read_as_floats() {
        let value = json!([1.0, 1.5, 1e-7, 0.00001, 1e20, 1e21, -2.5e300, 3]);
        let mut text = Vec::new();
        append(&mut text, &value);
        assert_eq!(
            str::from_utf8(&text).unwrap(),
            "[1.0,1.5,1e-7,0.00001,100000000000000000000,1e+21,-2.5e+300,3]"
        );
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), value);
    }
}
