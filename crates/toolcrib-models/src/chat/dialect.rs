//! How servers of the chat wire differ, as one table.
//!
//! A difference is a value here, never a branch elsewhere on a vendor's name. A
//! vendor that needs a branch has another wire.

use toolcrib_core::{FinalRound, ToolDialect};

/// Who speaks the chat wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Vendor {
    /// OpenAI itself.
    OpenAi,
    /// OpenRouter: many models behind one key, with costs.
    OpenRouter,
    /// llama.cpp's own server.
    LlamaCpp,
    /// vLLM.
    Vllm,
    /// LM Studio.
    LmStudio,
    /// A local Ollama.
    Ollama,
    /// Any other server, such as a gateway.
    Generic,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The provider's word before the colon of a profile id.
    pub(crate) word: &'static str,
    pub(crate) base_url: &'static str,
    /// Members of every body that stand before the tools, each followed by a comma.
    pub(crate) members: &'static str,
    /// Members of a body that carries tools, likewise.
    pub(crate) members_with_tools: &'static str,
    /// What the limit of generated tokens is called.
    pub(crate) output_limit: &'static str,
    /// Whether an image in a tool result is sent on in a user message. Elsewhere
    /// the model is told that there was one: most local models cannot see, and
    /// their servers refuse the request.
    pub(crate) forwards_images: bool,
    /// Fields of an assistant message that carry reasoning and go back to the model
    /// that wrote them.
    pub(crate) reasoning_back: &'static [&'static str],
    pub(crate) final_round: FinalRound,
    /// Beginnings of model names that keep the tool array in the final round.
    pub(crate) keeps_tools: &'static [&'static str],
    pub(crate) max_tools: Option<usize>,
    /// What the server accepts of names and schemas.
    pub(crate) tools: ToolDialect,
    /// Whether messages of the user in a row are sent as one: templates of local models
    /// want turns that alternate.
    pub(crate) merges_users: bool,
    /// Whether a prompt that is too long is cut at its beginning without a word.
    pub(crate) cuts_prompts: bool,
    /// The tool by which the server searches deferred ones itself, where it can.
    pub(crate) own_search: Option<&'static str>,
    /// Names the rendering of an assistant message for the model that wrote it.
    pub(crate) own_key: &'static str,
}

const USAGE: &str = r#""stream_options":{"include_usage":true},"#;

static TABLE: [Dialect; 7] = [
    Dialect {
        word: "openai",
        base_url: "https://api.openai.com/v1",
        members: USAGE,
        members_with_tools: "",
        output_limit: "max_completion_tokens",
        forwards_images: true,
        reasoning_back: &[],
        final_round: FinalRound::Keep,
        keeps_tools: &[],
        max_tools: Some(128),
        tools: ToolDialect::OpenAi,
        merges_users: false,
        cuts_prompts: false,
        own_search: None,
        own_key: "chat.assistant.openai",
    },
    Dialect {
        word: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        members: USAGE,
        // Without it a request with tools may be routed to a server that drops them.
        members_with_tools: r#""provider":{"require_parameters":true},"#,
        output_limit: "max_tokens",
        forwards_images: true,
        reasoning_back: &["reasoning_details"],
        final_round: FinalRound::Withhold,
        keeps_tools: &["anthropic/", "google/", "mistralai/", "openai/"],
        max_tools: None,
        tools: ToolDialect::OpenAi,
        merges_users: false,
        cuts_prompts: false,
        own_search: Some(r#"{"type":"openrouter:tool_search"}"#),
        own_key: "chat.assistant.openrouter",
    },
    Dialect {
        word: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        members: USAGE,
        members_with_tools: "",
        output_limit: "max_tokens",
        forwards_images: false,
        reasoning_back: &["reasoning"],
        final_round: FinalRound::Withhold,
        keeps_tools: &[],
        max_tools: None,
        tools: ToolDialect::Local,
        merges_users: true,
        cuts_prompts: true,
        own_search: None,
        own_key: "chat.assistant.ollama",
    },
    Dialect {
        word: "llamacpp",
        base_url: "http://127.0.0.1:8080/v1",
        members: USAGE,
        members_with_tools: "",
        output_limit: "max_tokens",
        forwards_images: false,
        reasoning_back: &["reasoning_content"],
        final_round: FinalRound::Withhold,
        keeps_tools: &[],
        max_tools: None,
        tools: ToolDialect::Local,
        merges_users: true,
        cuts_prompts: false,
        own_search: None,
        own_key: "chat.assistant.llamacpp",
    },
    Dialect {
        word: "vllm",
        base_url: "http://127.0.0.1:8000/v1",
        members: USAGE,
        members_with_tools: "",
        output_limit: "max_tokens",
        forwards_images: false,
        reasoning_back: &["reasoning_content", "reasoning"],
        final_round: FinalRound::Withhold,
        keeps_tools: &[],
        max_tools: None,
        tools: ToolDialect::Local,
        merges_users: true,
        cuts_prompts: false,
        own_search: None,
        own_key: "chat.assistant.vllm",
    },
    Dialect {
        word: "lmstudio",
        base_url: "http://127.0.0.1:1234/v1",
        members: USAGE,
        members_with_tools: "",
        output_limit: "max_tokens",
        forwards_images: false,
        reasoning_back: &["reasoning_content", "reasoning"],
        final_round: FinalRound::Withhold,
        keeps_tools: &[],
        max_tools: None,
        tools: ToolDialect::Local,
        merges_users: true,
        cuts_prompts: false,
        own_search: None,
        own_key: "chat.assistant.lmstudio",
    },
    Dialect {
        word: "",
        base_url: "http://127.0.0.1:8080/v1",
        members: USAGE,
        members_with_tools: "",
        output_limit: "max_tokens",
        forwards_images: false,
        reasoning_back: &["reasoning_content"],
        final_round: FinalRound::Withhold,
        keeps_tools: &[],
        max_tools: None,
        tools: ToolDialect::Local,
        merges_users: true,
        cuts_prompts: false,
        own_search: None,
        own_key: "chat.assistant.generic",
    },
];

impl Vendor {
    pub(crate) fn dialect(self) -> &'static Dialect {
        let [
            openai,
            openrouter,
            ollama,
            llama_cpp,
            vllm,
            lm_studio,
            generic,
        ] = &TABLE;
        match self {
            Vendor::OpenAi => openai,
            Vendor::OpenRouter => openrouter,
            Vendor::Ollama => ollama,
            Vendor::LlamaCpp => llama_cpp,
            Vendor::Vllm => vllm,
            Vendor::LmStudio => lm_studio,
            Vendor::Generic => generic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_vendor_has_its_own_row() {
        let vendors = [
            (Vendor::OpenAi, "openai"),
            (Vendor::OpenRouter, "openrouter"),
            (Vendor::Ollama, "ollama"),
            (Vendor::LlamaCpp, "llamacpp"),
            (Vendor::Vllm, "vllm"),
            (Vendor::LmStudio, "lmstudio"),
            (Vendor::Generic, ""),
        ];
        for (vendor, word) in vendors {
            assert_eq!(vendor.dialect().word, word);
        }
        for row in &TABLE {
            let others = TABLE.iter().filter(|other| other.own_key == row.own_key);
            assert_eq!(others.count(), 1);
        }
    }
}
