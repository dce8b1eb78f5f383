//! Endings of Russian words, so that the forms of one word meet.
//!
//! A word of Cyrillic letters has a dozen forms, and no other part of the ranking brings
//! them together: the table of meanings reads little but English. Cutting endings by a
//! list, longest first, errs on both sides now and then; a dictionary would err less and
//! weigh more than the rest of the index. Ukrainian and Bulgarian words pass through the
//! same list.

/// Endings that leave at least three letters, longest first.
const OPEN: [&str; 34] = [
    "иями", "ыми", "ими", "ями", "ами", "ого", "его", "ому", "ему", "ая", "яя", "ое", "ее", "ые",
    "ие", "ую", "юю", "ою", "ею", "ия", "ья", "ью", "ию", "ии", "ії", "а", "я", "о", "е", "ы", "и",
    "у", "ю", "ь",
];

/// Endings that leave at least four: more often they are part of the stem.
const CLOSED: [&str; 32] = [
    "ться", "ает", "яет", "ует", "еет", "ают", "яют", "уют", "ать", "ять", "ить", "еть", "ием",
    "ией", "иев", "иям", "иях", "ам", "ям", "ах", "ях", "ом", "ем", "ой", "ей", "ий", "ый", "ым",
    "им", "ых", "их", "ов",
];

/// Whether `word` is of Cyrillic letters in lower case alone.
pub(crate) fn cyrillic(word: &str) -> bool {
    word.chars().all(|c| matches!(c, 'а'..='џ' | 'ґ'))
}

/// Cuts the ending of a word of Cyrillic letters.
pub(crate) fn cut_ending(word: &mut String) {
    if word.contains('ё') {
        *word = word.replace('ё', "е");
    }
    for reflexive in ["ся", "сь"] {
        cut(word, reflexive, 4);
    }
    let closed = CLOSED.iter().any(|ending| cut(word, ending, 4));
    if !closed && let Some(ending) = OPEN.iter().find(|ending| word.ends_with(**ending)) {
        cut(word, ending, 3);
    }
    // What is left can look like another form: `систем` of `система`.
    while CLOSED.iter().any(|ending| cut(word, ending, 4)) {}
}

/// Cuts `ending` if at least `least` letters stay.
fn cut(word: &mut String, ending: &str, least: usize) -> bool {
    let Some(rest) = word.strip_suffix(ending) else {
        return false;
    };
    let long = rest.chars().count() >= least;
    if long {
        word.truncate(rest.len());
    }
    long
}

#[cfg(test)]
mod tests {
    use crate::stem::stem;

    #[test]
    fn forms_of_one_russian_word_meet() {
        for forms in [
            "погода погоды погоде погоду погодой",
            "письмо письма письмом письмам письмами",
            "файл файла файлов файлы файлам файлами",
            "информация информации информацией информацию",
            "сценарий сценария сценарии сценариев",
            "пользователь пользователя пользователей пользователями",
            "система систем системы системой системам",
            "канал канала каналов каналы",
            "новость новости новостей",
            "память памяти",
            "режим режимы",
            "счёт счета",
            "данные данных",
            "отправить отправь",
        ] {
            let stems: Vec<String> = forms
                .split(' ')
                .map(|form| {
                    let mut form = form.to_owned();
                    stem(&mut form);
                    form
                })
                .collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn short_words_and_other_letters_stay() {
        for word in ["дом", "вид", "и", "ή", "λόγος", "gаs"] {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, word);
        }
    }
}
