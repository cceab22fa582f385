//! The certificates, and the due step of their renewal. Pure: the time is an argument.

use serde::{Deserialize, Serialize};

use super::issue::{Issued, authority, leaf};

/// The lifetimes of certificates, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// The lifetime of an authority.
    pub authority: i64,
    /// The lifetime of a certificate of a server.
    pub leaf: i64,
}

impl Lifetimes {
    /// A year and 90 days: short enough that renewal is routine, and long enough that an operator that is down for a
    /// month comes back with a certificate that is valid. A third of the authority's life is longer than a leaf's, so
    /// each leaf ends before its authority does.
    pub const DEFAULT: Self = Self {
        authority: 365 * 86_400,
        leaf: 90 * 86_400,
    };
}

/// All certificates of one operator, as its Secret keeps them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct State {
    /// Grows with each change of the authorities that clients have to trust.
    pub revision: u64,
    /// The name of the authorities.
    issuer: String,
    /// The names that the leaf is valid for.
    names: Vec<String>,
    /// The certificate that servers use.
    pub leaf: Issued,
    /// The authority that signs the leaf.
    authority: Issued,
    /// The next authority, before clients trust it.
    next: Option<Issued>,
    /// The previous authority, whose last leaf a server may still use.
    old: Option<Issued>,
}

/// A step of a renewal. After each step, clients trust every leaf that a server uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// A new authority, which clients are to trust in addition.
    Announce,
    /// Clients trust the new authority: it signs the leaf from now on.
    Switch,
    /// A new leaf of the same authority.
    Renew,
    /// The authority before has ended, and with it its last leaf.
    Forget,
    /// The authority has ended, and with it its last leaf, or it is not valid yet: nobody accepts what is shown, so a new authority signs at once.
    Restart,
}

impl State {
    /// The first certificates.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers.
    pub fn new(names: Vec<String>, revision: u64, now: i64, lives: Lifetimes) -> Result<Self, String> {
        let issuer = format!("{} CA", names.first().map_or("webhook", String::as_str));
        let authority = authority(&issuer, [now, now + lives.authority])?;
        let leaf = leaf(&authority, &issuer, &names, [now, now + lives.leaf])?;
        Ok(Self {
            revision,
            issuer,
            names,
            leaf,
            authority,
            next: None,
            old: None,
        })
    }

    /// The step that is due. `trusted` says whether clients trust all authorities of this state.
    pub(super) fn due(&self, names: &[String], now: i64, trusted: bool) -> Option<Step> {
        let has_room = self.authority.until > self.leaf.until && self.authority.until > now;
        let is_next_early = self.next.as_ref().is_some_and(|next| next.is_early(now));
        if self.authority.is_early(now) {
            Some(Step::Restart)
        } else if self.leaf.is_early(now) {
            Some(Step::Renew)
        } else if is_next_early {
            // Replaced before it signs anything.
            Some(Step::Announce)
        } else if self.next.is_some() && trusted {
            Some(Step::Switch)
        } else if now >= self.authority.until {
            Some(Step::Restart)
        } else if has_room && now >= self.leaf.until {
            // Before anything that clients have to be told of.
            Some(Step::Renew)
        } else if self.next.is_none() && now >= self.authority.renewal() {
            Some(Step::Announce)
        } else if self.lacks(names) && self.authority.until > now || has_room && now >= self.leaf.renewal() {
            Some(Step::Renew)
        } else if self.old.as_ref().is_some_and(|old| now >= old.until) {
            Some(Step::Forget)
        } else {
            None
        }
    }

    /// The state after a step.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub(super) fn after(mut self, step: Step, names: &[String], now: i64, lives: Lifetimes) -> Result<Self, String> {
        match step {
            Step::Announce => {
                self.next = Some(authority(&self.issuer, [now, now + lives.authority])?);
                self.revision = self.revision.saturating_add(1);
            }
            Step::Switch => {
                if let Some(next) = self.next.take() {
                    let before = std::mem::replace(&mut self.authority, next);
                    self.old = Some(before.without_key());
                }
            }
            Step::Renew => {}
            Step::Forget => {
                self.old = None;
                self.revision = self.revision.saturating_add(1);
            }
            Step::Restart => {
                // Some clients may trust the next one already.
                let next = self
                    .next
                    .take()
                    .filter(|next| now < next.renewal() && !next.is_early(now));
                self.authority = match next {
                    Some(next) => next,
                    None => authority(&self.issuer, [now, now + lives.authority])?,
                };
                self.old = None;
                self.revision = self.revision.saturating_add(1);
            }
        }
        if matches!(step, Step::Switch | Step::Renew | Step::Restart) {
            let mut all = names.to_vec();
            if self.lacks(names) {
                // Processes with other names, as during a rolling update, would remove each other's for ever. A later renewal
                // drops the names that no process needs.
                all.extend(self.names.iter().filter(|name| !names.contains(name)).cloned());
            }
            self.leaf = leaf(&self.authority, &self.issuer, &all, [now, now + lives.leaf])?;
            self.names = all;
        }
        Ok(self)
    }

    /// Whether the leaf lacks one of these names.
    fn lacks(&self, names: &[String]) -> bool {
        names.iter().any(|name| !self.names.contains(name))
    }

    /// The same certificates under another revision.
    pub(super) fn with_revision(self, revision: u64) -> Self {
        Self { revision, ..self }
    }

    /// The authorities that clients have to trust, as PEM, the oldest first: a switch to the new authority does not change it.
    pub fn bundle(&self) -> String {
        let all = [self.old.as_ref(), Some(&self.authority), self.next.as_ref()];
        all.into_iter().flatten().map(Issued::pem).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVES: Lifetimes = Lifetimes::DEFAULT;
    const DAY: i64 = 86_400;
    /// The day on which these tests begin.
    const START: i64 = 20_000 * DAY;

    fn names() -> Vec<String> {
        vec!["a.b.svc".to_owned()]
    }

    fn first() -> State {
        State::new(names(), 1, START, LIVES).unwrap()
    }

    fn next(state: &State, step: Step, day: i64) -> State {
        state.clone().after(step, &names(), START + day * DAY, LIVES).unwrap()
    }

    fn due(state: &State, day: i64, trusted: bool) -> Option<Step> {
        state.due(&names(), START + day * DAY, trusted)
    }

    #[test]
    fn a_leaf_is_renewed_at_two_thirds_of_its_life() {
        let state = first();
        assert_eq!(
            (due(&state, 59, true), due(&state, 60, true)),
            (None, Some(Step::Renew))
        );
        let renewed = next(&state, Step::Renew, 60);
        assert_eq!(renewed.bundle(), state.bundle());
        assert_eq!(renewed.revision, state.revision);
        assert_ne!(renewed.leaf, state.leaf);
        assert_eq!(
            (due(&renewed, 119, true), due(&renewed, 120, true)),
            (None, Some(Step::Renew))
        );
    }

    #[test]
    fn an_authority_is_replaced_in_steps_and_trusted_as_long_as_its_leaves_live() {
        let mut state = first();
        for day in [60, 120, 180, 240] {
            state = next(&state, Step::Renew, day);
        }
        // Two thirds of 365 days.
        assert_eq!(
            (due(&state, 243, true), due(&state, 244, true)),
            (None, Some(Step::Announce))
        );
        let announced = next(&state, Step::Announce, 244);
        assert!(announced.bundle().starts_with(&state.bundle()) && announced.bundle() != state.bundle());
        assert_eq!(announced.leaf, state.leaf, "clients do not trust the new authority yet");
        assert_eq!((due(&announced, 244, false), announced.revision), (None, 2));
        assert_eq!(due(&announced, 244, true), Some(Step::Switch));

        let switched = next(&announced, Step::Switch, 244);
        assert_eq!((switched.bundle(), switched.revision), (announced.bundle(), 2));
        assert_ne!(switched.leaf, announced.leaf);
        assert!(
            switched.old.as_ref().unwrap().key.0.is_empty(),
            "it signs nothing any more"
        );
        let mut renewed = next(&switched, Step::Renew, 304);
        assert_eq!(due(&renewed, 363, true), None);
        renewed = next(&renewed, Step::Renew, 364);
        assert_eq!(due(&renewed, 365, true), Some(Step::Forget));
        let forgotten = next(&renewed, Step::Forget, 365);
        assert_eq!((forgotten.bundle(), forgotten.revision), (forgotten.authority.pem(), 3));
        assert_eq!(due(&forgotten, 365, true), None);
    }

    #[test]
    fn no_leaf_outlives_its_authority() {
        let mut state = first();
        // Nobody could be told of the next one.
        for day in [60, 120, 180, 240, 300, 360] {
            state = next(&state, Step::Renew, day);
            assert!(state.leaf.until <= state.authority.until);
        }
        let announced = next(&state, Step::Announce, 361);
        assert_eq!(due(&announced, 364, false), None, "a leaf of one day is of no use");
        assert_eq!(due(&announced, 400, true), Some(Step::Switch));
    }

    #[test]
    fn an_operator_that_comes_back_after_its_certificates_have_ended_waits_for_nobody() {
        // The leaf has ended while its authority is due to be replaced.
        let state = next(&first(), Step::Renew, 200);
        assert_eq!(due(&state, 300, false), Some(Step::Renew));
        assert_eq!(
            due(&next(&state, Step::Renew, 300), 300, false),
            Some(Step::Announce),
            "clients can be told now"
        );
        // All of it has ended.
        assert_eq!(due(&state, 365, false), Some(Step::Restart));
        let again = next(&state, Step::Restart, 400);
        assert_eq!((again.bundle(), again.revision), (again.authority.pem(), 2));
        assert!(again.authority != state.authority && again.leaf.until > START + 400 * DAY);
        assert_eq!(due(&again, 400, false), None);
        // The next authority had been announced.
        let announced = next(&state, Step::Announce, 350);
        let again = next(&announced, Step::Restart, 400);
        assert_eq!((Some(&again.authority), &again.next), (announced.next.as_ref(), &None));
        assert_eq!(again.revision, 3, "its former authority is not trusted any more");
    }

    #[test]
    fn certificates_of_a_clock_that_was_ahead_are_replaced_once_it_is_set_back() {
        let ahead = |hours: i64| State::new(names(), 1, START + hours * 3_600, LIVES).unwrap();
        // Their validity begins an hour before.
        assert_eq!(due(&ahead(1), 0, true), None);
        let state = ahead(8);
        assert_eq!(due(&state, 0, true), Some(Step::Restart));
        let again = next(&state, Step::Restart, 0);
        assert_ne!(again.authority, state.authority);
        assert_eq!(due(&again, 0, false), None);
        // Only the leaf.
        let state = next(&first(), Step::Renew, 61);
        assert_eq!(due(&state, 59, true), Some(Step::Renew));
        let again = next(&state, Step::Renew, 59);
        assert_eq!((again.bundle(), due(&again, 59, true)), (state.bundle(), None));
        // Only the next authority, which has signed nothing.
        let state = next(&first(), Step::Announce, 1);
        assert_eq!(due(&state, 0, true), Some(Step::Announce));
        let again = next(&state, Step::Announce, 0);
        assert_eq!((&again.leaf, again.revision), (&state.leaf, 3));
        assert_eq!(due(&again, 0, true), Some(Step::Switch));
        // No authority that is not valid yet takes over from one that is neither.
        let both = next(&ahead(8), Step::Announce, 1);
        assert_eq!(next(&both, Step::Restart, 0).next, None);
        assert!(Some(next(&both, Step::Restart, 0).authority) != both.next);
    }

    #[test]
    fn another_name_needs_another_leaf() {
        let (state, other) = (first(), vec!["c.d.svc".to_owned()]);
        assert_eq!(state.due(&other, START, true), Some(Step::Renew));
        let renamed = state.after(Step::Renew, &other, START, LIVES).unwrap();
        assert_eq!(renamed.due(&other, START, true), None);
    }

    #[test]
    fn processes_with_different_names_share_a_leaf() {
        let [one, other] = [["a.b.svc", "one"], ["a.b.svc", "other"]].map(|names| names.map(str::to_owned).to_vec());
        let mut state = State::new(one.clone(), 1, START, LIVES).unwrap();
        assert_eq!(state.due(&other, START, true), Some(Step::Renew));
        state = state.after(Step::Renew, &other, START, LIVES).unwrap();
        for names in [&one, &other, &names()] {
            assert_eq!(state.due(names, START, true), None);
        }
        // The next renewal drops a name that no process needs.
        state = next(&state, Step::Renew, 60);
        assert_eq!(state.names, names());
    }
}
