//! Paths in parts: constants, factories, classes of views, services.

use super::check;

#[test]
fn flask_paths_in_constants_and_views_by_their_methods() {
    check(
        &[
            (
                "app.py",
                "\
from flask import Flask, Blueprint
from flask.views import MethodView
from config import settings
from web import main, PREFIX

BASE = '/base'
BASE = BASE
TWICE = '/a'
TWICE = '/b'

class Items(MethodView):
    def get(self): ...
    def post(self): ...
    def helper(self): ...

def create_app():
    app = Flask(__name__)
    inner = Blueprint('inner', __name__, url_prefix=f'{BASE}/inner')

    @inner.route('/one')
    def one(): ...

    app.register_blueprint(inner)
    app.register_blueprint(main, url_prefix=PREFIX + '/main')
    app.register_blueprint(made(), url_prefix='/made')
    app.add_url_rule('/items/', view_func=Items.as_view('items'))
    app.add_url_rule(settings.PATH, view_func=health)
    app.add_url_rule(TWICE + '/c', view_func=health)
    return app

def made():
    bp = Blueprint('made', __name__)

    @bp.get('/x')
    def x(): ...

    return bp

def health(): ...
",
            ),
            (
                "web.py",
                "\
from flask import Blueprint
PREFIX = '/web'
main = Blueprint('main', __name__)
import views
",
            ),
            (
                "views.py",
                "\
from web import main

@main.route('/', methods=['GET'])
def index(): ...
",
            ),
        ],
        &[
            "app.py:20 GET /base/inner/one -> app.create_app.one",
            "app.py:26 GET /items/ -> app.Items.get",
            "app.py:26 POST /items/ -> app.Items.post",
            "app.py:27 GET ${settings.PATH} -> app.health",
            "app.py:28 GET ${TWICE}/c -> app.health",
            "app.py:34 GET /made/x -> app.made.x",
            "views.py:3 GET /web/main -> views.index",
        ],
    );
}

#[test]
fn flask_classes_of_views_answer_the_methods_they_are_given_or_say() {
    check(
        &[(
            "app.py",
            "\
from flask import Flask
from flask.views import View, MethodView

app = Flask(__name__)

class Show(View):
    def dispatch_request(self): ...

class Listed(View):
    methods = ['GET', 'POST']
    def dispatch_request(self): ...

class Both(MethodView):
    def get(self): ...
    def post(self): ...

app.add_url_rule('/plain', view_func=Show.as_view('plain'))
app.add_url_rule('/show', view_func=Show.as_view('show'), methods=['POST'])
app.add_url_rule('/listed', view_func=Listed.as_view('listed'))
app.add_url_rule('/post', view_func=Both.as_view('post'), methods=['POST'])
both = Both.as_view('both')
app.add_url_rule('/all', view_func=both)
app.add_url_rule('/got', view_func=both, methods=['GET'])
",
        )],
        &[
            "app.py:17 GET /plain -> app.Show",
            "app.py:18 POST /show -> app.Show",
            "app.py:19 GET /listed -> app.Listed",
            "app.py:19 POST /listed -> app.Listed",
            "app.py:20 POST /post -> app.Both.post",
            "app.py:22 GET /all -> app.Both.get",
            "app.py:22 POST /all -> app.Both.post",
            "app.py:23 GET /got -> app.Both.get",
        ],
    );
}

#[test]
fn fastapi_prefixes_that_are_no_literals() {
    check(
        &[
            (
                "main.py",
                "\
from fastapi import FastAPI
from core import API, settings
from users import router as users_router
from orders import router as orders_router

app = FastAPI()
sub = FastAPI()
app.mount('/sub', sub)
app.include_router(users_router, prefix=f'{API}/users')
app.include_router(orders_router, prefix=settings.api)

@sub.get('/inner')
def inner(): ...
",
            ),
            ("core.py", "API = '/v1'\nsettings = load()\n"),
            (
                "users.py",
                "from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('')\ndef users(): ...\n",
            ),
            (
                "orders.py",
                "from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('/all')\ndef orders(): ...\n",
            ),
        ],
        &[
            "main.py:12 GET /sub/inner -> main.inner",
            "orders.py:3 GET ${settings.api}/all -> orders.orders",
            "users.py:3 GET /v1/users -> users.users",
        ],
    );
}

#[test]
fn django_patterns_that_are_added_later() {
    check(
        &[
            (
                "urls.py",
                "\
from django.urls import include, path, re_path
import views

urlpatterns = [path('admin/', include('office.urls'))]
urlpatterns += [
    re_path(r'^(?P<slug>[-\\w]+)/', include(([path('x/', views.x)], 'app'), namespace='n')),
    path(views.NAME + '/', views.Y.as_view()),
]
",
            ),
            (
                "views.py",
                "NAME = 'name'\ndef x(request): ...\nclass Y:\n    def get(self, request): ...\n",
            ),
            ("office/__init__.py", ""),
            (
                "office/urls.py",
                "\
from django.urls import path
from . import views
urlpatterns = []
urlpatterns += [path('desk/', views.desk)]
",
            ),
            ("office/views.py", "def desk(request): ...\n"),
        ],
        &[
            "office/urls.py:4 ANY /admin/desk/ -> office.views.desk",
            "urls.py:6 ANY /(?P<slug>[-\\w]+)/x/ -> views.x",
            "urls.py:7 ANY /name/ -> views.Y",
        ],
    );
}

#[test]
fn axum_services_and_constants() {
    check(
        &[
            ("Cargo.toml", "[package]\nname = \"shop\"\n"),
            (
                "src/main.rs",
                r#"
mod paths;

use axum::{Router, routing::{get, post}};
use paths::USERS;

async fn one() {}

fn app() -> Router {
    let mut app = Router::new().route(USERS, get(one));
    app = app.route(paths::inner::ITEMS, post(one));
    app.route_service("/files", ServeDir::new("x"))
        .nest(&format!("/{}", version()), Router::new().route("/deep", get(one)))
        .route(&dynamic, get(one))
}
"#,
            ),
            (
                "src/paths.rs",
                "pub const USERS: &str = \"/users\";\npub mod inner {\n    pub const ITEMS: &str = \"/items\";\n}\n",
            ),
        ],
        &[
            "src/main.rs:10 GET /users -> shop::one",
            "src/main.rs:11 POST /items -> shop::one",
            "src/main.rs:12 ANY /files -> ",
            "src/main.rs:13 GET ${format!(\"/{}\", version())}/deep -> shop::one",
            "src/main.rs:14 GET ${dynamic} -> shop::one",
        ],
    );
}

#[test]
fn actix_resources_by_method() {
    check(
        &[
            ("Cargo.toml", "[package]\nname = \"shop\"\n"),
            (
                "src/main.rs",
                r#"
use actix_web::{App, post, web};

const SCOPE: &str = "/v1";

#[post("/made")]
async fn made() {}
async fn list() {}
async fn add() {}

fn config(cfg: &mut web::ServiceConfig) {
    cfg.service(
        web::scope(SCOPE)
            .service((made, other))
            .service(web::resource("/items").get(list).post(add)),
    );
}

#[post("/other")]
async fn other() {}
"#,
            ),
        ],
        &[
            "src/main.rs:15 GET /v1/items -> shop::list",
            "src/main.rs:15 POST /v1/items -> shop::add",
            "src/main.rs:19 POST /v1/other -> shop::other",
            "src/main.rs:6 POST /v1/made -> shop::made",
        ],
    );
}

#[test]
fn a_router_that_is_mounted_twice_serves_twice() {
    check(
        &[
            (
                "fa.py",
                "\
from fastapi import FastAPI, APIRouter
app = FastAPI()
r = APIRouter()
@r.get('/one')
def one(): ...
app.include_router(r, prefix='/v1')
app.include_router(r, prefix='/v2')
many = APIRouter()
@many.get('/many')
def all(): ...
app.include_router(many, prefix='/1')
app.include_router(many, prefix='/2')
app.include_router(many, prefix='/3')
app.include_router(many, prefix='/4')
app.include_router(many, prefix='/5')
app.include_router(many, prefix='/6')
app.include_router(many, prefix='/7')
app.include_router(many, prefix='/8')
app.include_router(many, prefix='/9')
",
            ),
            (
                "fl.py",
                "\
from flask import Flask, Blueprint
app = Flask(__name__)
bp = Blueprint('bp', __name__, url_prefix='/own')
@bp.route('/one')
def one(): ...
app.register_blueprint(bp)
app.register_blueprint(bp, url_prefix='/v1')
app.register_blueprint(bp, url_prefix='/v2', name='again')
",
            ),
            (
                "ax.rs",
                "\
use axum::{Router, routing::get};
async fn one() {}
fn inner() -> Router { Router::new().route(\"/one\", get(one)) }
pub fn app() -> Router {
    let deep = Router::new().nest(\"/deep\", inner());
    Router::new().nest(\"/v1\", inner()).nest(\"/v2\", deep)
}
",
            ),
            (
                "ac.rs",
                "\
use actix_web::{web, App};
async fn one() {}
fn inner(cfg: &mut web::ServiceConfig) { cfg.route(\"/one\", web::get().to(one)); }
fn outer(cfg: &mut web::ServiceConfig) { cfg.service(web::scope(\"/o\").configure(inner)); }
pub fn app() {
    App::new().service(web::scope(\"/v1\").configure(inner)).configure(outer);
}
",
            ),
            (
                "urls.py",
                "\
from django.urls import path, include
def home(r): ...
e = [path('one/', home)]
urlpatterns = [path('v1/', include(e)), path('v2/', include(e))]
",
            ),
            (
                "a.js",
                "\
const express = require('express');
const app = express();
const r = express.Router();
r.get('/one', one);
function one(req, res) {}
app.use('/v1', r);
app.use(['/v2', '/v3'], r);
r.route(['/two', '/three']).put(one);
",
            ),
        ],
        &[
            "a.js:4 GET /v1/one -> one",
            "a.js:4 GET /v2/one -> one",
            "a.js:4 GET /v3/one -> one",
            "a.js:8 PUT /v1/three -> one",
            "a.js:8 PUT /v1/two -> one",
            "a.js:8 PUT /v2/three -> one",
            "a.js:8 PUT /v2/two -> one",
            "a.js:8 PUT /v3/three -> one",
            "a.js:8 PUT /v3/two -> one",
            "ac.rs:3 GET /o/one -> ac::one",
            "ac.rs:3 GET /v1/one -> ac::one",
            "ax.rs:3 GET /v1/one -> ax::one",
            "ax.rs:3 GET /v2/deep/one -> ax::one",
            "fa.py:4 GET /v1/one -> fa.one",
            "fa.py:4 GET /v2/one -> fa.one",
            "fa.py:9 GET /many -> fa.all",
            "fl.py:4 GET /own/one -> fl.one",
            "fl.py:4 GET /v1/one -> fl.one",
            "fl.py:4 GET /v2/one -> fl.one",
            "urls.py:3 ANY /v1/one/ -> urls.home",
            "urls.py:3 ANY /v2/one/ -> urls.home",
        ],
    );
}

#[test]
fn methods_of_axum_and_actix_by_their_values() {
    check(
        &[
            ("Cargo.toml", "[package]\nname = \"ax\"\n"),
            (
                "src/main.rs",
                r#"mod act;
use axum::{Router, routing::{get, on, MethodFilter}};
async fn a() {}
async fn b() {}
fn main() {
    let r = Router::new().route("/on", on(MethodFilter::PUT, a));
    let r = r.route("/more", get(a).on(MethodFilter::DELETE.or(MethodFilter::PATCH), b));
}
"#,
            ),
            (
                "src/act.rs",
                r#"use actix_web::{web, App, http::Method};
async fn h() {}
fn main() {
    App::new().route("/meth", web::method(Method::PUT).to(h))
        .service(web::resource(["/x1", "/x2"]).route(web::delete().to(h)))
        .service(web::resource(["/y1", "/y2"]).to(h));
}
"#,
            ),
        ],
        &[
            "src/act.rs:4 PUT /meth -> ax::act::h",
            "src/act.rs:5 DELETE /x1 -> ax::act::h",
            "src/act.rs:5 DELETE /x2 -> ax::act::h",
            "src/act.rs:6 ANY /y1 -> ax::act::h",
            "src/act.rs:6 ANY /y2 -> ax::act::h",
            "src/main.rs:6 PUT /on -> ax::a",
            "src/main.rs:7 DELETE /more -> ax::b",
            "src/main.rs:7 GET /more -> ax::a",
            "src/main.rs:7 PATCH /more -> ax::b",
        ],
    );
}

#[test]
fn a_router_in_a_field_takes_routes() {
    check(
        &[(
            "m.py",
            "\
from fastapi import APIRouter

class Api:
    def __init__(self):
        self.router = APIRouter(prefix='/own')
        self.router.add_api_route('/m', self.m, methods=['PUT'])
        self.cache.add_api_route('/none', self.m)

    def more(self):
        self.router.add_api_route('/n', self.m)

    def m(self): ...
",
        )],
        &[
            "m.py:10 GET /own/n -> m.Api.m",
            "m.py:6 PUT /own/m -> m.Api.m",
        ],
    );
}
