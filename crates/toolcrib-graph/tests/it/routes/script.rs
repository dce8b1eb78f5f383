//! Routes of Express and its kin.

use super::{check, check_mentions};

#[test]
fn routes_of_express_are_composed_across_files() {
    check(
        &[
            (
                "server.js",
                "\
const express = require('express');
const users = require('./routes/users');
const { admin } = require('./routes/admin');
const { API } = require('./paths');
const app = require('express')();

function home(req, res) {}
app.get('/', home);
app.use(express.json());
app.use('/api/users', users);
app.use(`${API}/admin`, express.json(), admin);
app.use('/things', require('./routes/things'));
app.use('/made', require('./routes/made')());
require('./routes/late')(app);
app.use('/twice', require('./routes/twice'));
app.use('/again', require('./routes/twice'));
app.use(config.prefix, require('./routes/unknown'));
app.get('title');
module.exports = app;
",
            ),
            (
                "paths.js",
                "const API = '/v2';\nmodule.exports = { API };\n",
            ),
            (
                "routes/users.js",
                "\
const router = require('express').Router();
const users = require('../controllers/users');
const { guard } = require('../guard');

router.use(guard);
router.route('/').get(users.list).post(guard, users.create);
router.get('/:id', guard, [guard, users.one]);
router.get(['/me', '/self'], users.one);
router.delete('/:id', wrap(users.remove));
router.patch('/:id', users.remove.bind(users));
router.get(/^\\/files\\/(.*)$/, (req, res) => {});
router.put(prefix + '/x', users.list);
module.exports = router;
",
            ),
            (
                "controllers/users.js",
                "\
exports.list = (req, res) => {};
exports.create = (req, res) => {};
exports.one = (req, res) => {};
exports.remove = (req, res) => {};
",
            ),
            ("guard.js", "exports.guard = (req, res, next) => next();\n"),
            (
                "routes/admin.js",
                "\
const { Router: Make } = require('express');
const admin = Make().get('/stats', stats).post('/stats', reset);
function stats(req, res) {}
function reset(req, res) {}
const inner = Make();
inner.get('/deep', stats);
admin.use('/inner', inner);
exports.admin = admin;
",
            ),
            (
                "routes/things.js",
                "\
const { Router } = require('express');
const router = new Router();
router.all('/', function things(req, res) {});
module.exports = router;
",
            ),
            (
                "routes/made.js",
                "\
const express = require('express');
module.exports = function () {
  const router = express.Router({ mergeParams: true });
  router.get('/one', one);
  return router;
};
function one(req, res) {}
",
            ),
            (
                "routes/late.js",
                "\
module.exports = (app) => {
  app.get('/late', late);
  app.get('setting');
};
function late(req, res) {}
",
            ),
            (
                "routes/twice.js",
                "const router = require('express').Router();\nrouter.get('/x', (q, s) => {});\nmodule.exports = router;\n",
            ),
            (
                "routes/unknown.js",
                "const router = require('express').Router();\nrouter.get('/y', (q, s) => {});\nmodule.exports = router;\n",
            ),
            (
                "other.js",
                "\
const { Router } = require('./mine');
const axios = require('axios');
const table = new Router();
const map = new Map();
table.get('/no', home);
map.get('/no');
axios.get('/no', home);
app2.get('/no', home);
",
            ),
        ],
        &[
            "routes/admin.js:2 GET /v2/admin/stats -> stats",
            "routes/admin.js:2 POST /v2/admin/stats -> reset",
            "routes/admin.js:6 GET /v2/admin/inner/deep -> stats",
            "routes/late.js:2 GET /late -> late",
            "routes/made.js:4 GET /made/one -> one",
            "routes/things.js:3 ALL /things -> ",
            "routes/twice.js:2 GET /again/x -> ",
            "routes/twice.js:2 GET /twice/x -> ",
            "routes/unknown.js:2 GET ${config.prefix}/y -> ",
            "routes/users.js:10 PATCH /api/users/:id -> remove",
            "routes/users.js:11 GET /api/users/^\\/files\\/(.*)$/ -> ",
            "routes/users.js:12 PUT /api/users/${prefix}/x -> list",
            "routes/users.js:6 GET /api/users -> list",
            "routes/users.js:6 POST /api/users -> create",
            "routes/users.js:7 GET /api/users/:id -> one",
            "routes/users.js:8 GET /api/users/me -> one",
            "routes/users.js:8 GET /api/users/self -> one",
            "routes/users.js:9 DELETE /api/users/:id -> remove",
            "server.js:8 GET / -> home",
        ],
    );
}

#[test]
fn routes_of_express_in_typescript() {
    check(
        &[
            ("package.json", "{\"name\": \"shop\"}"),
            (
                "src/app.ts",
                "\
import e, { type Application, Router } from \"express\";
import items from \"./items\";
import { usersRouter } from \"./users\";
import { Orders } from \"./orders\";
import * as health from \"./health\";
import { mountLate } from \"./late\";

export class App {
  private app: Application;
  constructor() {
    this.app = e();
    this.app.get(\"/\", this.home);
    this.app.use(\"/items\", items);
    this.app.use(\"/users\", usersRouter({}));
    this.app.use(\"/orders\", new Orders().router);
    this.app.use(\"/health\", health.router);
    mountLate({}, this.app);
  }
  home(req: Request) {}
}

const api = Router();
const nested = Router();
nested.get(\"/x\", ping);
api.use(\"/nested\", nested);
function ping() {}
",
            ),
            (
                "src/items.ts",
                "\
import { Router } from \"express\";
const PATHS = \"/all\" as const;
const router = Router();
router.get(PATHS, list);
function list() {}
export default router;
",
            ),
            (
                "src/users.ts",
                "\
import { Router } from \"express\";
export function usersRouter(store: object): Router {
  const router: Router = Router();
  router.post(\"/\", add);
  return router;
}
function add() {}
",
            ),
            (
                "src/orders.ts",
                "\
import { Router } from \"express\";
export class Orders {
  public router = Router();
  constructor() {
    this.router.get(\"/:id\", this.one.bind(this));
  }
  one() {}
}
",
            ),
            (
                "src/health.ts",
                "import { Router } from \"express\";\nexport const router = Router().get(\"/live\", live);\nfunction live() {}\n",
            ),
            (
                "src/late.ts",
                "\
import type { Application } from \"express\";
export const mountLate = (options: object, target: Application) => {
  target.get(\"/late\", late);
};
function late() {}
",
            ),
        ],
        &[
            "src/app.ts:12 GET / -> home",
            "src/app.ts:24 GET /nested/x -> ping",
            "src/health.ts:2 GET /health/live -> live",
            "src/items.ts:4 GET /items/all -> list",
            "src/late.ts:3 GET /late -> late",
            "src/orders.ts:5 GET /orders/:id -> one",
            "src/users.ts:4 POST /users -> add",
        ],
    );
}

#[test]
fn routes_of_kin_of_express() {
    check(
        &[(
            "main.ts",
            "\
import Fastify, { FastifyInstance } from 'fastify';
import { Hono } from 'hono';
import Koa from '@koa/router';

const server = Fastify();
async function plugin(fastify: FastifyInstance) {
  fastify.get('/a', { schema: {} }, a);
}
server.register(plugin, { prefix: '/v1' });
server.register(async (inner) => {
  inner.get('/b', a);
}, { prefix: '/v2' });
function a() {}

const users = new Hono();
users.get('/c', a);
const hono = new Hono();
hono.route('/users', users);

const koa = new Koa({ prefix: '/k' });
koa.get('/d', a);
",
        )],
        &[
            "main.ts:11 GET /v2/b -> a",
            "main.ts:16 GET /users/c -> a",
            "main.ts:21 GET /k/d -> a",
            "main.ts:7 GET /v1/a -> a",
        ],
    );
}

#[test]
fn what_comes_before_a_handler_is_mentioned_by_the_route() {
    check_mentions(
        &[(
            "app.js",
            "\
const app = require('express')();
function guard() {}
function limit() {}
function list() {}
app.get('/x', guard, [limit], list);
",
        )],
        &["GET /x => guard", "GET /x => limit"],
    );
}

#[test]
fn a_constant_that_lists_paths_is_each_of_them() {
    check(
        &[(
            "app.js",
            "\
const app = require('express')();
const BASE = '/api';
const paths = ['/a', `${BASE}/b`];
const names = ['x', 'y'];
function h(req, res) {}
app.get(paths, h);
app.put([...paths, '/c'], h);
function inner(names) { app.get(names, h); }
",
        )],
        &[
            "app.js:6 GET /a -> h",
            "app.js:6 GET /api/b -> h",
            "app.js:7 PUT /a -> h",
            "app.js:7 PUT /api/b -> h",
            "app.js:7 PUT /c -> h",
            "app.js:8 GET ${names} -> h",
        ],
    );
}
