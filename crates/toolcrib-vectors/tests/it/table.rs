//! Reading tables and embedding by a small one made here.
use toolcrib_vectors::{DIMS, Table, TableError, Vector, VectorSet};

/// A table of these pieces; row n has `127` at component n and the given scale.
pub(crate) fn bytes(pieces: &[(&str, i16)]) -> Vec<u8> {
    let list: String = pieces
        .iter()
        .map(|(piece, _)| format!("{piece}\n"))
        .collect();
    let mut bytes = b"TCVEC1\0\0".to_vec();
    for number in [DIMS, pieces.len(), list.len(), 0] {
        bytes.extend((number as u32).to_le_bytes());
    }
    bytes.extend(pieces.iter().flat_map(|(_, scale)| scale.to_le_bytes()));
    bytes.extend(list.bytes());
    for row in 0..pieces.len() {
        bytes.extend((0..DIMS).map(|at| if at == row % DIMS { 127u8 } else { 0 }));
    }
    bytes
}

#[allow(clippy::unwrap_used, reason = "a helper of tests")]
pub(crate) fn table() -> Table {
    Table::from_bytes(bytes(&[
        ("close", 500),
        ("pull", 500),
        ("request", 250),
        ("##s", 5),
        ("the", 5),
        ("github", 500),
        ("heavy", 30_000),
    ]))
    .unwrap()
}

#[test]
fn a_text_is_the_weighted_sum_of_its_rows() {
    let vector = table().embed("pull requests");
    let expected = [0, 127, 64, 1];
    assert_eq!(vector.components()[..4], expected);
    assert!(vector.components()[4..].iter().all(|c| *c == 0));
}

#[test]
fn names_and_words_are_the_same_text() {
    let table = table();
    let words = table.embed("close the pull requests");
    for name in [
        "close_the_pull_requests",
        "closeThePullRequests",
        "Close-the.PULL/requests",
        "CLOSEThePullRequests",
    ] {
        assert_eq!(table.embed(name), words, "{name}");
    }
}

#[test]
fn a_known_word_is_not_cut_at_its_humps() {
    assert_eq!(table().pieces_of("GitHub"), [Some("github".to_owned())]);
    assert_eq!(
        table().pieces_of("GitHubs"),
        [None, None],
        "an unknown one is"
    );
}

#[test]
fn unknown_and_empty_texts_are_similar_to_nothing() {
    let table = table();
    for text in ["", "   ", "zzz", "\u{0}", "关闭", "🙂"] {
        let vector = table.embed(text);
        assert!(vector.is_zero(), "{text:?}");
        assert_eq!(vector.similarity(&table.embed("close")), 0.0);
        assert_eq!(vector.similarity(&Vector::ZERO), 0.0);
    }
}

#[test]
fn only_the_first_tokens_count() {
    let table = table();
    let long = "close ".repeat(toolcrib_vectors::MAX_TOKENS) + "heavy";
    assert_eq!(table.embed(&long), table.embed("close"));
    let within = "close ".repeat(toolcrib_vectors::MAX_TOKENS - 1) + "heavy";
    assert_ne!(table.embed(&within), table.embed("close"));
}

#[test]
fn a_set_scores_as_pairs_do() {
    let table = table();
    let texts = ["close", "pull the request", "", "github requests"];
    let mut set = VectorSet::with_capacity(texts.len());
    texts.iter().for_each(|text| set.push(&table.embed(text)));
    let query = table.embed("close the pull request");
    let mut scores = vec![9.0; 17];
    set.scores(&query, &mut scores);
    let pairs: Vec<f32> = texts
        .iter()
        .map(|text| query.similarity(&table.embed(text)))
        .collect();
    assert_eq!(scores, pairs);
    assert_eq!(set.len(), 4);
    assert_eq!(set.get(1), Some(table.embed("pull the request")));
    assert_eq!(set.get(4), None);
}

#[test]
fn bad_files_are_named() {
    let good = bytes(&[("a", 1), ("b", 1)]);
    let check = |bytes: Vec<u8>, error: TableError| {
        assert_eq!(Table::from_bytes(bytes).unwrap_err(), error)
    };
    check(Vec::new(), TableError::Magic);
    check(
        b"PK\x03\x04 and more than a header of bytes".to_vec(),
        TableError::Magic,
    );
    check(
        good[..good.len() - 1].to_vec(),
        TableError::Length {
            expected: 544,
            found: 543,
        },
    );
    let mut other = good.clone();
    other[8..12].copy_from_slice(&384u32.to_le_bytes());
    check(other, TableError::Dimensions(384));
    let mut joined = good.clone();
    joined[24 + 4 + 1] = b'x';
    check(joined, TableError::Pieces(2));
    let mut vast = good;
    vast[12..20].fill(0xff);
    assert!(matches!(
        Table::from_bytes(vast).unwrap_err(),
        TableError::Length { .. }
    ));
}

#[test]
fn the_table_in_the_binary_knows_words_and_weighs_them() {
    let table = Table::builtin();
    assert!(table.rows() > 25_000, "{} rows", table.rows());
    for word in ["delete", "kubernetes", "github", "webhook", "weather"] {
        assert_eq!(table.pieces_of(word), [Some(word.to_owned())]);
    }
    let plain = table.embed("delete repository");
    assert!(plain.similarity(&table.embed("please can you delete the repository")) > 0.85);
    assert!(plain.similarity(&table.embed("weather forecast")) < 0.4);
}

#[test]
fn meaning_is_nearer_than_letters() {
    // Where a word has two senses (shares of a company, to share) a static table has their mean, and no such case is here.
    let table = Table::builtin();
    let check = |text: &str, right: &str, wrong: &str| {
        let need = table.embed(text);
        let (right, wrong) = (
            need.similarity(&table.embed(right)),
            need.similarity(&table.embed(wrong)),
        );
        assert!(right > wrong, "{text}: {right} against {wrong}");
    };
    check(
        "how hot will it be in Oslo",
        "get_weather_forecast",
        "get_disk_usage",
    );
    check("mail my colleagues", "send_email", "list_branches");
    check("throw away a branch", "delete_branch", "get_branch_office");
    check(
        "close the stale PR",
        "update_pull_request",
        "get_weather_forecast",
    );
    check("restart the pods", "kubectl_rollout", "play_podcast");
}

#[test]
fn vectors_are_those_the_distillation_computes() {
    // Sums of component times place, worked out by the tools in `distill/` from the same file.
    let check = |text: &str, first: [i8; 6], sum: i32| {
        let vector = Table::builtin().embed(text);
        assert_eq!(vector.components()[..6], first, "{text}");
        let weighted = (1..)
            .zip(vector.components())
            .map(|(place, c)| place * i32::from(*c));
        assert_eq!(weighted.sum::<i32>(), sum, "{text}");
    };
    check(
        "look across GitHub for open bug reports that mention SSO timeouts",
        [39, 58, -51, -34, 4, 32],
        44_058,
    );
    check("getUserByID", [127, -36, -23, 74, -38, 43], -14_404);
    check(
        "Créer un ticket — 北京 🙂 kubectl_rollout",
        [-23, -69, -2, -11, -11, -3],
        -13_503,
    );
    check(
        "list_s3_buckets: Lists all buckets (maxResults continuationToken)",
        [127, 3, -36, -48, 43, -45],
        44_458,
    );
}

#[test]
fn a_text_read_in_pieces_is_the_text() {
    let table = Table::builtin();
    let long = "word ".repeat(300);
    for (a, b, c) in [
        (
            "update_pull_request: ",
            "Closes a stale pull request.",
            " It needs a title.",
        ),
        ("", "Fetches a page", " and what it links to"),
        ("Ünïcode: ", "日本 の", " テスト (e.g. this)\u{1}"),
        ("x: ", "", ""),
        (&long, "Nothing of this counts any more.", " Nor this."),
    ] {
        let head = table.begin().read(a);
        let short = head.clone().read(b);
        assert_eq!(short.vector(), table.embed(&format!("{a}{b}")));
        assert_eq!(short.read(c).vector(), table.embed(&format!("{a}{b}{c}")));
        assert_eq!(head.read(c).vector(), table.embed(&format!("{a}{c}")));
    }
}
