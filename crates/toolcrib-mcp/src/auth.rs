//! Logging in to HTTP servers with OAuth.
//!
//! A server that wants a login refuses a request and says where to get one; only
//! then is anything done. Discovery, registration, the exchange and refreshing are
//! `rmcp`'s; whoever can show a person a page is given as a [`Login`]. Without one,
//! credentials of an earlier login still work, and a server that wants more says so
//! in its error.

mod store;

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{AuthError, AuthorizationRequest, OAuthState, WWWAuthenticateParams};
use tokio::sync::Mutex;
use toolcrib_core::{BoxFuture, Str};

use crate::McpError;
use crate::config::OAuthConfig;

use store::FileStore;

/// Logins and step-ups tried for one request.
const MAX_ROUNDS: u32 = 3;

/// Shows a person a login page.
pub trait Login: Send + Sync {
    /// Where the page sends the person back to; the same for every login.
    fn redirect_uri(&self) -> String;

    /// The address of a document that describes this client, where it has one:
    /// servers that know the way need no registration then.
    fn client_metadata_url(&self) -> Option<String> {
        None
    }

    /// Brings the person to `url` and gives the whole address they were sent back
    /// to, or why not.
    fn visit<'a>(&'a self, server: &'a str, url: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// What a fleet knows about logging in.
#[derive(Clone, Default)]
pub(crate) struct Logins {
    pub(crate) login: Option<Arc<dyn Login>>,
    pub(crate) dir: Option<PathBuf>,
    pub(crate) client_name: Str,
}

/// The authorization of one server.
pub(crate) struct Auth {
    server: Str,
    url: String,
    config: OAuthConfig,
    logins: Logins,
    /// The entry has a header of its own for this.
    fixed: bool,
    store: FileStore,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    asked_store: bool,
    oauth: Option<OAuthState>,
}

impl Auth {
    pub(crate) fn new(
        server: Str,
        url: String,
        config: OAuthConfig,
        logins: Logins,
        fixed: bool,
    ) -> Auth {
        let store = FileStore::new(logins.dir.as_deref(), &url);
        Auth {
            server,
            url,
            config,
            logins,
            store,
            fixed,
            state: Mutex::default(),
        }
    }

    /// The token to send, where there is one.
    pub(crate) async fn token(&self) -> Option<String> {
        if self.fixed {
            return None;
        }
        let mut state = self.state.lock().await;
        if !state.asked_store {
            state.asked_store = true;
            if self.store.exists() {
                state.oauth = self.kept().await;
            }
        }
        token_of(&state).await
    }

    async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let mut manager = AuthorizationManager::new(self.url.as_str()).await?;
        manager.set_credential_store(self.store.clone());
        Ok(manager)
    }

    async fn kept(&self) -> Option<OAuthState> {
        let mut manager = self.manager().await.ok()?;
        match manager.initialize_from_store().await {
            Ok(true) => Some(OAuthState::Authorized(manager)),
            Ok(false) => None,
            Err(error) => {
                tracing::debug!(server = %self.server, %error, "the kept login is of no use");
                None
            }
        }
    }

    /// Reacts to a refusal of a request that carried `sent`; says whether it is to
    /// be sent again.
    pub(crate) async fn answer(
        &self,
        status: u16,
        challenge: &str,
        sent: Option<&str>,
        round: u32,
    ) -> Result<bool, McpError> {
        if self.fixed || round > MAX_ROUNDS {
            return Ok(false);
        }
        let params = reqwest::Url::parse(&self.url)
            .map(|url| WWWAuthenticateParams::parse(challenge, &url))
            .unwrap_or_default();
        if status == 403 && !params.is_insufficient_scope() {
            return Ok(false);
        }
        let mut state = self.state.lock().await;
        // Somebody else logged in meanwhile.
        if let Some(token) = token_of(&state).await
            && sent != Some(token.as_str())
        {
            return Ok(true);
        }
        let Some(login) = self.logins.login.clone() else {
            return Err(self.needed(String::new()));
        };
        let done = match (status, state.oauth.take()) {
            (403, Some(oauth @ OAuthState::Authorized(_))) => {
                let scope = params.scope.unwrap_or_default();
                self.step_up(&*login, oauth, &scope).await
            }
            _ => {
                if sent.is_some() {
                    // Drops what belongs to an authorization server of before.
                    let _ = self.kept().await;
                }
                self.log_in(&*login, challenge).await
            }
        };
        match done {
            Ok(oauth) => {
                state.oauth = Some(oauth);
                Ok(true)
            }
            Err(reason) => Err(self.needed(reason)),
        }
    }

    fn needed(&self, reason: String) -> McpError {
        McpError::LoginNeeded {
            server: self.server.clone(),
            reason,
        }
    }

    async fn log_in(&self, login: &dyn Login, challenge: &str) -> Result<OAuthState, String> {
        let manager = self.manager().await.map_err(text)?;
        let mut oauth = OAuthState::Unauthorized(manager);
        let mut request = AuthorizationRequest::new(login.redirect_uri())
            .with_client_name(&*self.logins.client_name)
            .with_scopes(self.config.scopes.iter().cloned());
        if let Some(id) = &self.config.client_id {
            request = request.with_preregistered_client(id);
            if let Some(secret) = &self.config.client_secret {
                request = request.with_client_secret(secret);
            }
        }
        if let Some(url) = login.client_metadata_url() {
            request = request.with_client_metadata_url(url);
        }
        if !challenge.is_empty() {
            request = request.with_challenge(challenge);
        }
        oauth.start_authorization(request).await.map_err(text)?;
        self.visit(login, &mut oauth).await?;
        Ok(oauth)
    }

    async fn step_up(
        &self,
        login: &dyn Login,
        mut oauth: OAuthState,
        scope: &str,
    ) -> Result<OAuthState, String> {
        let back = login.redirect_uri();
        let upgrade = oauth.request_scope_upgrade(scope, &back).await;
        upgrade.map_err(text)?;
        self.visit(login, &mut oauth).await?;
        Ok(oauth)
    }

    async fn visit(&self, login: &dyn Login, oauth: &mut OAuthState) -> Result<(), String> {
        let page = oauth.get_authorization_url().await.map_err(text)?;
        let back = login.visit(&self.server, &page).await?;
        oauth.handle_callback_url(&back).await.map_err(text)
    }
}

async fn token_of(state: &State) -> Option<String> {
    match &state.oauth {
        Some(OAuthState::Authorized(manager)) => manager.get_access_token().await.ok(),
        _ => None,
    }
}

fn text(error: AuthError) -> String {
    error.to_string()
}
