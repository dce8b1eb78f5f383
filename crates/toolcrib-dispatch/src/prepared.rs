//! A call that is settled but has not run.

use std::sync::Arc;

use toolcrib_core::{
    Arguments, Footprint, Permission, Str, Tool, ToolCall, ToolError, ToolErrorKind, ToolName,
    ToolSpec,
};

use crate::{Repair, arguments, validate};

/// One call, ready for [`crate::Dispatcher::run`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Prepared {
    /// The call as the transcript must hold it: with the arguments that run, or
    /// with a valid stand-in where what was received cannot be sent back.
    pub call: ToolCall,
    /// What was changed on the way, in order.
    pub repairs: Vec<Repair>,
    verdict: Verdict,
    ready: Option<Ready>,
    /// Of the tool that is meant, whether it runs or not.
    spec: Option<Arc<ToolSpec>>,
}

/// What is to be done with a [`Prepared`] call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// It runs.
    Run,
    /// It runs after a yes.
    Ask,
    /// It does not run; the model reads why.
    Refuse(ToolError),
}

/// Tool and arguments of a call that may run.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) arguments: Arguments,
    pub(crate) footprint: Footprint,
}

impl Prepared {
    /// What is to be done with it.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// A call that does not run and whose result is `error`: beyond a budget,
    /// held back by a guard. The transcript gets its arguments, if they can be
    /// sent back.
    pub fn refused(call: &ToolCall, error: ToolError) -> Prepared {
        let mut repairs = Vec::new();
        let name = safe_name(&call.name, &mut repairs);
        let arguments = match arguments::read(&call.name, &call.arguments) {
            Ok(read) => {
                repairs.extend(read.repairs);
                read.arguments
            }
            Err(_) => Arguments::empty(),
        };
        Prepared {
            call: settled(call, name, &arguments),
            repairs,
            verdict: Verdict::Refuse(error),
            ready: None,
            spec: None,
        }
    }

    /// The same for a call whose tool was found.
    pub(crate) fn refused_of(
        call: &ToolCall,
        spec: Option<Arc<ToolSpec>>,
        error: ToolError,
    ) -> Prepared {
        Prepared {
            spec,
            ..Prepared::refused(call, error)
        }
    }

    /// The same call, not to run: its result is `error`.
    pub fn refuse(self, error: ToolError) -> Prepared {
        Prepared {
            verdict: Verdict::Refuse(error),
            ready: None,
            ..self
        }
    }

    /// The last call of a reply that was cut at the output limit. It never runs,
    /// even if its arguments look complete.
    pub fn cut_off(call: &ToolCall) -> Prepared {
        let error = ToolError::new(
            ToolErrorKind::BadJson,
            format!(
                "the reply was cut at the output limit while it wrote this call of `{}`, so the \
                 tool did not run. Send the call again with shorter arguments, or split the work \
                 into several calls.",
                short(&call.name)
            ),
        );
        Prepared::refused(call, error)
    }

    /// The tool that runs, which is another than the call names where one tool passes
    /// calls on; `None` for a refused call.
    pub fn tool(&self) -> Option<&Arc<dyn Tool>> {
        self.parts().map(|ready| &ready.tool)
    }

    /// What is known of the tool that is meant, found and visible, also where the call
    /// was refused.
    pub fn spec(&self) -> Option<&Arc<ToolSpec>> {
        self.spec.as_ref()
    }

    /// What an error says of the arguments that the tool wants: its schema, or the
    /// names alone where that is long. Empty where the tool wants none.
    pub fn wanted(&self) -> String {
        self.spec
            .as_ref()
            .map_or_else(String::new, |spec| validate::wanted(spec))
    }

    /// The arguments that the tool gets; `None` for a refused call.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.parts().map(|ready| &ready.arguments)
    }

    /// A call whose arguments were read, as `written` in the call itself.
    pub(crate) fn ready(
        call: &ToolCall,
        mut repairs: Vec<Repair>,
        permission: Permission,
        written: &Arguments,
        ready: Ready,
    ) -> Prepared {
        let verdict = match permission {
            Permission::Allow => Verdict::Run,
            Permission::Ask => Verdict::Ask,
            Permission::Deny => Verdict::Refuse(ToolError::new(
                ToolErrorKind::Denied,
                format!("`{}` is denied; do without it.", ready.tool.spec().name),
            )),
        };
        Prepared {
            call: settled(call, safe_name(&call.name, &mut repairs), written),
            repairs,
            verdict,
            spec: Some(ready.tool.spec().clone()),
            ready: Some(ready),
        }
    }

    /// Tool and arguments, unless the call is refused.
    pub(crate) fn parts(&self) -> Option<&Ready> {
        match self.verdict {
            Verdict::Refuse(_) => None,
            _ => self.ready.as_ref(),
        }
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared")
            .field("call", &self.call)
            .field("repairs", &self.repairs)
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}

/// At most 80 characters of a name that a model made up.
pub(crate) fn short(name: &str) -> String {
    const SHOWN: usize = 80;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn settled(call: &ToolCall, name: Str, arguments: &Arguments) -> ToolCall {
    ToolCall {
        name,
        arguments: arguments.shared(),
        ..call.clone()
    }
}

/// Providers check the names of past calls too: one made-up name with a space
/// would make every later request fail.
fn safe_name(name: &Str, repairs: &mut Vec<Repair>) -> Str {
    if ToolName::parse(name).is_ok() {
        return name.clone();
    }
    repairs.push(Repair::UnsafeName);
    ToolName::from_foreign(name).as_str().into()
}
