//! A call that is settled but has not run.

use std::sync::Arc;

use toolcrib_core::{
    Arguments, Footprint, Permission, Str, Tool, ToolCall, ToolError, ToolErrorKind, ToolName,
};

use crate::Repair;
use crate::arguments;

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
            Ok((arguments, more)) => {
                repairs.extend(more);
                arguments
            }
            Err(_) => Arguments::empty(),
        };
        Prepared {
            call: settled(call, name, &arguments),
            repairs,
            verdict: Verdict::Refuse(error),
            ready: None,
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

    /// The arguments that the tool gets; `None` for a refused call.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.parts().map(|ready| &ready.arguments)
    }

    /// A call whose arguments were read, as `written` in the call itself.
    pub(crate) fn ready(
        call: &ToolCall,
        repairs: Vec<Repair>,
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
            call: settled(call, call.name.clone(), written),
            repairs,
            verdict,
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
