//! When a request is sent again, and how long to wait before.
//!
//! What may be retried is decided where the fault is known; here are only the
//! numbers. The jitter keeps many clients from coming back at the same moment.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime};

/// Limits of retrying one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Requests in all, the first included; 1 never retries.
    pub attempts: u32,
    /// Requests in all where no connection comes about: a server that is down
    /// seldom comes up while one waits.
    pub connect_attempts: u32,
    /// The wait before the second attempt; it doubles with each further one.
    pub base: Duration,
    /// Longest wait of our own choice.
    pub cap: Duration,
    /// Longest wait that a server may ask for; a longer one ends the attempts.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            attempts: 5,
            connect_attempts: 3,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(20),
            longest_asked: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// How long to wait after failed attempt `attempt` (from 1); none when it was
    /// the last. `chance` lies between 0 and 1.
    pub(crate) fn wait(
        &self,
        attempt: u32,
        connecting: bool,
        asked: Option<Duration>,
        chance: f64,
    ) -> Option<Duration> {
        let attempts = if connecting {
            self.connect_attempts.min(self.attempts)
        } else {
            self.attempts
        };
        if attempt >= attempts {
            return None;
        }
        if let Some(asked) = asked {
            return (asked <= self.longest_asked).then_some(asked);
        }
        let doubled = self.base.saturating_mul(1 << (attempt - 1).min(16));
        let full = doubled.min(self.cap);
        Some(full.mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0)))
    }
}

/// A number between 0 and 1 that differs between processes and calls.
pub(crate) fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    (random >> 11) as f64 / (1u64 << 53) as f64
}

/// The wait that response headers ask for, given by `header`.
pub(crate) fn asked_wait<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: SystemTime,
) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| *n >= 0.0);
    let from = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    if let Some(ms) = header("retry-after-ms").and_then(number) {
        return from(ms / 1e3);
    }
    let text = header("retry-after")?;
    if let Some(seconds) = number(text) {
        return from(seconds);
    }
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p21_waits_double_up_to_the_cap_and_end_with_the_attempts() {
        let policy = RetryPolicy::default();
        let waits = |connecting, chance| -> Vec<u64> {
            (1..9)
                .map_while(|n| policy.wait(n, connecting, None, chance))
                .map(|wait| wait.as_millis() as u64)
                .collect()
        };
        assert_eq!(waits(false, 1.0), [500, 1000, 2000, 4000]);
        assert_eq!(waits(false, 0.0), [250, 500, 1000, 2000]);
        assert_eq!(waits(true, 1.0), [500, 1000]);
        let many = RetryPolicy {
            attempts: 100,
            ..policy
        };
        assert_eq!(many.wait(40, false, None, 1.0), Some(many.cap));
        assert!((0..100).all(|_| (0.0..1.0).contains(&chance())));
    }

    #[test]
    fn p21_a_server_may_ask_for_a_wait_up_to_a_minute() {
        let policy = RetryPolicy::default();
        let asked = |seconds| policy.wait(1, false, Some(Duration::from_secs(seconds)), 0.5);
        assert_eq!(asked(0), Some(Duration::ZERO));
        assert_eq!(asked(60), Some(Duration::from_secs(60)));
        assert_eq!(asked(61), None);
        assert_eq!(policy.wait(5, false, Some(Duration::ZERO), 0.5), None);
    }

    #[test]
    fn p21_headers_that_ask_for_a_wait() {
        let now = httpdate::parse_http_date("Mon, 30 Nov 2026 10:00:00 GMT").unwrap();
        let check = |headers: &[(&str, &str)], expected: Option<u64>| {
            let find = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|h| h.1);
            let wait = asked_wait(find, now).map(|wait| wait.as_millis() as u64);
            assert_eq!(wait, expected, "{headers:?}");
        };
        check(&[], None);
        check(&[("retry-after", "2")], Some(2000));
        check(&[("retry-after", "0.5")], Some(500));
        check(
            &[("retry-after", "2"), ("retry-after-ms", "150")],
            Some(150),
        );
        check(
            &[("retry-after", "Mon, 30 Nov 2026 10:00:07 GMT")],
            Some(7000),
        );
        check(&[("retry-after", "Mon, 30 Nov 2026 09:00:00 GMT")], Some(0));
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "NaN")], None);
        check(&[("retry-after", "1e300")], None);
    }
}
