"""Build the bundled WEAT lists of 24 languages from the files of WEATHub that speakers have checked.

python -m benchmarks.builders.weathub FOLDER

The folder holds one JSON file a language and test, such as de_weat7.json, with two targets and two attributes of
WEATHub (https://huggingface.co/datasets/iamshnoo/weathub, CC BY 4.0; Mukherjee et al. 2023). The targets become groups,
and each has the attribute that the test pairs it with for its stereotype. Words are written in Unicode's normal form C,
without a semicolon at their end; words in both attributes, in capitals or not, are left out of both, and their list's
description
names them. The files are written to data/words/weathub/<language>/<test>.toml; the same files give the same bytes.
"""

import json
import re
import sys
from pathlib import Path
from unicodedata import normalize

FOLDER = Path(__file__).parents[2] / "data" / "words" / "weathub"
TESTS = {
    "weat1": "flowers and insects against pleasant and unpleasant words",
    "weat2": "instruments and weapons against pleasant and unpleasant words",
    "weat6": "male and female first names against words for career and family",
    "weat7": "mathematics and the arts against male and female terms",
    "weat8": "science and the arts against male and female terms",
    "weat9": "mental and physical diseases against temporary and permanent words",
}


def snake(name):
    """A category such as MaleNames as male_names."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def cleaned(words):
    """Words in normal form C, without a semicolon that was left at the end."""
    return [normalize("NFC", word).strip().removesuffix(";") for word in words]


def array(words):
    return "[" + ", ".join(json.dumps(word, ensure_ascii=False) for word in words) + "]"


def toml(language, test, sets):
    """The text of one list, and the words that are in both attributes."""
    lists = {key: cleaned(sets[key]["examples"]) for key in ("targ1", "targ2", "attr1", "attr2")}
    first, second = ({word.casefold() for word in lists[key]} for key in ("attr1", "attr2"))
    shared = [word for word in dict.fromkeys(lists["attr1"] + lists["attr2"]) if word.casefold() in first & second]
    groups = [snake(sets[key]["category"]) for key in ("targ1", "targ2")]
    left_out = f" In both attributes, and left out: {', '.join(shared)}." if shared else ""
    description = f"WEAT {test.removeprefix('weat')} ({language}): {TESTS[test]}.{left_out}"
    text = [
        'kind = "words"',
        f'name = "weathub/{language}/{test}"',
        f'language = "{language}"',
        'provenance = "validated"',
        f"description = {json.dumps(description, ensure_ascii=False)}",
        'source = "Mukherjee, Raj, Zhu and Anastasopoulos (2023), WEATHub (iamshnoo/weathub), CC BY 4.0"',
        'doi = "10.18653/v1/2023.emnlp-main.981"',
        "",
        "[protected]",
        *(f"{group} = {array(lists[key])}" for group, key in zip(groups, ("targ1", "targ2"), strict=True)),
        "",
        "[stereotypes]",
        *(
            f"{group} = {array([word for word in lists[key] if word not in shared])}"
            for group, key in zip(groups, ("attr1", "attr2"), strict=True)
        ),
    ]
    return "\n".join(text) + "\n", shared


def main(folder):
    left_out, lists = 0, 0
    files = sorted(Path(folder).glob("*_*.json"))
    for file in files:
        language, test = file.stem.split("_")
        text, shared = toml(language, test, json.loads(file.read_text(encoding="utf-8")))
        place = FOLDER / language / f"{test}.toml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        left_out, lists = left_out + len(shared), lists + bool(shared)
    print(f"{len(files)} lists; {left_out} words in both attributes left out of {lists} lists")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
