//! Files that are no model: each error names the file and says what is wrong.

use std::fs;
use std::path::Path;

use toolcrib_encoder::Encoder;

const CONFIG: &str = r#"{"model_type":"bert","hidden_act":"gelu","hidden_size":16,"intermediate_size":32,
    "num_attention_heads":2,"num_hidden_layers":1,"max_position_embeddings":8,"vocab_size":4,"layer_norm_eps":1e-12}"#;

/// A model of random sizes that opens, as its tensors' names and shapes.
fn tensors() -> Vec<(String, Vec<usize>)> {
    let mut all: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![4, 16]),
        ("embeddings.position_embeddings.weight".into(), vec![8, 16]),
        (
            "embeddings.token_type_embeddings.weight".into(),
            vec![2, 16],
        ),
    ];
    let layer = "encoder.layer.0.";
    for (name, out, inputs) in [
        ("attention.self.query", 16, 16),
        ("attention.self.key", 16, 16),
        ("attention.self.value", 16, 16),
        ("attention.output.dense", 16, 16),
        ("intermediate.dense", 32, 16),
        ("output.dense", 16, 32),
    ] {
        all.push((format!("{layer}{name}.weight"), vec![out, inputs]));
        all.push((format!("{layer}{name}.bias"), vec![out]));
    }
    for name in [
        "embeddings.LayerNorm".to_owned(),
        format!("{layer}attention.output.LayerNorm"),
        format!("{layer}output.LayerNorm"),
    ] {
        all.push((format!("{name}.weight"), vec![16]));
        all.push((format!("{name}.bias"), vec![16]));
    }
    all
}

fn safetensors(tensors: &[(String, Vec<usize>)], dtype: &str) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".into(), serde_json::json!({"format": "pt"}));
    let mut data = Vec::new();
    for (name, shape) in tensors {
        let from = data.len();
        let count: usize = shape.iter().product();
        data.extend((0..count).flat_map(|n| ((n % 7) as f32 * 0.1).to_le_bytes()));
        header.insert(
            name.clone(),
            serde_json::json!({"dtype": dtype, "shape": shape, "data_offsets": [from, data.len()]}),
        );
    }
    let header = serde_json::to_vec(&header).unwrap();
    let length = (header.len() as u64).to_le_bytes();
    [length.as_slice(), &header, &data].concat()
}

fn write(directory: &Path) {
    fs::write(directory.join("config.json"), CONFIG).unwrap();
    fs::write(directory.join("vocab.txt"), "[UNK]\n[CLS]\n[SEP]\nword\n").unwrap();
    fs::write(
        directory.join("model.safetensors"),
        safetensors(&tensors(), "F32"),
    )
    .unwrap();
}

fn error(directory: &Path) -> String {
    let error = Encoder::open(directory).expect_err("it is no model");
    error
        .to_string()
        .replace(&*directory.to_string_lossy(), "DIR")
        .replace('\\', "/")
}

#[test]
fn a_small_model_opens_by_its_directory_or_its_weights() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let encoder = Encoder::open(dir.path()).unwrap();
    let vectors = encoder.encode(&["a word", "word word word word word word word word", ""]);
    assert_eq!(vectors.len(), 3);
    for vector in &vectors {
        let length: f32 = vector.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
    let by_file = Encoder::open(&dir.path().join("model.safetensors")).unwrap();
    assert_eq!(by_file.checksum(), encoder.checksum());

    fs::remove_file(dir.path().join("vocab.txt")).unwrap();
    let json = r#"{"model":{"vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"word":3}}}"#;
    fs::write(dir.path().join("tokenizer.json"), json).unwrap();
    let by_json = Encoder::open(dir.path()).unwrap();
    assert_eq!(by_json.encode(&["a word"])[0], vectors[0]);
}

#[test]
fn what_is_wrong_is_said_of_the_file_that_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let missing = error(dir.path());
    assert!(
        missing.starts_with("cannot read DIR/config.json: ") && missing.contains("vocab.txt"),
        "{missing}"
    );
    let mut seen = Vec::new();
    let mut case = |spoil: &dyn Fn(&Path)| {
        write(dir.path());
        spoil(dir.path());
        seen.push(error(dir.path()));
    };
    let config = |from: &'static str, to: &'static str| {
        move |dir: &Path| fs::write(dir.join("config.json"), CONFIG.replace(from, to)).unwrap()
    };
    case(&|dir| fs::write(dir.join("config.json"), "{}").unwrap());
    case(&config("\"bert\"", "\"mpnet\""));
    case(&config(":16", ":15"));
    case(&config(":16", ":32"));
    case(&config("\"vocab_size\":4", "\"vocab_size\":5"));
    case(&config(
        "\"num_hidden_layers\":1",
        "\"num_hidden_layers\":2",
    ));
    case(&|dir| fs::write(dir.join("vocab.txt"), "a\nb\nc\nd\n").unwrap());
    let weights = |bytes: Vec<u8>| {
        move |dir: &Path| fs::write(dir.join("model.safetensors"), &bytes).unwrap()
    };
    let whole = safetensors(&tensors(), "F32");
    case(&weights(whole[..whole.len() - 3].to_vec()));
    case(&weights(whole[..20].to_vec()));
    case(&weights(b"GGUF\x03\0\0\0\x05\0\0\0".to_vec()));
    case(&weights(Vec::new()));
    case(&weights(safetensors(&tensors(), "F16")));
    case(&|dir| fs::remove_file(dir.join("model.safetensors")).unwrap());
    insta::assert_snapshot!(seen.join("\n"));
}
