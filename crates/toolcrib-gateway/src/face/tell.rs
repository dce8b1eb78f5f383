//! What clients are told unasked: lists that changed, log lines, resources.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::value::RawValue;

use super::resources::LEVELS;
use super::{Answer, Cx, MODERN};
use crate::backend::Backend;
use crate::catalog::Catalog;
use crate::client::{Client, Subscription, lock};
use crate::gateway::Gateway;
use crate::wire;

const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

impl Gateway {
    /// Tells the clients of these servers whose list of tools is another now, each
    /// once.
    pub(crate) fn tell_changed(self: &Arc<Self>, backend: &Arc<Backend>) {
        let catalog = backend.catalog(&self.options);
        for client in self.clients() {
            let same = Arc::ptr_eq(&self.backend_of(&client), backend);
            if !same {
                continue;
            }
            self.tell_list(
                &client,
                "tools",
                |sub| sub.tools,
                |client| {
                    let now = self.tools(&catalog, client);
                    let mut listed = lock(&client.listed);
                    let another = listed.as_ref().is_some_and(|listed| *listed != now);
                    if another {
                        *listed = Some(now);
                    }
                    another
                },
            );
            self.tell_list(
                &client,
                "prompts",
                |sub| sub.prompts,
                |_| !catalog.prompts.is_empty(),
            );
            self.tell_list(
                &client,
                "resources",
                |sub| sub.resources,
                |_| !catalog.resources.is_empty(),
            );
        }
    }

    fn tell_list(
        &self,
        client: &Client,
        what: &str,
        wants: impl Fn(&Subscription) -> bool,
        changed: impl Fn(&Client) -> bool,
    ) {
        let method = format!("notifications/{what}/list_changed");
        let subscribed = lock(&client.subscriptions).clone();
        for sub in subscribed.iter().filter(|sub| wants(sub)) {
            send_to(sub, &method, None);
        }
        if !client.version().is_empty() && client.ready.load(Ordering::Acquire) && changed(client) {
            client.main.send(wire::notification(&method, None));
        }
    }

    /// Tells one client that its own loads changed its list.
    pub(crate) fn tell_tools(&self, cx: &Cx, catalog: &Catalog) {
        let now = self.tools(catalog, &cx.client);
        let mut listed = lock(&cx.client.listed);
        if listed.as_ref() == Some(&now) {
            return;
        }
        *listed = Some(now);
        if !cx.modern {
            let text = wire::notification("notifications/tools/list_changed", None);
            cx.lane.send(text);
        }
    }

    /// Passes on what a server said unasked.
    pub(crate) fn tell(
        self: &Arc<Self>,
        backend: &Arc<Backend>,
        server: &str,
        method: &str,
        params: Option<&RawValue>,
    ) {
        let params = params.map_or("{}", RawValue::get);
        for client in self.clients() {
            let calling = lock(&client.lanes)
                .iter()
                .any(|(_, name, _)| **name == *server);
            let same = Arc::ptr_eq(&self.backend_of(&client), backend);
            match method {
                "notifications/message" => {
                    let level = wire::text(params, "level").unwrap_or_default();
                    let level = LEVELS.iter().position(|known| *known == level).unwrap_or(1);
                    let legacy = !client.version().is_empty();
                    if level < usize::from(*lock(&client.level)) || !(calling || (legacy && same)) {
                        continue;
                    }
                    let params = match self.only_server() {
                        Some(_) => wire::raw(params.to_owned()),
                        None => {
                            let own = wire::text(params, "logger");
                            let name = match own {
                                Some(own) => format!("{server}/{own}"),
                                None => server.to_owned(),
                            };
                            wire::with(params, &[("logger", &wire::quoted(&name))], &[])
                        }
                    };
                    let text = wire::notification(method, Some(params.get()));
                    client.lane_for(server).send(text);
                }
                "notifications/resources/updated" => {
                    let uri = wire::text(params, "uri").unwrap_or_default();
                    if lock(&client.watched).contains(&uri) {
                        client
                            .lane_for(server)
                            .send(wire::notification(method, Some(params)));
                    }
                    let subscribed = lock(&client.subscriptions).clone();
                    for sub in subscribed.iter().filter(|sub| sub.uris.contains(&uri)) {
                        send_to(sub, method, Some(params));
                    }
                }
                _ if calling || (same && self.only_server().is_some()) => {
                    client
                        .lane_for(server)
                        .send(wire::notification(method, Some(params)));
                }
                _ => {}
            }
        }
    }

    /// Keeps a request of the newest revision open and tells it of changes.
    pub(crate) async fn listen(self: &Arc<Self>, cx: &Cx, params: &str) -> Answer {
        debug_assert!(cx.modern, "{MODERN}");
        let wanted = wire::get(params, "notifications").map_or("{}", RawValue::get);
        let flag = |key: &str| wire::get(wanted, key).is_some_and(|raw| raw.get() == "true");
        let uris = wire::get(wanted, "resourceSubscriptions");
        let uris: Vec<String> = uris
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        let subscription = Subscription {
            lane: Some(cx.lane.clone()),
            id: cx.id.clone(),
            tools: flag("toolsListChanged"),
            prompts: flag("promptsListChanged"),
            resources: flag("resourcesListChanged"),
            uris,
        };
        // What is agreed to is what was asked for and is known here.
        let known = [
            "toolsListChanged",
            "promptsListChanged",
            "resourcesListChanged",
            "resourceSubscriptions",
        ];
        let agreed: Vec<String> = wire::entries(wanted)
            .unwrap_or_default()
            .into_iter()
            .filter(|(key, _)| known.contains(&key.as_ref()))
            .map(|(key, value)| format!("{}:{}", wire::quoted(&key), value.get()))
            .collect();
        let params = format!(r#"{{"notifications":{{{}}}}}"#, agreed.join(","));
        send_to(
            &subscription,
            "notifications/subscriptions/acknowledged",
            Some(&params),
        );
        lock(&cx.client.subscriptions).push(subscription);
        let _over = Over(cx);
        cx.backend.learn(&self.options);
        cx.cancel.cancelled().await;
        Ok(None)
    }
}

/// Ends a subscription with its request.
struct Over<'a>(&'a Cx);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        lock(&self.0.client.subscriptions).retain(|sub| sub.id != self.0.id);
    }
}

fn send_to(subscription: &Subscription, method: &str, params: Option<&str>) {
    let Some(lane) = &subscription.lane else {
        return;
    };
    let params = params.unwrap_or("{}");
    let meta = wire::get(params, "_meta").map_or("{}", RawValue::get);
    let meta = wire::with(meta, &[(SUBSCRIPTION_KEY, &subscription.id)], &[]);
    let params = wire::with(params, &[("_meta", meta.get())], &[]);
    lane.send(wire::notification(method, Some(params.get())));
}
