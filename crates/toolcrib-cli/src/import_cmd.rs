//! `toolcrib import`: what the clients have, what it costs, and taking it over.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toolcrib_core::Str;
use toolcrib_gateway::Loaded;
use toolcrib_gateway::import::{
    Applied, Client, Goal, Places, Plan, PlannedServer, Scope, Survey, apply, survey, undo,
};
use toolcrib_mcp::{Fleet, FleetOptions, Manifest};
use toolcrib_surface::definition_tokens;

use crate::args::ImportArgs;
use crate::config::{self, REPOSITORY_FILE};
use crate::exit::{CliError, Status};
use crate::place;
use crate::terminal::{count, print, say};
use crate::trust::TrustStore;

/// Shows what was found and writes what was asked for.
pub(crate) fn run(args: &ImportArgs) -> Result<Status, CliError> {
    let ours = config::Places::detect();
    let state = ours.state.clone().ok_or_else(no_home)?;
    if args.undo {
        let undone = undo(&state).map_err(CliError::failed)?;
        for path in &undone.restored {
            say(&format!("restored {}", path.display()));
        }
        for path in &undone.merged {
            say(&format!(
                "took the import back out of {}, and kept what changed since",
                path.display()
            ));
        }
        for path in &undone.removed {
            say(&format!("removed {}", path.display()));
        }
        for left in &undone.left {
            let backup = match &left.backup {
                Some(backup) => format!("; as it was: {}", backup.display()),
                None => String::new(),
            };
            say(&format!(
                "left alone: {}: {}{backup}",
                left.path.display(),
                left.why
            ));
        }
        if undone.is_empty() && !undone.left.is_empty() {
            return Err(CliError::failed("nothing on record could be undone"));
        }
        return Ok(Status::Success);
    }
    let (root, _) = place::root(&args.place)?;
    let places = places(&root)?;
    let survey = survey(&places, &clients(&args.client)?);
    let program = std::env::current_exe().map_err(CliError::failed)?;
    let goal = Goal {
        user_config: ours.user_config.clone().ok_or_else(no_home)?,
        project_config: root.join(REPOSITORY_FILE),
        program: program.to_string_lossy().into_owned(),
        shared_program: "toolcrib".to_owned(),
    };
    let plan = Plan::new(&survey, &goal).map_err(CliError::failed)?;
    let costs = costs(&plan, &goal, &root, ours.cache.as_deref(), args.check)?;
    print(&shown(&survey, &plan, &costs));
    if args.dry_run || plan.servers.is_empty() {
        return Ok(Status::Success);
    }
    let trusted = trusted_before(&goal.project_config, &state)?;
    let applied = apply(&plan, args.apply, &state).map_err(CliError::failed)?;
    tell(&plan, &applied, args.apply);
    // Who runs this has just been shown what it says; an edit of others still asks.
    if trusted && applied.written.contains(&goal.project_config) {
        let bytes = std::fs::read(&goal.project_config).map_err(CliError::failed)?;
        TrustStore::read(&state)?.trust(&goal.project_config, &bytes)?;
    }
    Ok(Status::Success)
}

fn no_home() -> CliError {
    CliError::failed("neither HOME nor the XDG variables are set: no place for the configuration")
}

/// Whether the project's configuration is trusted as it stands, or is not there yet.
fn trusted_before(file: &Path, state: &Path) -> Result<bool, CliError> {
    match std::fs::read(file) {
        Ok(bytes) => Ok(TrustStore::read(state)?.trusts(file, &bytes)),
        Err(_) => Ok(true),
    }
}

fn places(root: &Path) -> Result<Places, CliError> {
    let absolute = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let home = absolute("HOME").or_else(|| absolute("USERPROFILE"));
    let mut places = Places::new(home.ok_or_else(no_home)?, root);
    places.xdg_config = absolute("XDG_CONFIG_HOME");
    places.appdata = absolute("APPDATA");
    places.codex_home = absolute("CODEX_HOME");
    Ok(places)
}

fn clients(named: &[String]) -> Result<Vec<Client>, CliError> {
    if named.is_empty() {
        return Ok(Client::ALL.to_vec());
    }
    let find = |name: &String| {
        let known = Client::ALL.into_iter().find(|client| client.id() == name);
        known.ok_or_else(|| {
            let all: Vec<&str> = Client::ALL.into_iter().map(Client::id).collect();
            CliError::usage(format!(
                "--client: no client {name:?}; known are {}",
                all.join(", ")
            ))
        })
    };
    named.iter().map(find).collect()
}

/// What a server's tools cost, or why that is not known.
enum Cost {
    Known { tools: usize, tokens: usize },
    Unknown,
    Failed(String),
}

/// By scope and name.
type Costs = BTreeMap<(Scope, String), Cost>;

fn costs(
    plan: &Plan,
    goal: &Goal,
    root: &Path,
    cache: Option<&Path>,
    check: bool,
) -> Result<Costs, CliError> {
    let mut costs = Costs::new();
    let mut options = FleetOptions::default();
    options.cache_dir = cache.map(|dir| dir.join("mcp"));
    for scope in [Scope::User, Scope::Project] {
        let path = match scope {
            Scope::User => &goal.user_config,
            Scope::Project => &goal.project_config,
        };
        let written = plan.writes.iter().find(|write| write.path == *path);
        let text = match written {
            Some(write) => write.after.clone(),
            None => std::fs::read_to_string(path).unwrap_or_default(),
        };
        let servers: Vec<&PlannedServer> =
            plan.servers.iter().filter(|s| s.scope == scope).collect();
        let loaded = Loaded::from_toml(&text, path, root);
        let loaded = match loaded {
            // As the clients will start it: with what their entries carry.
            Ok(loaded) => loaded.filled(&plan.carried()),
            Err(error) => {
                for server in servers {
                    let key = (scope, server.name.clone());
                    costs.insert(key, Cost::Failed(error.to_string()));
                }
                continue;
            }
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(CliError::failed)?;
        let fleet = runtime.block_on(async { Fleet::new(loaded.servers, options.clone()) });
        let failures: BTreeMap<Str, String> = match check {
            true => runtime.block_on(async {
                if !servers.is_empty() {
                    say(&format!("starting {} to count their tools", servers.len()));
                }
                let failures = fleet.learn().await;
                fleet.shutdown().await;
                failures
                    .into_iter()
                    .map(|(name, error)| (name, error.to_string()))
                    .collect()
            }),
            false => BTreeMap::new(),
        };
        for server in servers {
            let cost = match (
                failures.get(server.name.as_str()),
                fleet.manifest(&server.name),
            ) {
                (Some(why), _) => Cost::Failed(why.clone()),
                (None, Some(manifest)) => cost(&server.name, &manifest),
                (None, None) => Cost::Unknown,
            };
            costs.insert((scope, server.name.clone()), cost);
        }
    }
    Ok(costs)
}

fn cost(server: &str, manifest: &Manifest) -> Cost {
    let tokens = manifest.tools.iter().map(|tool| {
        let name = toolcrib_mcp::exported_name(server, &tool.name);
        definition_tokens(&toolcrib_core::ToolSpec::new(
            name,
            tool.description.clone(),
            tool.input_schema.clone(),
        ))
    });
    Cost::Known {
        tools: manifest.tools.len(),
        tokens: tokens.sum(),
    }
}

fn shown(survey: &Survey, plan: &Plan, costs: &Costs) -> String {
    let mut text = String::new();
    if plan.servers.is_empty() {
        text.push_str("no MCP server was found that is not served already\n");
    }
    let (mut tools, mut tokens, mut unknown, mut failed) = (0, 0, 0, 0);
    for server in &plan.servers {
        let cost = match costs.get(&(server.scope, server.name.clone())) {
            Some(Cost::Known {
                tools: t,
                tokens: n,
            }) => {
                tools += t;
                tokens += n;
                format!("{}, {}", count(*t, "tool"), count(*n, "token"))
            }
            Some(Cost::Failed(why)) => {
                failed += 1;
                format!("does not work: {}", why.lines().next().unwrap_or(""))
            }
            _ if server.settings.disabled => "switched off".to_owned(),
            _ => {
                unknown += 1;
                "tokens not known yet".to_owned()
            }
        };
        let from: Vec<&str> = server
            .from
            .iter()
            .map(|(client, _)| client.title())
            .collect();
        let known = if server.known {
            ", configured already"
        } else {
            ""
        };
        let _ = writeln!(text, "{}: {cost} ({}{known})", server.name, from.join(", "));
    }
    if tools > 0 {
        let _ = writeln!(
            text,
            "{}, {} in every prompt as it is; at most 800 behind the gateway",
            count(tools, "tool"),
            count(tokens, "token")
        );
    }
    if unknown > 0 {
        let _ = writeln!(
            text,
            "{unknown} not counted; --check starts each of them once"
        );
    }
    if failed > 0 {
        let _ = writeln!(
            text,
            "{failed} not counted, since they do not work; they are taken over all the same"
        );
    }
    for path in survey.served() {
        let _ = writeln!(text, "served already: {}", path.display());
    }
    for problem in &survey.problems {
        let _ = writeln!(text, "left alone: {problem}");
    }
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\n' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

fn tell(plan: &Plan, applied: &Applied, clients: bool) {
    for path in &applied.written {
        say(&format!("wrote {}", path.display()));
    }
    if applied.written.is_empty() {
        say("nothing to write: all of it is configured already");
    } else {
        say(&format!(
            "backups are in {}; `toolcrib import --undo` puts everything back",
            applied.backups.display()
        ));
    }
    if clients {
        say("restart the clients to use the gateway");
        return;
    }
    let needs: Vec<String> = plan
        .servers
        .iter()
        .filter(|server| !server.needs.is_empty())
        .map(|server| format!("{} needs {}", server.name, server.needs.join(", ")))
        .collect();
    if !needs.is_empty() {
        say(&format!(
            "set these variables for `toolcrib serve`, or let --apply carry them: {}",
            needs.join("; ")
        ));
    }
    say("--apply replaces the clients' entries by one for the gateway");
}
