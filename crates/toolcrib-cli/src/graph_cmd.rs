//! `toolcrib graph`: the same lookups a model has, for people: what to do next is
//! said in commands.

use toolcrib_graph::{
    ExploreArea, ListFiles, Lookup, LookupError, ReadSource, SearchSymbols, SymbolNeighbors,
};

use crate::args::{GraphArgs, GraphCommand};
use crate::exit::{CliError, Status};
use crate::place::Workspace;
use crate::snapshot;
use crate::terminal::print;

/// Runs one lookup and prints its text.
pub(crate) fn run(args: &GraphArgs) -> Result<Status, CliError> {
    let workspace = Workspace::open(&args.place, false)?;
    let snapshot = snapshot::load(&workspace)?;
    if let GraphCommand::Stats = args.lookup {
        print(&snapshot.stats());
        return Ok(Status::Success);
    }
    let command = command(args);
    let lookup = snapshot.lookup.for_commands(&command);
    let (text, found) = look(&lookup, &args.lookup).map_err(|error| {
        let said = error.for_commands(&command);
        match error {
            LookupError::UnknownWord { .. }
            | LookupError::BadGlob { .. }
            | LookupError::BadRange { .. }
            | LookupError::Empty { .. }
            | LookupError::TooLong { .. } => CliError::usage(said),
            _ => CliError::failed(said),
        }
    })?;
    print(&text);
    Ok(if found {
        Status::Success
    } else {
        Status::Failure
    })
}

/// What a printed follow-up begins with, so that it reads the same repository.
fn command(args: &GraphArgs) -> String {
    match &args.place.dir {
        None => "toolcrib graph".to_owned(),
        Some(dir) => {
            let dir = dir.display().to_string().replace('\'', r"'\''");
            format!("toolcrib graph -C '{dir}'")
        }
    }
}

/// The text of a lookup, and whether it found anything.
fn look(lookup: &Lookup, command: &GraphCommand) -> Result<(String, bool), LookupError> {
    Ok(match command {
        GraphCommand::Stats => (String::new(), true),
        GraphCommand::Search {
            query,
            kind,
            path,
            limit,
            offset,
        } => {
            let answer = lookup.search_symbols(&SearchSymbols {
                query: query.clone(),
                kind: kind.clone(),
                path: path.clone(),
                limit: limit.map(|n| n as usize),
                offset: *offset,
            })?;
            (answer.text, answer.data.total > 0)
        }
        GraphCommand::Explore { query, offset } => {
            let answer = lookup.explore_area(&ExploreArea {
                query: query.clone(),
                offset: *offset,
            })?;
            (answer.text, true)
        }
        GraphCommand::Neighbors {
            name,
            direction,
            kinds,
            offset,
        } => {
            let answer = lookup.symbol_neighbors(&SymbolNeighbors {
                name: name.clone(),
                direction: direction.clone(),
                kinds: (!kinds.is_empty()).then(|| kinds.clone()),
                offset: *offset,
            })?;
            (answer.text, answer.data.total > 0)
        }
        GraphCommand::Source { path, start, end } => {
            let answer = lookup.read_source(&ReadSource {
                path: path.clone(),
                start: *start,
                end: *end,
            })?;
            (answer.text, true)
        }
        GraphCommand::Files { path, glob, offset } => {
            let answer = lookup.list_files(&ListFiles {
                path: path.clone(),
                glob: glob.clone(),
                offset: *offset,
            })?;
            (answer.text, answer.data.total > 0)
        }
    })
}
