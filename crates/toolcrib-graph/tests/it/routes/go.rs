//! Routes of net/http, gin and chi.

use super::check;

#[test]
fn routes_of_net_http() {
    check(
        &[
            ("go.mod", "module shop\n\ngo 1.22\n"),
            (
                "main.go",
                r#"package main

import (
	"net/http"

	"shop/items"
)

const base = "/v1"

type Health struct{}

func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

func list(w http.ResponseWriter, r *http.Request) {}
func one(w http.ResponseWriter, r *http.Request)  {}

func logged(next http.Handler) http.Handler { return next }

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", one)
	mux.HandleFunc("POST example.org/users", list)
	mux.HandleFunc(base+"/list", list)
	mux.Handle("/health", &Health{})
	mux.Handle("GET "+items.Path, http.HandlerFunc(items.List))
	mux.Handle("/wrapped", logged(http.HandlerFunc(one)))
	mux.HandleFunc("/inline", func(w http.ResponseWriter, r *http.Request) {})
	http.HandleFunc("/", list)

	sub := http.NewServeMux()
	sub.HandleFunc("/inner", one)
	mux.Handle("/api/", http.StripPrefix("/api", sub))
	mux.Handle("/items/", http.StripPrefix("/items", items.Mux()))

	values := map[string]int{}
	_ = values
	cache.Get("/no", list)
}
"#,
            ),
            (
                "items/items.go",
                r#"package items

import "net/http"

const Path = "/items/all"

func List(w http.ResponseWriter, r *http.Request) {}

func Mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("DELETE /{id}", List)
	return mux
}
"#,
            ),
        ],
        &[
            "items/items.go:11 DELETE /items/{id} -> shop/items.List",
            "main.go:22 GET /users/{id} -> shop.one",
            "main.go:23 POST example.org/users -> shop.list",
            "main.go:24 ANY /v1/list -> shop.list",
            "main.go:25 ANY /health -> shop.Health.ServeHTTP",
            "main.go:26 GET /items/all -> shop/items.List",
            "main.go:27 ANY /wrapped -> shop.one",
            "main.go:28 ANY /inline -> ",
            "main.go:29 ANY / -> shop.list",
            "main.go:32 ANY /api/inner -> shop.one",
            "main.go:34 ANY /items/ -> ",
        ],
    );
}

#[test]
fn routes_of_gin() {
    check(
        &[
            ("go.mod", "module shop\n\ngo 1.22\n"),
            (
                "main.go",
                r#"package main

import (
	"github.com/gin-gonic/gin"

	"shop/api"
)

const (
	root  = "/api"
	users = root + "/users"
)

func auth() gin.HandlerFunc { return nil }

func main() {
	r := gin.Default()
	r.GET("/ping", ping)
	r.Handle("PUT", "/put", auth(), ping)
	r.Any(users, ping)
	v1 := r.Group(root + "/v1")
	{
		v1.GET("", ping)
		admin := v1.Group("/admin", auth())
		admin.POST("/x", ping)
		nested := admin.Group("/deep")
		nested.DELETE("/y", ping)
	}
	r.Group("/inline").GET("/z", ping)
	api.Register(v1.Group("/things"))
	h := &api.Handler{}
	h.Routes(v1, r.Group("/public"))
	twice(r.Group("/a"))
	twice(r.Group("/b"))
	r.GET(api.Prefix+api.Dynamic(), ping)
	var group *gin.RouterGroup = r.Group("/var")
	group.GET("/w", ping)
}

func ping(c *gin.Context) {}

func twice(g *gin.RouterGroup) {
	g.GET("/t", ping)
}
"#,
            ),
            (
                "api/api.go",
                r#"package api

import "github.com/gin-gonic/gin"

const Prefix = "/dyn"

func Dynamic() string { return "" }

type Handler struct{}

func Register(g *gin.RouterGroup) {
	g.GET("/all", all)
	sub := g.Group("/sub")
	sub.GET("/s", all)
}

func (h *Handler) Routes(private, public gin.IRouter) {
	private.GET("/private", h.one)
	public.GET("/open", h.one)
}

func (h *Handler) one(c *gin.Context) {}

func all(c *gin.Context) {}
"#,
            ),
        ],
        &[
            "api/api.go:12 GET /api/v1/things/all -> shop/api.all",
            "api/api.go:14 GET /api/v1/things/sub/s -> shop/api.all",
            "api/api.go:18 GET /api/v1/private -> shop/api.Handler.one",
            "api/api.go:19 GET /public/open -> shop/api.Handler.one",
            "main.go:18 GET /ping -> shop.ping",
            "main.go:19 PUT /put -> shop.ping",
            "main.go:20 ANY /api/users -> shop.ping",
            "main.go:23 GET /api/v1 -> shop.ping",
            "main.go:25 POST /api/v1/admin/x -> shop.ping",
            "main.go:27 DELETE /api/v1/admin/deep/y -> shop.ping",
            "main.go:29 GET /inline/z -> shop.ping",
            "main.go:35 GET /dyn${api.Dynamic()} -> shop.ping",
            "main.go:37 GET /var/w -> shop.ping",
            "main.go:43 GET /a/t -> shop.ping",
            "main.go:43 GET /b/t -> shop.ping",
        ],
    );
}

#[test]
fn routes_of_chi() {
    check(
        &[
            ("go.mod", "module shop\n\ngo 1.22\n"),
            (
                "main.go",
                r#"package main

import "github.com/go-chi/chi/v5"

func main() {
	r := chi.NewRouter()
	r.Get("/", home)
	r.Route("/articles", func(r chi.Router) {
		r.Get("/", home)
		r.Route("/{id}", func(r chi.Router) {
			r.Put("/", home)
		})
		r.With(paginate).Get("/list", home)
	})
	r.Group(func(r chi.Router) {
		r.Post("/grouped", home)
	})
	r.Mount("/admin", admin())
	r.Get("/after", home)
}

func admin() chi.Router {
	r := chi.NewRouter()
	r.Get("/a", home)
	return r
}

func home(w http.ResponseWriter, r *http.Request) {}
"#,
            ),
        ],
        &[
            "main.go:11 PUT /articles/{id} -> shop.home",
            "main.go:13 GET /articles/list -> shop.home",
            "main.go:16 POST /grouped -> shop.home",
            "main.go:19 GET /after -> shop.home",
            "main.go:24 GET /admin/a -> shop.home",
            "main.go:7 GET / -> shop.home",
            "main.go:9 GET /articles -> shop.home",
        ],
    );
}

#[test]
fn routes_of_echo() {
    check(
        &[
            ("go.mod", "module shop\n\ngo 1.22\n"),
            (
                "main.go",
                r#"package main

import (
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"
)

func main() {
	e := echo.New()
	e.GET("/users/:id", show)
	e.POST("/users", save, logged)
	e.Add("PUT", "/put", save)
	e.Add(http.MethodDelete, "/del", save)
	e.Match([]string{"GET", "POST"}, "/match", show)
	admin := e.Group("/admin", logged)
	admin.Group("/sub").PATCH("/x", h.List)
	register(e.Group("/v1"))
	register(e.Group("/v2"))
	var all sync.WaitGroup
	all.Add(1)
	set.Add("PUT", "/no", save)
}

func register(g *echo.Group) { g.GET("/inner", show) }

type handlers struct{}

var h = &handlers{}

func (h *handlers) List(c echo.Context) error { return nil }

func show(c echo.Context) error { return nil }
func save(c echo.Context) error { return nil }

func logged(next echo.HandlerFunc) echo.HandlerFunc { return next }
"#,
            ),
        ],
        &[
            "main.go:12 GET /users/:id -> shop.show",
            "main.go:13 POST /users -> shop.save",
            "main.go:14 PUT /put -> shop.save",
            "main.go:15 DELETE /del -> shop.save",
            "main.go:16 GET /match -> shop.show",
            "main.go:16 POST /match -> shop.show",
            "main.go:18 PATCH /admin/sub/x -> shop.handlers.List",
            "main.go:26 GET /v1/inner -> shop.show",
            "main.go:26 GET /v2/inner -> shop.show",
        ],
    );
}

#[test]
fn routes_of_gorilla() {
    check(
        &[
            ("go.mod", "module shop\n\ngo 1.22\n"),
            (
                "main.go",
                r#"package main

import (
	"net/http"

	"github.com/gorilla/mux"
)

func main() {
	r := mux.NewRouter()
	r.HandleFunc("/one", show)
	r.HandleFunc("/two", save).Methods("POST", http.MethodPut).Name("two")
	r.Handle("/three", T{})
	s := r.PathPrefix("/sub").Subrouter()
	s.Path("/four").HandlerFunc(save).Methods("PATCH")
	r.Methods("GET").Path("/five").Name("five").HandlerFunc(show)
	r.Path("/six").Handler(T{})
	r.PathPrefix("/seven").Methods("DELETE").Handler(http.HandlerFunc(save))
	hosted := r.Host("example.org").Subrouter()
	hosted.HandleFunc("/eight", show)
	api(r.PathPrefix("/v1").Subrouter())
	api(r.PathPrefix("/v2").Subrouter())
	http.HandlerFunc(show)
	other.Name("x").HandlerFunc(show)
}

func api(r *mux.Router) { r.HandleFunc("/inner", show).Methods("GET") }

type T struct{}

func (t T) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

func show(w http.ResponseWriter, r *http.Request) {}
func save(w http.ResponseWriter, r *http.Request) {}
"#,
            ),
        ],
        &[
            "main.go:11 ANY /one -> shop.show",
            "main.go:12 POST /two -> shop.save",
            "main.go:12 PUT /two -> shop.save",
            "main.go:13 ANY /three -> shop.T.ServeHTTP",
            "main.go:15 PATCH /sub/four -> shop.save",
            "main.go:16 GET /five -> shop.show",
            "main.go:17 ANY /six -> shop.T.ServeHTTP",
            "main.go:18 DELETE /seven -> shop.save",
            "main.go:20 ANY /eight -> shop.show",
            "main.go:27 GET /v1/inner -> shop.show",
            "main.go:27 GET /v2/inner -> shop.show",
        ],
    );
}

#[test]
fn methods_of_routes_in_lists_and_constants() {
    check(
        &[
            ("go.mod", "module shop\n\ngo 1.22\n"),
            (
                "main.go",
                r#"package main

import (
	"github.com/gin-gonic/gin"
	h "net/http"
)

const put = "PUT"

func main() {
	r := gin.New()
	r.Match([]string{"GET", h.MethodPost}, "/match", ping)
	r.Handle(h.MethodPut, "/put", ping)
	r.Match(methods, "/unknown", ping)
	m := h.NewServeMux()
	m.HandleFunc(h.MethodPost+" /mp", served)
	m.HandleFunc(put+" /own", served)
	m.HandleFunc(other()+" /other", served)
}

func ping(c *gin.Context) {}

func served(w h.ResponseWriter, r *h.Request) {}
"#,
            ),
        ],
        &[
            "main.go:12 GET /match -> shop.ping",
            "main.go:12 POST /match -> shop.ping",
            "main.go:13 PUT /put -> shop.ping",
            "main.go:16 POST /mp -> shop.served",
            "main.go:17 PUT /own -> shop.served",
            "main.go:18 ANY ${other()} /other -> shop.served",
        ],
    );
}

#[test]
fn methods_of_own_types_that_are_no_routers_are_no_routes() {
    check(
        &[
            ("go.mod", "module shop\n\ngo 1.22\n"),
            (
                "main.go",
                r#"package main

import "github.com/gin-gonic/gin"

type Cache struct{ size int }

func (c *Cache) GET(key string, f func())        {}
func (c *Cache) HandleFunc(key string, f func()) {}
func (c Cache) Handle(key string, f func())      {}

type Wrapped struct{ inner *gin.Engine }

func (w *Wrapped) GET(path string, f func()) {}

type Router struct{}

func (r *Router) GET(path string, f func()) {}

type Server struct{ router Router }

func (c *Cache) fill() { c.HandleFunc("/phantom", f) }

func main(e Unknown, s *Server, other *Cache) {
	c := &Cache{}
	c.GET("/phantom", f)
	d := Cache{}
	d.Handle("/phantom", f)
	other.GET("/phantom", f)
	w := &Wrapped{}
	w.GET("/wrapped", f)
	r := &Router{}
	r.GET("/own", f)
	s.router.GET("/field", f)
	e.GET("/unknown", f)
}

func f() {}
"#,
            ),
        ],
        &[
            "main.go:30 GET /wrapped -> shop.f",
            "main.go:32 GET /own -> shop.f",
            "main.go:33 GET /field -> shop.f",
            "main.go:34 GET /unknown -> shop.f",
        ],
    );
}

#[test]
fn routes_of_fiber_are_under_their_groups() {
    check(
        &[
            (
                "go.mod",
                "module shop\n\nrequire github.com/gofiber/fiber/v2 v2.50.0\n",
            ),
            (
                "main.go",
                r#"package main

import "github.com/gofiber/fiber/v2"

func list(c *fiber.Ctx) error { return nil }
func one(c *fiber.Ctx) error  { return nil }

func main() {
	app := fiber.New()
	app.Get("/x", list)
	v1 := app.Group("/api").Group("/v1")
	v1.Post("/y/:id", one)
	app.Listen(":3000")
}
"#,
            ),
        ],
        &[
            "main.go:10 GET /x -> shop.list",
            "main.go:12 POST /api/v1/y/:id -> shop.one",
        ],
    );
}
