//! Functions that cannot be tools, and what their authors read.

#[test]
fn wrong_functions_are_refused_with_a_reason() {
    trybuild::TestCases::new().compile_fail("tests/it/refused/*.rs");
}
