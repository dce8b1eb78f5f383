//! Routes of web frameworks with the edges to their handlers.

use toolcrib_graph::{CodeGraph, EdgeKind, NodeKind};

use crate::support::{load, tree};

mod go;
mod parts;
mod script;

/// Routes in order, each with what answers it.
fn routes(graph: &CodeGraph) -> Vec<String> {
    crate::states::check_invariants(graph);
    let ids = (0u32..).map(toolcrib_graph::NodeId);
    let nodes = graph.nodes().iter().zip(ids);
    let mut found: Vec<String> = nodes
        .filter(|(node, _)| node.kind == NodeKind::Route)
        .map(|(node, id)| {
            let to = graph
                .outgoing(id)
                .iter()
                .filter(|edge| edge.kind == EdgeKind::RoutesTo)
                .map(|edge| {
                    let to = graph.node(edge.to);
                    let is_script = graph
                        .file(to.file)
                        .language
                        .is_some_and(|l| matches!(l.name, "JavaScript" | "TypeScript"));
                    match is_script {
                        true => to.name.to_string(),
                        false => to.qualified_name.to_string(),
                    }
                })
                .collect::<Vec<_>>();
            let line = node.span.start_line;
            let path = &graph.file(node.file).path;
            format!("{path}:{line} {} -> {}", node.name, to.join(" | "))
        })
        .collect();
    found.sort();
    found
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let dir = tree(files);
    let graph = load(dir.path()).graph;
    assert_eq!(routes(&graph), expected);
}

/// References of routes, in order.
#[track_caller]
fn check_mentions(files: &[(&str, &str)], expected: &[&str]) {
    let dir = tree(files);
    let graph = load(dir.path()).graph;
    let mut found: Vec<String> = graph
        .edges()
        .iter()
        .filter(|edge| edge.kind == EdgeKind::References)
        .filter(|edge| graph.node(edge.from).kind == NodeKind::Route)
        .map(|edge| {
            let (from, to) = (graph.node(edge.from), graph.node(edge.to));
            format!("{} => {}", from.name, to.name)
        })
        .collect();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn routes_of_flask() {
    check(
        &[
            ("shop/__init__.py", ""),
            (
                "shop/app.py",
                "\
import flask
from flask import Flask
from shop.items import bp, orders
from shop.views import ItemView, health

def create_app():
    app = Flask(__name__)

    @app.route('/')
    def index():
        return 'hi'

    app.add_url_rule('/health', view_func=health)
    app.add_url_rule('/view', 'view', ItemView.as_view('view'), methods=['PUT'])
    app.register_blueprint(bp)
    app.register_blueprint(orders, url_prefix='/v2/orders')
    return app
",
            ),
            (
                "shop/views.py",
                "\
class ItemView:
    def get(self): ...

def health(): ...
",
            ),
            (
                "shop/items.py",
                "\
from functools import lru_cache
from flask import Blueprint

bp = Blueprint('items', __name__, url_prefix='/items')
orders = Blueprint('orders', __name__, url_prefix='/orders')
cache = {}

@bp.route('/<int:item>', methods=['GET', 'POST'])
@lru_cache
def item(item): ...

@bp.post('/')
def add(): ...

@orders.get('/all')
def all_orders(): ...

@cache.get('/not-a-route')
def cached(): ...

@bp.errorhandler(404)
def missing(error): ...

cache.get('/x', item)
client.route('/x')(item)
",
            ),
        ],
        &[
            "shop/app.py:13 GET /health -> shop.views.health",
            "shop/app.py:14 PUT /view -> shop.views.ItemView",
            "shop/app.py:9 GET / -> shop.app.create_app.index",
            "shop/items.py:12 POST /items -> shop.items.add",
            "shop/items.py:15 GET /v2/orders/all -> shop.items.all_orders",
            "shop/items.py:8 GET /items/<int:item> -> shop.items.item",
            "shop/items.py:8 POST /items/<int:item> -> shop.items.item",
        ],
    );
}

#[test]
fn routes_of_fastapi() {
    check(
        &[
            (
                "main.py",
                "\
from fastapi import FastAPI
from routers import users, items

app = FastAPI()
app.include_router(users.router, prefix='/v1')
app.include_router(items.router)

@app.get('/ping')
async def ping(): ...
",
            ),
            ("routers/__init__.py", ""),
            (
                "routers/users.py",
                "\
from fastapi import APIRouter, Depends
import requests

router = APIRouter(prefix='/users', tags=['users'])

@router.get('/{user}')
async def one(user: int): ...

@router.api_route('/', methods=['POST', 'PUT'])
def save(): ...

@router.websocket('/live')
async def live(): ...

@router.on_event('startup')
def start(): ...

def fetch():
    return requests.get('/users')

@requests.get('/look-alike')
def no(): ...
",
            ),
            (
                "routers/items.py",
                "\
from fastapi import APIRouter

inner = APIRouter(prefix='/inner')
router = APIRouter(prefix='/items')
router.include_router(inner)

def listed(): ...

router.add_api_route('/all', listed, methods=['GET'])

@inner.delete('/{item}')
def gone(item): ...

def twice(api: FastAPI, other: dict):
    @api.get('/late')
    def late(): ...

    @other.get('/other')
    def never(): ...
",
            ),
        ],
        &[
            "main.py:8 GET /ping -> main.ping",
            "routers/items.py:11 DELETE /items/inner/{item} -> routers.items.gone",
            "routers/items.py:15 GET /late -> routers.items.twice.late",
            "routers/items.py:9 GET /items/all -> routers.items.listed",
            "routers/users.py:12 WEBSOCKET /v1/users/live -> routers.users.live",
            "routers/users.py:6 GET /v1/users/{user} -> routers.users.one",
            "routers/users.py:9 POST /v1/users -> routers.users.save",
            "routers/users.py:9 PUT /v1/users -> routers.users.save",
        ],
    );
}

#[test]
fn routes_of_django() {
    check(
        &[
            (
                "site/urls.py",
                "\
from django.urls import include, path, re_path as pattern
from django.views.generic import TemplateView
from django.contrib import admin
from site import views
from os import path as files

extra = [path('about/', views.about)]

urlpatterns = [
    path('', views.home, name='home'),
    path('api/', include('blog.urls')),
    path('more/', include(extra)),
    path('shop/', include([
        path('cart/', views.Cart.as_view()),
        path('pay/', include([path('now/', views.pay)])),
    ])),
    path('after/', views.csrf_exempt(views.about)),
    pattern(r'^old/(?P<year>[0-9]{4})/$', views.old),
    path('page/', TemplateView.as_view(template_name='x')),
]

files.join('a/', views.home)
path.join('b/', views.home)
",
            ),
            ("site/__init__.py", ""),
            (
                "site/views.py",
                "\
def home(request): ...
def about(request): ...
def pay(request): ...
def old(request, year): ...
def csrf_exempt(view): return view

class Cart:
    @classmethod
    def as_view(cls): ...
",
            ),
            ("blog/__init__.py", ""),
            (
                "blog/urls.py",
                "\
from django.urls import path, re_path
from . import views

urlpatterns = [
    path('posts/<int:pk>/', views.post),
    re_path(r'^tags/$', views.tags),
]
",
            ),
            (
                "blog/views.py",
                "def post(request, pk): ...\ndef tags(request): ...\n",
            ),
            (
                "tools/paths.py",
                "\
from pathlib import Path as path
def f(): ...
items = [path('look/', f), re_path('alike/', f)]
",
            ),
        ],
        &[
            "blog/urls.py:5 ANY /api/posts/<int:pk>/ -> blog.views.post",
            "blog/urls.py:6 ANY /api/tags/$ -> blog.views.tags",
            "site/urls.py:10 ANY / -> site.views.home",
            "site/urls.py:14 ANY /shop/cart/ -> site.views.Cart",
            "site/urls.py:15 ANY /shop/pay/now/ -> site.views.pay",
            "site/urls.py:17 ANY /after/ -> site.views.about",
            "site/urls.py:18 ANY ^old/(?P<year>[0-9]{4})/$ -> site.views.old",
            "site/urls.py:19 ANY /page/ -> ",
            "site/urls.py:7 ANY /more/about/ -> site.views.about",
        ],
    );
}

#[test]
fn routes_of_axum() {
    check(
        &[
            ("Cargo.toml", "[package]\nname = \"shop\"\n"),
            (
                "src/main.rs",
                r#"
mod items;
mod users;

use axum::{Router, routing::{delete, get}};

async fn health() {}
async fn root() {}

#[tokio::main]
async fn main() {
    let api = Router::new()
        .nest("/users", users::router())
        .merge(items::router())
        .route("/health", get(health));
    let api = api.route("/late", delete(health));
    let app = Router::new()
        .route("/", get(root).head(root))
        .nest("/inline", Router::new().route("/x", get(|| async {})).route("/y", get(root)))
        .nest("/api", api);
    serve(app);
}

fn serve(app: Router) {}
"#,
            ),
            (
                "src/users.rs",
                r#"
use axum::{Router, routing};

pub fn router() -> Router {
    Router::new()
        .route("/", routing::get(list).post(self::add))
        .route("/{id}", routing::any(crate::items::one))
        .with_state(())
}

async fn list() {}
async fn add() {}
"#,
            ),
            (
                "src/items.rs",
                r#"
use axum::{Router, routing::get};

pub struct Items;

pub fn router() -> Router {
    let router = Router::new();
    router.route("/items", get(one))
}

pub async fn one() {}
"#,
            ),
            (
                "src/other.rs",
                r#"
fn get(x: u8) -> u8 { x }
fn tables(t: Table) { t.route("/x", get(1)).nest("/y", t); }
"#,
            ),
        ],
        &[
            "src/items.rs:8 GET /api/items -> shop::items::one",
            "src/main.rs:15 GET /api/health -> shop::health",
            "src/main.rs:16 DELETE /api/late -> shop::health",
            "src/main.rs:18 GET / -> shop::root",
            "src/main.rs:18 HEAD / -> shop::root",
            "src/main.rs:19 GET /inline/x -> ",
            "src/main.rs:19 GET /inline/y -> shop::root",
            "src/users.rs:6 GET /api/users -> shop::users::list",
            "src/users.rs:6 POST /api/users -> shop::users::add",
            "src/users.rs:7 ANY /api/users/{id} -> shop::items::one",
        ],
    );
}

#[test]
fn routes_of_actix() {
    check(
        &[
            ("Cargo.toml", "[package]\nname = \"shop\"\n"),
            (
                "src/main.rs",
                r#"
mod api;

use actix_web::{App, HttpServer, get, route, web};

#[get("/")]
async fn index() {}

#[route("/both", method = "GET", method = "PUT")]
async fn both() {}

async fn health() {}
async fn user() {}
async fn gone() {}

#[actix_web::main]
async fn main() {
    HttpServer::new(|| {
        App::new()
            .service(index)
            .route("/health", web::get().to(health))
            .service(
                web::scope("/v1")
                    .service(both)
                    .configure(api::config)
                    .service(
                        web::resource("/users/{id}")
                            .route(web::get().to(user))
                            .route(web::delete().to(gone)),
                    )
                    .service(web::resource("/any").to(user)),
            )
    });
}
"#,
            ),
            (
                "src/api.rs",
                r#"
use actix_web::{post, web};

pub fn config(cfg: &mut web::ServiceConfig) {
    cfg.service(web::scope("/items").service(add).route("/all", web::get().to(list)));
}

#[post("/add")]
async fn add() {}
async fn list() {}

fn look_alike(map: Map) { map.route("/no", other).to(list); map.service(list); }
"#,
            ),
            (
                "src/client.rs",
                r#"
#[get("/remote")]
fn remote() {}
fn f(x: X) { x.route("/health", web::get().to(remote)); }
"#,
            ),
        ],
        &[
            "src/api.rs:5 GET /v1/items/all -> shop::api::list",
            "src/api.rs:8 POST /v1/items/add -> shop::api::add",
            "src/main.rs:21 GET /health -> shop::health",
            "src/main.rs:28 GET /v1/users/{id} -> shop::user",
            "src/main.rs:29 DELETE /v1/users/{id} -> shop::gone",
            "src/main.rs:31 ANY /v1/any -> shop::user",
            "src/main.rs:6 GET / -> shop::index",
            "src/main.rs:9 GET /v1/both -> shop::both",
            "src/main.rs:9 PUT /v1/both -> shop::both",
        ],
    );
}
