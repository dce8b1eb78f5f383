//! What looks like a secret.
//!
//! Liberal on purpose: a text that is taken for a secret by mistake still reaches the
//! server, by a variable. One that is missed would be copied into another file.

/// Parts of names under which secrets are kept.
const NAMES: [&str; 24] = [
    "apikey",
    "api_key",
    "accesskey",
    "access_key",
    "secret",
    "token",
    "pass",
    "secretkey",
    "mnemonic",
    "login",
    "pwd",
    "credential",
    "auth",
    "cookie",
    "session",
    "private",
    "dsn",
    "signature",
    "license",
    "webhook",
    "connection_string",
    "connectionstring",
    "database_url",
    "bearer",
];

/// Beginnings of the tokens of well-known services.
const BEGINNINGS: [&str; 26] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "lin_api_",
    "ntn_",
    "secret_",
];

/// Whether a variable, header, flag or parameter of that name holds a secret.
pub(crate) fn by_name(name: &str) -> bool {
    let name = name.trim_start_matches('-').to_ascii_lowercase();
    let name = name.replace(['-', '.', ' '], "_");
    NAMES.iter().any(|part| name.contains(part))
        || ["key", "pat", "tok"].iter().any(|end| name.ends_with(end))
        || ["pin", "otp", "conn", "seed", "seed_phrase"].contains(&name.as_str())
}

/// Whether what follows such a flag may be a secret.
pub(crate) fn by_flag(flag: &str) -> bool {
    const FLAGS: &[&str] = &[
        "a",
        "c",
        "k",
        "p",
        "s",
        "t",
        "u",
        "w",
        "api",
        "cred",
        "creds",
        "code",
        "command",
        "id",
        "user",
        "username",
        "config",
        "conn",
        "connection",
        "url",
    ];
    let bare = flag.trim_start_matches('-').to_ascii_lowercase();
    by_name(flag) || (flag.starts_with('-') && FLAGS.contains(&bare.as_str()))
}

/// Whether a bare word announces a secret as a flag would: `login token SECRET`.
pub(crate) fn by_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "api-key", "api_key", "apikey", "key", "passwd", "password", "pwd", "secret", "token",
    ];
    WORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// Whether a single dash has more than a letter behind it: `-pSECRET` is written like
/// `-quiet`, so only words that are known are let through.
pub(crate) fn glued(arg: &str) -> bool {
    const WORDS: &[&str] = &[
        "cp", "d", "ea", "help", "it", "jar", "rm", "server", "stdio", "ti", "v", "verbose",
    ];
    let Some(rest) = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    let mut chars = rest.chars().skip(1);
    chars.next().is_some_and(|second| second != '=') && !WORDS.contains(&rest)
}

/// Whether a text that no flag explains has letters and digits in one run, as keys
/// have: `abc123key`. The version of a package is none.
pub(crate) fn opaque(text: &str) -> bool {
    let package = match text.rsplit_once('@') {
        Some((name, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => name,
        _ => text,
    };
    let mut runs = package.split(|c: char| !c.is_ascii_alphanumeric());
    runs.any(|run| {
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        run.len() >= 6 && digits > 0 && digits < run.len()
    })
}

/// Whether an address holds more than a server's name and words that every such
/// address has: a user, parameters, or a part of the path that may be a key.
fn address(rest: &str) -> bool {
    const WORDS: &[&str] = &[
        "",
        "ai",
        "api",
        "beta",
        "docs",
        "events",
        "http",
        "json",
        "jsonrpc",
        "mcp",
        "message",
        "messages",
        "openapi",
        "public",
        "readonly",
        "rpc",
        "server",
        "servers",
        "sse",
        "stable",
        "stream",
        "streamable",
        "streamable-http",
        "ws",
    ];
    const HOSTS: &[&str] = &["github.com", "gitlab.com", "bitbucket.org", "codeberg.org"];
    if rest.contains(['?', '#']) {
        return true;
    }
    let mut parts = rest.split('/');
    let host = parts.next().unwrap_or("");
    // Repositories are named in public; their names are not secrets.
    if HOSTS.contains(&host) {
        return parts.any(|part| opaque(part.trim_end_matches(".git")));
    }
    let version = |part: &str| {
        let number = part.strip_prefix('v').unwrap_or("");
        !number.is_empty()
            && number.len() <= 4
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    host.contains('@')
        || host.split(['.', ':']).any(random)
        || parts.any(|part| !WORDS.contains(&part) && !version(part))
}

/// What stands behind each `://`, up to the next blank, quote or comma, where the
/// address is of the web.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, mark)| {
        let before = text[..at].to_ascii_lowercase();
        let web = ["http", "https", "ws", "wss"]
            .iter()
            .any(|s| before.ends_with(s));
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '`'));
        web.then(|| &rest[..end.unwrap_or(rest.len())])
    })
}

/// Whether a text holds the value of a secret key somewhere inside: JSON, `Password=x;`,
/// `Authorization: x`, `user:password`, an address with a user or parameters.
pub(crate) fn inside(text: &str) -> bool {
    if text.contains('{') && text.contains('"') {
        return true;
    }
    if let Some((_, rest)) = text.split_once("://") {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
        let query = rest.split_once('?').map_or("", |(_, query)| query);
        if authority.contains('@') || !query.is_empty() || rest.contains('#') {
            return true;
        }
    }
    if addresses(text).any(address) {
        return true;
    }
    let named = text.match_indices(['=', ':']).any(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
        let start = start.map_or(0, |start| {
            start + before[start..].chars().next().map_or(1, char::len_utf8)
        });
        let behind = text[at + 1..].trim_start();
        !behind.is_empty() && !behind.starts_with("//") && by_name(&before[start..])
    });
    named
        || pair(text)
        || text.contains("Bearer ")
        || text
            .split_whitespace()
            .any(|word| by_value(word) || signed(word))
}

/// `user:password@host` without a scheme, as some database drivers have it, and not
/// the version of a package or an image.
fn signed(word: &str) -> bool {
    let Some((before, host)) = word.rsplit_once('@') else {
        return false;
    };
    let Some((user, password)) = before.split_once(':') else {
        return false;
    };
    let registry = ["npm", "jsr", "github"].contains(&user) || host.starts_with("sha256:");
    !user.is_empty()
        && !user.contains('/')
        && !password.is_empty()
        && !password.starts_with('/')
        && !host.is_empty()
        && !registry
}

/// `user:password`, and not a port, a path or a version.
fn pair(text: &str) -> bool {
    let Some((user, password)) = text.split_once(':') else {
        return false;
    };
    let odd = |c: char| c.is_whitespace() || matches!(c, '/' | '\\' | '@' | ':');
    !user.is_empty()
        && !password.is_empty()
        && !text.replacen(':', "", 1).contains(odd)
        && !password.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// Whether a text looks like a secret wherever it stands.
pub(crate) fn by_value(value: &str) -> bool {
    let value = value.trim();
    if value.len() < 8 {
        return false;
    }
    for scheme in ["Bearer ", "Basic ", "Token ", "bearer ", "basic ", "token "] {
        if let Some(rest) = value.strip_prefix(scheme) {
            return !rest.trim().is_empty();
        }
    }
    if BEGINNINGS.iter().any(|start| value.starts_with(start)) && !value.contains(' ') {
        return true;
    }
    if value.starts_with("-----BEGIN") || value.contains("SharedAccess") {
        return true;
    }
    in_address(value) || random(value)
}

/// User names with passwords, and parameters with secret names.
fn in_address(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    if let Some((user, _)) = authority.rsplit_once('@')
        && (user.contains(':') || user.len() >= 16)
    {
        return true;
    }
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    query.split(['&', '#']).any(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        !value.is_empty() && (by_name(name) || random(value))
    }) || authority_path_is_random(rest)
}

/// Some services put the secret into the path.
fn authority_path_is_random(rest: &str) -> bool {
    let path = rest.split(['?', '#']).next().unwrap_or("");
    path.split('/').skip(1).any(random)
}

/// Long, of one piece, letters and digits mixed as chance would.
fn random(value: &str) -> bool {
    if value.len() < 20 || value.contains("__") {
        return false;
    }
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'=' | b'.');
    if !value.bytes().all(fits) {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = value.bytes().filter(u8::is_ascii_lowercase).count();
    let hex = value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    // Words between separators are no chance: `some-package-name-2`, `1.2.3-beta.4`.
    let longest = value
        .split(['-', '_', '.'])
        .map(str::len)
        .max()
        .unwrap_or(0);
    (hex && digits >= 4 && longest >= 12)
        || (longest >= 16 && digits >= 2 && (upper >= 2 || lower >= 2))
        || (longest >= 20 && upper >= 4 && lower >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glued_values_and_addresses_with_more_than_words_count() {
        for arg in ["-psecret", "-p=x1", "-password=x", "-Dkey=x", "-é1"] {
            assert_eq!(glued(arg), arg != "-p=x1", "{arg}");
        }
        for arg in ["-y", "-it", "-stdio", "--password=x", "-", "--", "-p"] {
            assert!(!glued(arg), "{arg}");
        }
        for text in ["abc123key", "a1b2c3", "x/hunter22"] {
            assert!(opaque(text), "{text}");
        }
        for text in [
            "us-east-1",
            "mcp-server-sqlite@0.6.2-beta.1",
            "2024-01",
            "index.js",
        ] {
            assert!(!opaque(text), "{text}");
        }
        for text in [
            "https://host/mcp/abc123key",
            "https://host/mcp/hunter",
            "https://host/mcp?hunter",
            "see https://host/mcp and http://other/s/key/mcp",
            "https://github.com/a/abc123key",
            "https://k7f3m9x2q8w4z6n1p5t0.host/mcp",
            "root:hunter@tcp(db:3306)/x",
        ] {
            assert!(inside(text), "{text}");
        }
        for text in [
            "https://api.githubcopilot.com/mcp/",
            "https://host:8080/v1.2/api/mcp",
            "git+https://github.com/oraios/serena.git",
            "postgres://localhost/db",
            "npm:some-server@1.2.3",
            "some/image:5@sha256:0a",
            "git@host:owner/repo",
        ] {
            assert!(!inside(text), "{text}");
        }
    }

    #[test]
    fn secrets_are_known_by_name_or_look() {
        for name in [
            "GITHUB_TOKEN",
            "API_KEY",
            "x-api-key",
            "Authorization",
            "--api-key",
            "PGPASSWORD",
            "GH_PAT",
            "DATABASE_URL",
        ] {
            assert!(by_name(name), "{name}");
        }
        for name in ["LOG_LEVEL", "PORT", "HOME", "KEYBOARD", "--region", "PATH"] {
            assert!(!by_name(name), "{name}");
        }
        for value in [
            "ghp_0123456789abcdefghij",
            "Bearer abc",
            "postgres://me:hunter2@db/x",
            "https://mcp.example.com/mcp?api_key=abc",
            "https://hooks.example.com/s/aB3dE5gH7jK9mN1pQ3rS5t",
            "0f8fad5b-d9cb-469f-a165-70867728950e",
            "4f5a1c9e2b7d4f5a1c9e2b7d",
        ] {
            assert!(by_value(value), "{value}");
        }
        for value in [
            "info",
            "@modelcontextprotocol/server-filesystem",
            "/srv/projects/2024-01",
            "https://mcp.example.com/v1/mcp",
            "mcp-server-sqlite@0.6.2-beta.1",
            "awslabs.billing-cost-management-mcp-server",
            "us-east-1",
            "postgres://localhost:5432/db",
        ] {
            assert!(!by_value(value), "{value}");
        }
    }
}
