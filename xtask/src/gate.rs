//! Counts the instructions of a round of the loop.
//!
//! Instructions repeat on a noisy machine, times do not. What the program does
//! once is left out by counting runs of different lengths and taking differences;
//! what the server does is left out because it is another process. The limits are
//! those of `docs/performance.md`; a change that needs more must say why there.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::say;

/// Most instructions a round with one tool.
const ROUND: f64 = 450_000.0;
/// Most with 50 tools, all of them sent.
const ROUND_OF_FIFTY: f64 = 650_000.0;
/// Most that a round of 500 tools with 12 sent may cost beyond one of those 12 alone.
const REGISTERED: f64 = 0.05;
/// Most that a round of a run of 60 may cost, in rounds of a run of 20.
const GROWTH: f64 = 1.3;
/// Largest difference between two runs of the same length.
const REPEATS: f64 = 0.0001;
/// Most peak memory in MB with one tool, with 500, and with the index of 500 and the
/// embedding table in use.
const PEAKS: [f64; 3] = [9.0, 14.0, 24.0];

/// Tools of a counted program: how many there are and how many are sent.
#[derive(Clone, Copy)]
struct Tools {
    registered: u32,
    exposed: u32,
    /// The prompt is read and a tool searched for.
    searching: bool,
}

const ONE: Tools = all(1);
const FIFTY: Tools = all(50);
const ALONE: Tools = all(12);
const AMONG: Tools = Tools {
    registered: 500,
    ..ALONE
};
const SEARCHING: Tools = Tools {
    searching: true,
    ..AMONG
};

const fn all(count: u32) -> Tools {
    Tools {
        registered: count,
        exposed: count,
        searching: false,
    }
}

/// Builds the gate's program, counts, prints what it found, and fails where a
/// limit is passed.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    valgrind()?;
    let program = build(root)?;
    let server = Server::start(&program)?;
    let url = &*server.url;
    let counted = |tools: Tools, rounds: u32| twice(|| count(&program, url, tools, rounds));
    let per_round = |tools: Tools| {
        let (short, _) = counted(tools, 10)?;
        let (long, _) = counted(tools, 30)?;
        Ok::<f64, String>((long as f64 - short as f64) / 20.0)
    };
    // Two at a time: a run waits more than it works.
    let (one, others) = std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            let of = [per_round(FIFTY)?, per_round(ALONE)?, per_round(AMONG)?];
            Ok::<_, String>(of)
        });
        let one = counts(|rounds| counted(ONE, rounds));
        let others = others
            .join()
            .unwrap_or_else(|_| Err("a count broke down".into()));
        (one, others)
    });
    let [fifty, alone, among] = others?;
    let mut peaks = [0.0; 3];
    for (peak_mb, tools) in peaks.iter_mut().zip([ONE, AMONG, SEARCHING]) {
        *peak_mb = peak(&program, url, tools)? as f64 / 1024.0;
    }
    let figures = Figures {
        one: one?,
        fifty,
        alone,
        among,
        peaks,
    };
    let lines = figures.lines();
    for line in &lines {
        say(&format!("bench-gate: {}", line.text()));
    }
    let passed: Vec<&str> = lines.iter().filter_map(Line::passed).collect();
    if passed.is_empty() {
        return Ok(());
    }
    Err(format!("bench-gate: {}", passed.join("; ")))
}

fn counts(count: impl Fn(u32) -> Result<(u64, u64), String>) -> Result<Counts, String> {
    let (none, _) = count(0)?;
    let (twenty, _) = count(20)?;
    let (sixty, sixty_again) = count(60)?;
    Ok(Counts {
        none,
        twenty,
        sixty,
        sixty_again,
    })
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
}

/// All that was found. Instructions are those of one round.
#[derive(Clone, Copy)]
struct Figures {
    one: Counts,
    fifty: f64,
    alone: f64,
    among: f64,
    /// In MB, as [`PEAKS`].
    peaks: [f64; 3],
}

/// One figure beside its limit.
struct Line {
    what: &'static str,
    unit: &'static str,
    digits: usize,
    value: f64,
    most: f64,
    complaint: &'static str,
}

impl Line {
    fn text(&self) -> String {
        format!(
            "{}: {:.*}{} (at most {:.*})",
            self.what, self.digits, self.value, self.unit, self.digits, self.most
        )
    }

    /// Not a number compares as neither, so it is a limit passed.
    fn passed(&self) -> Option<&'static str> {
        (!(self.value <= self.most && self.value >= 0.0)).then_some(self.complaint)
    }
}

impl Figures {
    fn lines(&self) -> Vec<Line> {
        let instructions = |what, value: f64, most: f64, complaint| Line {
            what,
            unit: " M instructions",
            digits: 3,
            // A run that costs nothing more for being longer counted something else.
            value: if value > 0.0 { value / 1e6 } else { f64::NAN },
            most: most / 1e6,
            complaint,
        };
        let peak = |what, at: usize, complaint| Line {
            what,
            unit: " MB",
            digits: 1,
            value: self.peaks[at],
            most: PEAKS[at],
            complaint,
        };
        vec![
            instructions(
                "a round with 1 tool",
                self.one.round(),
                ROUND,
                "a round takes too many instructions",
            ),
            instructions(
                "a round with 50 tools, all sent",
                self.fifty,
                ROUND_OF_FIFTY,
                "a round with 50 tools takes too many instructions",
            ),
            Line {
                what: "a round with 500 tools and 12 sent, in rounds with those 12 alone",
                unit: "",
                digits: 3,
                value: self.among / self.alone,
                most: 1.0 + REGISTERED,
                complaint: "tools that are not sent cost too much",
            },
            Line {
                what: "a round of 60, in rounds of 20",
                unit: "",
                digits: 2,
                value: self.one.growth(),
                most: GROWTH,
                complaint: "later rounds cost too much more than earlier ones",
            },
            Line {
                what: "difference of two equal runs",
                unit: " %",
                digits: 4,
                value: self.one.repeats() * 100.0,
                most: REPEATS * 100.0,
                complaint: "two equal runs differ, so the count means nothing",
            },
            peak(
                "peak memory with 1 tool",
                0,
                "the peak of memory with one tool is too high",
            ),
            peak(
                "peak memory with 500 tools",
                1,
                "the peak of memory with 500 tools is too high",
            ),
            peak(
                "peak memory with 500 tools, searched by words and meaning",
                2,
                "the peak of memory with a search is too high",
            ),
        ]
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

/// What the program is started with.
fn arguments(url: &str, tools: Tools, rounds: u32) -> Vec<String> {
    let numbers = [rounds, tools.registered, tools.exposed].map(|number| number.to_string());
    let mut arguments = vec!["run".to_owned(), url.to_owned()];
    arguments.extend(numbers);
    arguments.extend(tools.searching.then(|| "search".to_owned()));
    arguments
}

fn count(program: &Path, url: &str, tools: Tools, rounds: u32) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments(url, tools, rounds))
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

fn peak(program: &Path, url: &str, tools: Tools) -> Result<u64, String> {
    let output = Command::new(program)
        .args(arguments(url, tools, 60))
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

    const GOOD: Figures = Figures {
        one: Counts {
            none: 10_000_000,
            twenty: 18_000_000,
            sixty: 34_000_100,
            sixty_again: 34_000_000,
        },
        fifty: 600_000.0,
        alone: 500_000.0,
        among: 510_000.0,
        peaks: [8.0, 13.0, 23.0],
    };

    fn passed(figures: Figures) -> Vec<&'static str> {
        figures.lines().iter().filter_map(Line::passed).collect()
    }

    #[test]
    fn good_figures_pass() {
        assert_eq!(passed(GOOD), [""; 0]);
        let texts: Vec<String> = GOOD.lines().iter().map(Line::text).collect();
        let expected = [
            "a round with 1 tool: 0.400 M instructions (at most 0.450)",
            "a round with 50 tools, all sent: 0.600 M instructions (at most 0.650)",
            "a round with 500 tools and 12 sent, in rounds with those 12 alone: 1.020 (at most 1.050)",
            "a round of 60, in rounds of 20: 1.00 (at most 1.30)",
            "difference of two equal runs: 0.0003 % (at most 0.0100)",
            "peak memory with 1 tool: 8.0 MB (at most 9.0)",
            "peak memory with 500 tools: 13.0 MB (at most 14.0)",
            "peak memory with 500 tools, searched by words and meaning: 23.0 MB (at most 24.0)",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn each_limit_can_be_passed() {
        let one = GOOD.one;
        let cases = [
            (
                Figures {
                    one: Counts {
                        none: 8_000_000,
                        sixty: 36_400_000,
                        sixty_again: 36_400_000,
                        ..one
                    },
                    ..GOOD
                },
                "a round takes too many instructions",
            ),
            (
                Figures {
                    fifty: 650_001.0,
                    ..GOOD
                },
                "a round with 50 tools takes too many instructions",
            ),
            (
                Figures {
                    among: 526_000.0,
                    ..GOOD
                },
                "tools that are not sent cost too much",
            ),
            (
                Figures {
                    one: Counts {
                        twenty: 14_000_000,
                        sixty: 30_000_000,
                        sixty_again: 30_000_000,
                        ..one
                    },
                    ..GOOD
                },
                "later rounds cost too much more than earlier ones",
            ),
            (
                Figures {
                    one: Counts {
                        sixty_again: 34_010_000,
                        ..one
                    },
                    ..GOOD
                },
                "two equal runs differ, so the count means nothing",
            ),
        ];
        for (figures, complaint) in cases {
            assert_eq!(passed(figures), [complaint]);
        }
        let peaks = [
            "the peak of memory with one tool is too high",
            "the peak of memory with 500 tools is too high",
            "the peak of memory with a search is too high",
        ];
        for (at, complaint) in peaks.into_iter().enumerate() {
            let mut high = GOOD;
            high.peaks[at] = PEAKS[at] + 0.1;
            assert_eq!(passed(high), [complaint]);
        }
    }

    #[test]
    fn a_count_that_does_not_grow_with_the_run_is_a_limit_passed() {
        let flat = Figures {
            one: Counts {
                none: 1,
                twenty: 1,
                sixty: 1,
                sixty_again: 1,
            },
            fifty: 0.0,
            alone: 0.0,
            among: 0.0,
            ..GOOD
        };
        assert_eq!(passed(flat).len(), 4);
    }

    #[test]
    fn a_program_is_told_what_to_do() {
        assert_eq!(arguments("u", ONE, 60), ["run", "u", "60", "1", "1"]);
        let searching = arguments("u", SEARCHING, 2);
        assert_eq!(searching, ["run", "u", "2", "500", "12", "search"]);
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
