//! Frames of the WebSocket protocol (RFC 6455, 5.2): writes those of a server, reads those of a client. It knows no connection.

use bytes::{Buf, BytesMut};

/// The first byte of a text frame that is not divided.
pub const TEXT: u8 = 0x81;
/// The first byte of a close frame.
pub const CLOSE: u8 = 0x88;
/// The first byte of a pong frame.
pub const PONG: u8 = 0x8a;
/// Status of a close: all is done (RFC 6455, 7.4.1).
pub const NORMAL: [u8; 2] = 1000_u16.to_be_bytes();
/// Status of a close: the client has violated the protocol.
pub const PROTOCOL_ERROR: [u8; 2] = 1002_u16.to_be_bytes();

/// The most bytes that a ping may have (RFC 6455, 5.5).
const LONGEST_PING: u64 = 125;

/// A frame of a server, which is not masked.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        short @ 0..=125 => frame.push(short as u8),
        middle @ 126..=0xffff => {
            frame.push(126);
            frame.extend((middle as u16).to_be_bytes());
        }
        long => {
            frame.push(127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    frame
}

/// A message of the client.
#[derive(Debug, Eq, PartialEq)]
pub enum Received {
    /// A ping, with the bytes that its answer repeats.
    Ping(Vec<u8>),
    /// The end of the connection.
    Close,
    /// A frame that violates the protocol: it is not masked, or it is a ping that is too long.
    Violation,
}

/// The bytes that have arrived and are not yet read. Texts are skipped, as upstream does on a watch.
#[derive(Default)]
pub struct Incoming {
    /// Add what arrives at its end.
    pub bytes: BytesMut,
    /// The number of bytes of a skipped frame that have not arrived yet.
    skipped: u64,
}

impl Incoming {
    /// The next frame that matters, or none before more bytes arrive.
    pub fn next(&mut self) -> Option<Received> {
        loop {
            let now = self.skipped.min(self.bytes.len() as u64);
            self.bytes.advance(now as usize);
            self.skipped -= now;
            if self.skipped > 0 {
                return None;
            }
            let head = Head::read(&self.bytes)?;
            match head.kind {
                _ if head.mask.is_none() => return Some(Received::Violation),
                0x8 => return Some(Received::Close),
                0x9 if head.payload > LONGEST_PING => return Some(Received::Violation),
                0x9 => return self.ping(&head),
                _ => {
                    self.bytes.advance(head.length);
                    self.skipped = head.payload;
                }
            }
        }
    }

    fn ping(&mut self, head: &Head) -> Option<Received> {
        let payload = head.payload as usize;
        let masked = self.bytes.get(head.length..head.length + payload)?;
        let mask = head.mask.unwrap_or_default().into_iter().cycle();
        let plain = masked.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
        self.bytes.advance(head.length + payload);
        Some(Received::Ping(plain))
    }
}

/// The header before a frame's payload.
struct Head {
    kind: u8,
    mask: Option<[u8; 4]>,
    /// Its own length.
    length: usize,
    /// The length of the payload.
    payload: u64,
}

impl Head {
    /// The head at the start of these bytes, or none if it is not complete.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (first, second) = (*bytes.first()?, *bytes.get(1)?);
        let (payload, after) = match second & 0x7f {
            126 => (u64::from(u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?)), 4),
            127 => (u64::from_be_bytes(*bytes.get(2..)?.first_chunk()?), 10),
            short => (u64::from(short), 2),
        };
        let is_masked = second & 0x80 != 0;
        let mask = match is_masked {
            true => Some(*bytes.get(after..)?.first_chunk()?),
            false => None,
        };
        Some(Self {
            kind: first & 0x0f,
            mask,
            length: after + if is_masked { 4 } else { 0 },
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: [u8; 4] = [1, 2, 3, 4];

    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut sent = frame(first, payload);
        let head = sent.len() - payload.len();
        sent[1] |= 0x80;
        let hidden = payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask);
        sent.truncate(head);
        sent.extend(MASK);
        sent.extend(hidden);
        sent
    }

    #[test]
    fn texts_are_skipped_and_pings_are_read_however_the_bytes_arrive() {
        let mut sent = Vec::new();
        for length in [0, 5, 125, 126, 65_535, 65_536] {
            sent.extend(masked(TEXT, &vec![b'x'; length]));
            sent.extend(masked(0x89, b"hello"));
        }
        sent.extend(masked(CLOSE, &NORMAL));
        for piece in [1, 7, 1000, sent.len()] {
            let (mut incoming, mut read) = (Incoming::default(), Vec::new());
            for bytes in sent.chunks(piece) {
                incoming.bytes.extend_from_slice(bytes);
                while let Some(received) = incoming.next() {
                    let is_close = received == Received::Close;
                    read.push(received);
                    if is_close {
                        break;
                    }
                }
            }
            let pings = read.iter().filter(|it| **it == Received::Ping(b"hello".to_vec()));
            assert!(pings.count() == 6 && read.len() >= 7, "in pieces of {piece}: {read:?}");
            assert_eq!(read[6], Received::Close);
        }
    }

    #[test]
    fn frames_without_a_mask_and_long_pings_violate_the_protocol() {
        for sent in [frame(TEXT, b"x"), masked(0x89, &[0; 126])] {
            let mut incoming = Incoming::default();
            incoming.bytes.extend_from_slice(&sent);
            assert_eq!(incoming.next(), Some(Received::Violation));
        }
    }
}
