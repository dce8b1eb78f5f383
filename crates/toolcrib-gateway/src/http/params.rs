//! Arguments that travel as headers too.
//!
//! In the newest revision a schema may mark a property so that what stands between
//! client and server can route by it without reading the body. A header that says
//! something else than the body is a way around whoever routes, so such a call is
//! refused.

use std::collections::BTreeMap;

use hyper::header::HeaderMap;
use serde_json::Value;

use super::guard::decoded;

const PREFIX: &str = "mcp-param-";

/// The headers of one request that stand for arguments: by name in lower case,
/// without what they all begin with. `None` for a value that cannot be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParamHeaders(BTreeMap<String, Option<String>>);

impl ParamHeaders {
    pub(super) fn of(headers: &HeaderMap) -> ParamHeaders {
        let params = headers.iter().filter_map(|(name, value)| {
            let name = name.as_str().strip_prefix(PREFIX)?;
            let value = value.to_str().ok().map(str::trim).and_then(decoded);
            Some((name.to_owned(), value))
        });
        ParamHeaders(params.collect())
    }

    /// Why these are not what the arguments say, where `marked` are the properties
    /// that travel: their path and their header.
    pub(crate) fn mismatch(
        &self,
        marked: &[(Vec<String>, String)],
        arguments: &str,
    ) -> Option<String> {
        if marked.is_empty() {
            return None;
        }
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        marked.iter().find_map(|(path, header)| {
            let value = path
                .iter()
                .try_fold(&arguments, |value, key| value.get(key));
            let said = self.0.get(&header.to_ascii_lowercase());
            let why = match (value.filter(|value| !value.is_null()), said) {
                (None, None) => return None,
                (None, Some(_)) => "is there, but the argument is not",
                (Some(_), None) => "is missing",
                (Some(_), Some(None)) => "cannot be read",
                (Some(value), Some(Some(said))) if same(value, said) => return None,
                (Some(_), Some(Some(_))) => "is not what the body says",
            };
            Some(format!(
                "Mcp-Param-{header} {why}: it stands for `{}`",
                path.join(".")
            ))
        })
    }
}

fn same(value: &Value, said: &str) -> bool {
    match value {
        Value::String(text) => text == said,
        Value::Bool(flag) => flag.to_string() == said,
        Value::Number(number) => number.to_string() == said,
        // No header can say it, so none is held against it.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_held_to_what_the_arguments_say() {
        let marked = [
            (vec!["region".to_owned()], "Region".to_owned()),
            (vec!["in".to_owned(), "n".to_owned()], "N".to_owned()),
        ];
        let told = |pairs: &[(&str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                let name: hyper::header::HeaderName = name.parse().unwrap();
                headers.insert(name, value.parse().unwrap());
            }
            ParamHeaders::of(&headers)
        };
        let fine = told(&[
            ("Mcp-Param-Region", "=?base64?w4Q=?="),
            ("mcp-param-n", "3"),
        ]);
        assert_eq!(
            fine.mismatch(&marked, r#"{"region":"Ä","in":{"n":3}}"#),
            None
        );
        assert_eq!(told(&[]).mismatch(&marked, r#"{"region":null}"#), None);
        assert_eq!(fine.mismatch(&[], "{}"), None);
        for (headers, arguments, why) in [
            (told(&[]), r#"{"region":"a"}"#, "Region is missing"),
            (
                fine.clone(),
                r#"{"region":"b","in":{"n":3}}"#,
                "Region is not what",
            ),
            (
                fine.clone(),
                r#"{"region":"Ä","in":{"n":4}}"#,
                "N is not what",
            ),
            (fine.clone(), r#"{"region":"Ä"}"#, "N is there"),
            (
                told(&[("mcp-param-region", "=?base64?w4Q?=")]),
                r#"{"region":"Ä"}"#,
                "cannot be read",
            ),
            (
                told(&[("mcp-param-region", "=?base64?w*Q=?=")]),
                r#"{"region":"Ä"}"#,
                "cannot be read",
            ),
        ] {
            let said = headers.mismatch(&marked, arguments).unwrap();
            assert!(said.contains(why), "{said}");
        }
    }
}
