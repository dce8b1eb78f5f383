use std::sync::Arc;
use toolcrib_core::Model;
use toolcrib_models::Navigator;
use crate::config::Config;
use crate::exit::CliError;
pub(crate) fn choose(_f: Option<&str>, _c: &Config, _q: bool) -> Result<Arc<dyn Model>, CliError> { Ok(Arc::new(Navigator::new())) }
