//! Counts the instructions of a round of the loop.
//!
//! Instructions repeat on a noisy machine, times do not. What the program does
//! once is left out by counting runs of different lengths and taking differences;
//! what the server does is left out because it is another process. The limits are
//! those of `ARCHITECTURE.md`; a change that needs more must say why there.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::say;

/// Most instructions a round with one tool.
const ROUND: f64 = 450_000.0;
/// Most that a round of a run of 60 may cost, in rounds of a run of 20.
const GROWTH: f64 = 1.3;
/// Largest difference between two runs of the same length.
const REPEATS: f64 = 0.0001;
/// Most peak memory with one tool.
const PEAK_KB: u64 = 9 * 1024;

/// Builds the gate's program, counts, prints what it found, and fails where a
/// limit is passed.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    valgrind()?;
    let program = build(root)?;
    let server = Server::start(&program)?;
    let count = |rounds: u32| twice(|| count(&program, &server.url, rounds));
    let (none, _) = count(0)?;
    let (twenty, _) = count(20)?;
    let (sixty, sixty_again) = count(60)?;
    let counts = Counts {
        none,
        twenty,
        sixty,
        sixty_again,
    };
    let peak_kb = peak(&program, &server.url)?;
    say(&counts.describe(peak_kb));
    let passed = counts.passed(peak_kb);
    if passed.is_empty() {
        return Ok(());
    }
    Err(format!("bench-gate: {}", passed.join("; ")))
}

/// Instructions of runs with so many tool rounds.
#[derive(Clone, Copy)]
struct Counts {
    none: u64,
    twenty: u64,
    sixty: u64,
    sixty_again: u64,
}

impl Counts {
    fn round(&self) -> f64 {
        self.difference(self.sixty, self.twenty) / 40.0
    }

    /// Cost per round of the long run against that of the short one.
    fn growth(&self) -> f64 {
        let long = self.difference(self.sixty, self.none) / 60.0;
        let short = self.difference(self.twenty, self.none) / 20.0;
        long / short
    }

    fn repeats(&self) -> f64 {
        apart(self.sixty, self.sixty_again)
    }

    fn difference(&self, more: u64, less: u64) -> f64 {
        more as f64 - less as f64
    }

    fn describe(&self, peak_kb: u64) -> String {
        format!(
            "bench-gate: {:.3} M instructions a round with 1 tool (at most {:.3}); \
             60 rounds cost {:.2} times 20 rounds per round (at most {GROWTH}); \
             repeats within {:.4} % (at most {:.2}); peak memory {:.1} MB (at most {:.1})",
            self.round() / 1e6,
            ROUND / 1e6,
            self.growth(),
            self.repeats() * 100.0,
            REPEATS * 100.0,
            peak_kb as f64 / 1024.0,
            PEAK_KB as f64 / 1024.0,
        )
    }

    /// The limits that are passed.
    fn passed(&self, peak_kb: u64) -> Vec<&'static str> {
        let limits = [
            (self.round() > ROUND, "a round takes too many instructions"),
            (
                self.growth() > GROWTH,
                "later rounds cost too much more than earlier ones",
            ),
            (
                self.repeats() > REPEATS,
                "two equal runs differ, so the count means nothing",
            ),
            (peak_kb > PEAK_KB, "the peak of memory is too high"),
        ];
        // Not a number compares as neither, so a broken count is a limit passed.
        let broken = !(self.round() > 0.0 && self.growth() > 0.0);
        limits
            .into_iter()
            .chain([(
                broken,
                "longer runs did not cost more, so something else was counted",
            )])
            .filter_map(|(passed, what)| passed.then_some(what))
            .collect()
    }
}

/// The difference of two counts as a part of the first.
fn apart(a: u64, b: u64) -> f64 {
    a.abs_diff(b) as f64 / a as f64
}

/// Counts until two counts agree, since a machine under load can wake the program
/// once too often. After a few tries the two that are closest.
fn twice(mut count: impl FnMut() -> Result<u64, String>) -> Result<(u64, u64), String> {
    const TRIES: usize = 6;
    let mut counts = vec![count()?];
    loop {
        counts.push(count()?);
        counts.sort_unstable();
        let closest = counts
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .min_by_key(|(a, b)| b - a);
        if let Some((a, b)) = closest
            && (apart(a, b) <= REPEATS || counts.len() == TRIES)
        {
            return Ok((a, b));
        }
    }
}

fn valgrind() -> Result<(), String> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(
            "bench-gate needs valgrind, which is not installed or does not run here; \
                  on Debian it is the package `valgrind`"
                .into(),
        ),
    }
}

/// Builds the program and returns its path.
fn build(root: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--package", "toolcrib-gate"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err("the gate's program does not build".into());
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    executable(&messages).ok_or_else(|| "cargo named no executable".into())
}

/// The path of the last executable that cargo says it made.
fn executable(messages: &str) -> Option<PathBuf> {
    let path = messages
        .rsplit("\"executable\":\"")
        .next()
        .filter(|rest| rest.len() < messages.len())?
        .split('"')
        .next()?;
    Some(PathBuf::from(path.replace("\\\\", "\\")))
}

/// The server, ended when this is dropped.
struct Server {
    url: String,
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Server {
    fn start(program: &Path) -> Result<Server, String> {
        let mut child = Command::new(program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
        let stdin = child.stdin.take();
        let mut url = String::new();
        if let Some(stdout) = child.stdout.take() {
            // A read that fails leaves the address empty, which is reported below.
            let _ = BufReader::new(stdout).read_line(&mut url);
        }
        let server = Server {
            url: url.trim().to_owned(),
            child,
            stdin,
        };
        match server.url.starts_with("http://") {
            true => Ok(server),
            false => Err("the gate's server did not start".into()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends with its input; killing it as well covers one that hangs.
        self.stdin.take();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn count(program: &Path, url: &str, rounds: u32) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", url, &rounds.to_string()])
        .env_clear()
        .envs(search_path())
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let own = String::from_utf8_lossy(&output.stdout);
        return Err(format!("a run of {rounds} rounds failed: {own}{report}"));
    }
    collected(&report).ok_or_else(|| format!("valgrind printed no count: {report}"))
}

/// All of the environment that a counted program gets: proxies and other settings
/// of one machine are not to be measured.
fn search_path() -> Option<(&'static str, OsString)> {
    std::env::var_os("PATH").map(|path| ("PATH", path))
}

/// The number after `Collected :`.
fn collected(report: &str) -> Option<u64> {
    let line = report
        .lines()
        .find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

fn peak(program: &Path, url: &str) -> Result<u64, String> {
    let output = Command::new(program)
        .args(["run", url, "60"])
        .env_clear()
        .envs(search_path())
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text
        .trim()
        .strip_prefix("peak ")
        .and_then(|rest| rest.strip_suffix(" kB"));
    number
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| format!("the gate's program printed no peak of memory: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Counts = Counts {
        none: 10_000_000,
        twenty: 18_000_000,
        sixty: 34_000_100,
        sixty_again: 34_000_000,
    };

    #[test]
    fn good_counts_pass() {
        assert_eq!(GOOD.passed(8_000), [""; 0]);
        assert_eq!(
            GOOD.describe(8_192),
            "bench-gate: 0.400 M instructions a round with 1 tool (at most 0.450); 60 rounds cost \
             1.00 times 20 rounds per round (at most 1.3); repeats within 0.0003 % (at most 0.01); \
             peak memory 8.0 MB (at most 9.0)"
        );
    }

    #[test]
    fn each_limit_can_be_passed() {
        let dear = Counts {
            none: 8_000_000,
            sixty: 36_400_000,
            sixty_again: 36_400_000,
            ..GOOD
        };
        assert_eq!(dear.passed(0), ["a round takes too many instructions"]);
        let growing = Counts {
            twenty: 14_000_000,
            sixty: 30_000_000,
            sixty_again: 30_000_000,
            ..GOOD
        };
        assert_eq!(
            growing.passed(0),
            ["later rounds cost too much more than earlier ones"]
        );
        let noisy = Counts {
            sixty_again: 34_010_000,
            ..GOOD
        };
        assert_eq!(
            noisy.passed(0),
            ["two equal runs differ, so the count means nothing"]
        );
        assert_eq!(GOOD.passed(9_217), ["the peak of memory is too high"]);
        let flat = Counts {
            none: 1,
            twenty: 1,
            sixty: 1,
            sixty_again: 1,
        };
        assert_eq!(flat.passed(0).len(), 1);
    }

    #[test]
    fn counting_goes_on_until_two_counts_agree() {
        let tried = |counts: &[u64]| {
            let mut rest = counts.iter().copied();
            let pair = twice(|| rest.next().ok_or_else(|| "too many tries".into())).unwrap();
            (pair, rest.count())
        };
        assert_eq!(tried(&[100_000, 100_001, 7]), ((100_000, 100_001), 1));
        assert_eq!(
            tried(&[100_000, 200_000, 300_000, 200_010, 7]),
            ((200_000, 200_010), 1)
        );
        let never = [1_000, 2_000, 3_000, 4_000, 5_000, 5_500, 7];
        assert_eq!(tried(&never), ((5_000, 5_500), 1));
    }

    #[test]
    fn reports_of_other_programs_are_read() {
        let report = "==7== Events    : Ir\n==7== Collected : 1234567\n==7==\n";
        assert_eq!(collected(report), Some(1_234_567));
        assert_eq!(collected("==7== Command: x\n"), None);
        let messages = "{\"executable\":null}\n{\"executable\":\"target/release/toolcrib-gate\"}\n";
        assert_eq!(
            executable(messages),
            Some("target/release/toolcrib-gate".into())
        );
        assert_eq!(executable("{\"executable\":null}"), None);
    }
}
