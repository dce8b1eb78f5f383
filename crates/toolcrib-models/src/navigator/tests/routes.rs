//! Questions about the routes of a server.

use super::*;

/// A small server with its routes.
fn server(call: &ToolCall) -> String {
    let query = &*call.arguments;
    let of = |route: &str| query.contains(&format!("\"name\":\"{route}\""));
    match &*call.name {
        "search_symbols" if query.contains("\"kind\":\"route\"") => "\
3 results for \"q\"; 1-3 shown:
route app.GET /users  app.py:9  @app.get('/users')
route app.GET /users/{id}  app.py:20  @app.get('/users/{id}')
route app.POST /login  app.py:30  @app.post('/login')
"
        .into(),
        "symbol_neighbors" if of("app.GET /users") => "\
route app.GET /users  app.py:9
1 edge; 1-1 shown:
-> routes_to function app.list_users  app.py:10-14  at app.py:9
"
        .into(),
        "symbol_neighbors" if of("app.POST /login") => "\
route app.POST /login  app.py:30
1 edge; 1-1 shown:
-> routes_to function app.sign_in  app.py:31-34  at app.py:30
"
        .into(),
        "read_source" if query.contains("10") => {
            "app.py:10-14 of 50 lines (Python)\n10\tdef list_users():\n11\t    return db.users()\n"
                .into()
        }
        _ => "0 results for \"q\"\n".into(),
    }
}

#[test]
fn a_question_about_a_route_names_its_handler() {
    let (text, _) = run("Who handles GET /users?", server);
    insta::assert_snapshot!(text);
    assert!(
        text.starts_with(
            "1. `app.list_users` on app.py:10-14 handles GET /users, declared on app.py:9\n"
        ),
        "{text}"
    );
    let (text, _) = run("Where is the login route handled?", server);
    assert!(
        text.starts_with("1. `app.sign_in` on app.py:31-34 handles POST /login"),
        "{text}"
    );
    let (text, _) = run("Which function serves /users/42?", server);
    assert!(
        text.starts_with("1. app.py:20 declares GET /users/{id};"),
        "{text}"
    );
    let (text, _) = run("Who handles GET /api/v2/users?", server);
    assert!(
        text.starts_with("1. `app.list_users` on app.py:10-14"),
        "{text}"
    );
    let (text, _) = run("Who handles DELETE /users?", server);
    assert!(text.starts_with("Nothing found"), "{text}");
}

#[test]
fn all_routes_are_listed_with_what_answers_them() {
    let (text, _) = run("What URLs does it serve?", |call| match &*call.name {
        "search_symbols" if call.arguments.contains("\"route\"") => "\
2 results for \"/\"; 1-2 shown:
route app.GET /  app.py:6  @app.route(\"/\")
route app.POST /login  app.py:10  @app.route(\"/login\")
"
        .into(),
        "symbol_neighbors" if call.arguments.contains("login") => "\
route app.POST /login  app.py:10
1 edge; 1-1 shown:
-> routes_to function app.login  app.py:11-12  at app.py:10
"
        .into(),
        _ => "0 results for \"q\"\n".into(),
    });
    assert_eq!(
        text,
        "2 routes:\n\
         - GET /, declared on app.py:6\n\
         - POST /login, handled by `app.login` on app.py:11-12, declared on app.py:10\n"
    );
}

#[test]
fn the_routes_of_one_part_are_those_declared_there() {
    let (text, _) = run("what routes does the admin docs app have?", |call| {
        if call.arguments.contains("\"route\"") {
            "2 results for \"q\"; 1-2 shown:\n\
             route contrib.admindocs.urls.ANY /tags/  contrib/admindocs/urls.py:5\n\
             route admin.urls.ANY /x/  admin/urls.py:7\n"
                .into()
        } else {
            "0 results for \"q\"\n".into()
        }
    });
    assert_eq!(
        text,
        "1 route:\n- ANY /tags/, declared on contrib/admindocs/urls.py:5\n"
    );
}
