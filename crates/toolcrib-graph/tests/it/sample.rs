//! Golden nodes and edges of the small programs.

use crate::support::{edges, fixture, load, nodes, sites};

#[test]
fn rust_nodes() {
    insta::assert_snapshot!(nodes(&load(fixture("sample_rust")).graph));
}

#[test]
fn python_nodes() {
    insta::assert_snapshot!(nodes(&load(fixture("sample_python")).graph));
}

#[test]
fn rust_edges() {
    insta::assert_snapshot!(edges(&load(fixture("sample_rust")).graph));
}

#[test]
fn python_edges() {
    insta::assert_snapshot!(edges(&load(fixture("sample_python")).graph));
}

#[test]
fn rust_sites() {
    insta::assert_snapshot!(sites(&load(fixture("sample_rust")).graph));
}

#[test]
fn python_sites() {
    insta::assert_snapshot!(sites(&load(fixture("sample_python")).graph));
}

#[test]
fn go_nodes() {
    insta::assert_snapshot!(nodes(&load(fixture("sample_go")).graph));
}

#[test]
fn go_edges() {
    insta::assert_snapshot!(edges(&load(fixture("sample_go")).graph));
}

#[test]
fn go_sites() {
    insta::assert_snapshot!(sites(&load(fixture("sample_go")).graph));
}

#[test]
fn java_nodes() {
    insta::assert_snapshot!(nodes(&load(fixture("sample_java")).graph));
}

#[test]
fn java_edges() {
    insta::assert_snapshot!(edges(&load(fixture("sample_java")).graph));
}

#[test]
fn java_sites() {
    insta::assert_snapshot!(sites(&load(fixture("sample_java")).graph));
}

#[test]
fn c_nodes() {
    insta::assert_snapshot!(nodes(&load(fixture("sample_c")).graph));
}

#[test]
fn c_edges() {
    insta::assert_snapshot!(edges(&load(fixture("sample_c")).graph));
}

#[test]
fn c_sites() {
    insta::assert_snapshot!(sites(&load(fixture("sample_c")).graph));
}

#[test]
fn cpp_nodes() {
    insta::assert_snapshot!(nodes(&load(fixture("sample_cpp")).graph));
}

#[test]
fn cpp_edges() {
    insta::assert_snapshot!(edges(&load(fixture("sample_cpp")).graph));
}

#[test]
fn cpp_sites() {
    insta::assert_snapshot!(sites(&load(fixture("sample_cpp")).graph));
}

#[test]
fn typescript_nodes() {
    insta::assert_snapshot!(nodes(&load(fixture("sample_ts")).graph));
}

#[test]
fn typescript_edges() {
    insta::assert_snapshot!(edges(&load(fixture("sample_ts")).graph));
}

#[test]
fn typescript_sites() {
    insta::assert_snapshot!(sites(&load(fixture("sample_ts")).graph));
}
