"""Models whose chat template or tokenizer runs on, takes all memory, or breaks what carries it out."""

import json

from tests.models.folders import TEMPLATE, folder, llama, tokenizer

# What fails, and how the reason begins.
FAILING = {
    "{{ raise_exception('x' * 1000) }}": "x{200}",
    "{{ raise_exception('') }}": "TemplateError",
    "{% for %}": "Expected an expression",
    "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}": "maximum recursion depth",
    "{{ messages.__class__.__mro__ }}": "access to attribute '__class__'",
    "{{ '\\ud800' }}": "it writes an invalid character",
    "{% for message in messages %}{{ message['text'] }}{% endfor %}": "it writes nothing",
}
TEMPLATES = {
    "a loop": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "a product": "{{ messages[0]['content'] * 10 ** 8 }}",
}

# Parts of a tokenizer.json. Onig tries all ways in which a pattern shares out the letters, and gives up in a panic. Few
# letters do for the second one.
MANY, FEW = ({"Regex": "(" * deep + ".+" + ")+" * deep + "(?!.|$)"} for deep in (1, 30))
GROWS = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1000}
TOKENIZERS = {
    "cannot read": {"pre_tokenizer": {"type": "Split", "pattern": MANY, "behavior": "Isolated", "invert": False}},
    # Rust ends the process that has no memory left.
    "aborts": {"normalizer": {"type": "Sequence", "normalizers": [GROWS] * 5}},
    "cannot write": {
        "decoder": {
            "type": "Sequence",
            "decoders": [{"type": "Fuse"}, {"type": "Replace", "pattern": FEW, "content": ""}],
        }
    },
}
# A prompt that has each of them do its worst.
PROMPT = "a" * 40 + "b"


def hostile(path, kind):
    """The folder of a model of this kind."""
    made = folder(path, llama(), tokenizer(template=TEMPLATES.get(kind, TEMPLATE)))
    file = made / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | TOKENIZERS.get(kind, {})))
    return made
