//! Handlers that are given to their routes inside other calls.

use toolcrib_graph::{CodeGraph, EdgeKind, NodeId, NodeKind};

use crate::support::{load, tree};

/// Each route with the names of what answers it, in order of the routes.
fn answered(graph: &CodeGraph) -> Vec<String> {
    crate::states::check_invariants(graph);
    let nodes = (0u32..).map(NodeId).zip(graph.nodes());
    let routes = nodes.filter(|(_, node)| node.kind == NodeKind::Route);
    let mut found: Vec<String> = routes
        .map(|(id, node)| {
            let edges = graph.outgoing(id).iter();
            let to = edges.filter(|edge| edge.kind == EdgeKind::RoutesTo);
            let names: Vec<&str> = to.map(|edge| &*graph.node(edge.to).name).collect();
            format!("{} -> {}", node.name, names.join(" "))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_wrapped_answers_the_route_when_it_is_the_only_function() {
    let dir = tree(&[
        ("go.mod", "module example.com/shop\n"),
        (
            "shop.go",
            "\
package shop

import \"net/http\"

type API struct{}

func (a *API) show(w http.ResponseWriter, r *http.Request) {}
func list(w http.ResponseWriter, r *http.Request)          {}
func logged(h http.HandlerFunc) http.HandlerFunc            { return h }
func either(a, b http.HandlerFunc) http.HandlerFunc         { return a }
func build(name string) http.HandlerFunc                    { return list }

func routes(a *API) {
\thttp.HandleFunc(\"/once\", logged(a.show))
\thttp.HandleFunc(\"/twice\", logged(logged(list)))
\thttp.HandleFunc(\"/either\", either(a.show, list))
\thttp.HandleFunc(\"/built\", build(\"x\"))
}
",
        ),
    ]);
    assert_eq!(
        answered(&load(dir.path()).graph),
        [
            "ANY /built -> ",
            "ANY /either -> ",
            "ANY /once -> show",
            "ANY /twice -> list",
        ]
    );
}

#[test]
fn python_and_javascript_wrap_views_alike() {
    let dir = tree(&[
        (
            "app.py",
            "\
from flask import Flask

app = Flask(__name__)

def guarded(view):
    return view

def show():
    return 'x'

app.add_url_rule('/show', view_func=guarded(show))
",
        ),
        (
            "server.js",
            "\
const express = require('express');
const app = express();

function wrap(handler) { return handler; }
function list(req, res) { res.send('x'); }

app.get('/list', wrap(list));
",
        ),
    ]);
    assert_eq!(
        answered(&load(dir.path()).graph),
        ["GET /list -> list", "GET /show -> show"]
    );
}
