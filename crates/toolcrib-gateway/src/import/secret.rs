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
    const FLAGS: [&str; 9] = [
        "p",
        "u",
        "k",
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

/// Whether a text holds the value of a secret key somewhere inside: JSON, `Password=x;`,
/// `Authorization: x`, `user:password`, an address with a user or parameters.
pub(crate) fn inside(text: &str) -> bool {
    if text.contains('{') && text.contains('"') {
        return true;
    }
    if let Some((_, rest)) = text.split_once("://") {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
        let query = rest.split_once('?').map_or("", |(_, query)| query);
        if authority.contains('@') || query.contains('=') || rest.contains('#') {
            return true;
        }
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
    named || pair(text) || text.contains("Bearer ") || text.split_whitespace().any(by_value)
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
