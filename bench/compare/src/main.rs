//! Runs the same task with each crate and prints what a round takes, as Markdown.
//!
//! Instructions are counted by callgrind as the difference of two runs of different
//! lengths, so that what a program does once is left out and a busy machine changes
//! nothing; peak memory is the kernel's own count of a run of 20 rounds.

use std::path::{Path, PathBuf};
use std::process::Command;

use toolcrib_compare::Error;
use toolcrib_gate::Script;

/// Rounds of the two runs whose difference is counted; few, since a round with 500
/// tools takes some crates hundreds of millions of instructions.
const ROUNDS: [usize; 2] = [2, 6];
/// Rounds of the run whose memory is read, and of the long one.
const PEAK: usize = 20;
const LONG: usize = 1_000;

/// A program, the words it is told, and what the table calls it.
struct Contender {
    name: &'static str,
    program: &'static str,
    words: &'static [&'static str],
    /// The numbers of tools it is run with.
    tools: &'static [usize],
}

const CONTENDERS: [Contender; 4] = [
    Contender {
        name: "toolcrib, all tools sent",
        program: "with_toolcrib",
        words: &[],
        tools: &[1, 50, 500],
    },
    Contender {
        name: "toolcrib, 12 sent and the rest deferred",
        program: "with_toolcrib",
        words: &["deferred"],
        tools: &[50, 500],
    },
    Contender {
        name: "rig 0.44.0",
        program: "with_rig",
        words: &[],
        tools: &[1, 50, 500],
    },
    Contender {
        name: "genai 0.7.0, the loop by hand",
        program: "with_genai",
        words: &[],
        tools: &[1, 50, 500],
    },
];

fn main() -> Result<(), Error> {
    let dir = std::env::current_exe()?;
    let dir = dir.parent().ok_or("the program has no directory")?;
    let url = format!("{}/", toolcrib_gate::start()?);
    println!(
        "| a round with so many tools | 1: M instructions | MB | 50: M instructions | MB | 500: M instructions | MB |"
    );
    println!("|---|---|---|---|---|---|---|");
    for contender in &CONTENDERS {
        let mut row = format!("| {} |", contender.name);
        for tools in [1, 50, 500] {
            if !contender.tools.contains(&tools) {
                row.push_str(" | |");
                continue;
            }
            let run = Run {
                program: dir.join(contender.program),
                url: &url,
                words: contender.words,
                tools,
            };
            let counts = ROUNDS.map(|rounds| run.count(rounds));
            let [short, long] = counts;
            let per_round = (long? as f64 - short? as f64) / (ROUNDS[1] - ROUNDS[0]) as f64;
            let peak = run.peak(PEAK)?;
            row.push_str(&format!(" {:.2} | {:.1} |", per_round / 1e6, mb(peak)));
        }
        println!("{row}");
    }
    println!("\n| {LONG} rounds in one run, 1 tool | peak MB |\n|---|---|");
    let long = [
        ("toolcrib", "with_toolcrib", &[][..]),
        (
            "toolcrib, with a session on disk",
            "with_toolcrib",
            &["session"][..],
        ),
        ("rig 0.44.0", "with_rig", &[]),
        ("genai 0.7.0, the loop by hand", "with_genai", &[]),
    ];
    for (name, program, words) in long {
        let run = Run {
            program: dir.join(program),
            url: &url,
            words,
            tools: 1,
        };
        println!("| {name} | {:.1} |", mb(run.peak(LONG)?));
    }
    let append = output(Command::new(dir.join("session_append")))?;
    let numbers: Vec<&str> = append.trim().split(' ').skip(1).collect();
    let [p50, p99, max] = numbers[..] else {
        return Err(format!("session_append printed no times: {append}").into());
    };
    println!("\n| appending a row of 2 KB to a session | p50 | p99 | max |\n|---|---|---|---|");
    println!("| microseconds | {p50} | {p99} | {max} |");
    Ok(())
}

fn mb(kb: u64) -> f64 {
    kb as f64 / 1024.0
}

struct Run<'a> {
    program: PathBuf,
    url: &'a str,
    words: &'a [&'a str],
    tools: usize,
}

impl Run<'_> {
    fn told(&self, command: &mut Command, rounds: usize, prompt: bool) {
        let script = Script {
            calls: rounds,
            prompt,
            ..Script::default()
        };
        command.args([
            self.url,
            &script.model(),
            &rounds.to_string(),
            &self.tools.to_string(),
        ]);
        command.args(self.words);
    }

    fn count(&self, rounds: usize) -> Result<u64, Error> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(&self.program);
        self.told(&mut command, rounds, false);
        let done = clean(&mut command).output().map_err(|error| {
            format!("valgrind cannot be run ({error}); on Debian it is the package `valgrind`")
        })?;
        let report = String::from_utf8_lossy(&done.stderr);
        if !done.status.success() {
            return Err(failed(&self.program, &report));
        }
        let line = report
            .lines()
            .find_map(|line| line.split_once("Collected :"));
        let (_, number) = line.ok_or("valgrind printed no count")?;
        Ok(number.trim().parse()?)
    }

    fn peak(&self, rounds: usize) -> Result<u64, Error> {
        let mut command = Command::new(&self.program);
        self.told(&mut command, rounds, true);
        let text = output(command)?;
        let number = text
            .trim()
            .strip_prefix("peak ")
            .and_then(|rest| rest.strip_suffix(" kB"));
        Ok(number.ok_or("the program printed no peak")?.parse()?)
    }
}

fn output(mut command: Command) -> Result<String, Error> {
    let done = clean(&mut command).output()?;
    if !done.status.success() {
        let program = Path::new(command.get_program());
        return Err(failed(program, &String::from_utf8_lossy(&done.stderr)));
    }
    Ok(String::from_utf8(done.stdout)?)
}

/// Proxies and other settings of one machine are not to be measured.
fn clean(command: &mut Command) -> &mut Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path)
}

fn failed(program: &Path, report: &str) -> Error {
    format!("{} failed: {report}", program.display()).into()
}
