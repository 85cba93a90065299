"""The target talks to itself: it is given a question's opening, writes the question, then answers it."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer, LlamaForCausalLM

from duoviz.training.distillation import load_target

TOPICS = (
    "a garden", "bread", "the moon", "trains", "a school play", "bees", "rivers", "coffee", "a lost key", "winter",
    "chess", "volcanoes", "the heart", "a market stall", "glass", "the printing press", "a long walk", "maps", "clouds",
    "libraries", "a football team", "a job interview", "bridges", "sleep", "a new neighbour", "the stock market",
    "vaccines", "dinosaurs", "electric cars", "a night shift", "photographs", "robots", "the alphabet", "earthquakes",
    "recycling", "a budget", "the Roman Empire", "a train ticket", "stars", "wind power", "a letter", "the internet",
    "a museum", "a detective", "cheese", "antibiotics", "gravity", "democracy", "batteries", "a computer virus",
)  # fmt: skip
LANGUAGES = ("German", "French", "Spanish", "Italian", "Portuguese", "Dutch", "Latin", "Polish")
NAMES = ("Anna", "Ravi", "Lucas", "Mei", "Tom", "Sofia", "Kofi", "Ines", "Jack", "Yuki", "Maria", "Ben", "Zara", "Olaf")
FUNCTIONS = (
    "count", "find", "remove", "is", "to", "merge", "sort", "sum", "parse", "reverse", "max", "split", "join", "get",
    "convert", "filter", "group", "longest", "unique", "average", "check", "format", "rotate", "flatten", "make",
)  # fmt: skip

OPENINGS = {
    "mt_bench": (
        "", "Write a short story about {topic}", "Explain to a child", "What are the three best ways to",
        "I would like to learn about {topic}.", "Help me write a letter about {topic}", "Imagine you are",
        "Compare", "Give me some advice about {topic}.", "How do I", "Describe {topic}", "Write a poem about {topic}",
        "What do you think about {topic}?", "Plan a day", "Why does", "Make a list of",
        "I have a problem with {topic}.", "Draft an e-mail", "Suggest", "Pretend to be",
    ),
    "translation": (
        "Translate this {language} text into English:\n", "Translate to English: ", "Translate into {language}: ",
        "Translate the following {language} sentence into English.\n\n", "What does this {language} sentence mean?\n",
        "How do you say this in {language}? ", "Please translate this letter from {language} to English:\n",
    ),
    "summarization": (
        "Summarize:\n\nThe {town}", "Summarize the following passage in two sentences:\n\n", "Summarize:\n\nIn the",
        "Write a one-sentence summary of this article:\n\nThe", "Summarize this text about {topic}:\n\n",
        "Give the main points of the following text:\n\n", "What is this report about? Summarize it briefly.\n\n",
        "Shorten this text to a few lines:\n\n{name}",
    ),
    "qa": (
        "Who", "What is", "Which", "When did", "Where", "How many", "What is the name of", "Name the",
        "In which country", "Give the",
        "What do you call", "Is it true that", "What is the difference between", "Who wrote", "How far",
    ),
    "math_reasoning": (
        "{name} has {number}", "A shop sells {number}", "If {number}", "{name} buys {number}", "A train travels",
        "There are {number}", "How much", "{name} and {other} share {number}", "What is {number}",
        "A farmer has {number}", "{name} earns {number}", "Solve:", "A box contains {number}",
        "{name} reads {number} pages",
    ),
    "rag": (
        "Answer the question using only the passages below. Keep the answer short.\n\n[1] The",
        "Read the passage and answer the question.\n\nPassage: The", "Context: {topic}",
        "Use the following text to answer the question at the end.\n\n", "Passage:\n{name}",
        "Based on the text below, answer the question.\n\nText: In", "[1] {name}",
        "Here are two notes. Answer the question from them alone.\n\n[1] The",
    ),
    "code": (
        "Complete this Python function. Reply with the full function.\n\ndef {function}_",
        "Write a Python function that", "def {function}_", "Write a function called {function}_",
        "Fix the bug in this code:\n\ndef", "Explain what this code does:\n\n", "Write a Python class",
        "Write a program", "How do I {function}", "Write a SQL query", "Write a JavaScript function",
        "Write a test for",
    ),
}  # fmt: skip
TASKS = tuple(OPENINGS)
QUESTION_TOKENS, ANSWER_TOKENS = 176, 160
CANDIDATES = 64
QUESTION_TEMPERATURE, ANSWER_TEMPERATURE = 0.9, 1.0
# A text whose last tokens are this many repeats of one stretch is a loop.
LOOP_TOKENS, LONGEST_PERIOD = 60, 20
# Stands where there is no token.
PADDING = 0


def opening(rng: np.random.Generator, task: str) -> str:
    """One opening of a user turn for the task, with its blanks filled in."""
    pattern = str(rng.choice(OPENINGS[task]))
    name, other = rng.choice(NAMES, 2, replace=False)
    return pattern.format(
        topic=rng.choice(TOPICS),
        language=rng.choice(LANGUAGES),
        name=name,
        other=other,
        town=rng.choice(("town", "city", "company", "village", "council", "museum", "school", "study", "team")),
        number=rng.integers(2, 120),
        function=rng.choice(FUNCTIONS),
    )


class Format(NamedTuple):
    """The chat template's pieces as token ids: before a question, between question and answer, and after an answer."""

    begin: list[int]
    between: list[int]
    again: list[int]
    end: int


@dataclass
class Text:
    """A row while it is written; answer: for each id whether it is one of an answer, 0 or 1."""

    row: int
    task: str
    greedy: bool
    ids: list[int]
    answer: list[int]

    def add(self, tokens: Sequence[int], *, answer: bool = False) -> None:
        self.ids += tokens
        self.answer += [int(answer)] * len(tokens)


def loops(ids: Sequence[int]) -> bool:
    """Whether a text's last LOOP_TOKENS tokens repeat one stretch of at most LONGEST_PERIOD tokens."""
    return len(ids) >= LOOP_TOKENS + LONGEST_PERIOD and any(
        ids[-1] == ids[-1 - period] and ids[-LOOP_TOKENS:] == ids[-LOOP_TOKENS - period : -period]
        for period in range(1, LONGEST_PERIOD + 1)
    )


def looping(ids: Tensor, scores: Any) -> Tensor:
    """For `generate`: which of these texts loop, bool [texts]."""
    last = ids[:, -LOOP_TOKENS - LONGEST_PERIOD :].tolist()
    return torch.tensor([loops(text) for text in last], device=ids.device)


@torch.inference_mode()
def go_on(target: Any, texts: Sequence[Text], *, end: int, most: int, temperature: float, answer: bool = False) -> None:
    """Let the target go on with each text up to its `end`, by at most so many tokens; temperature 0: greedily."""
    if not texts:
        return
    given = [torch.tensor(text.ids) for text in texts]
    ids, seen = (
        pad_sequence(parts, batch_first=True, padding_value=PADDING, padding_side="left").to(target.device)
        for parts in (given, [torch.ones_like(part) for part in given])
    )
    how = {"do_sample": True, "temperature": temperature, "top_k": CANDIDATES} if temperature else {"do_sample": False}
    written = target.generate(
        ids, attention_mask=seen, max_new_tokens=most, eos_token_id=end, pad_token_id=PADDING,
        stopping_criteria=[looping], **how,
    )  # fmt: skip
    for text, tokens in zip(texts, written[:, ids.shape[1] :].tolist(), strict=True):
        while tokens and tokens[-1] == PADDING:
            tokens.pop()
        text.add(tokens, answer=answer)


def chat_format(tokenizer) -> Format:
    """The pieces of the chat template, found by rendering a marked conversation."""
    mark = "{text}"
    messages = [{"role": role, "content": mark} for role in ("user", "assistant", "user")]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    begin, between, again = (tokenizer.encode(piece, add_special_tokens=False) for piece in text.split(mark)[:3])
    # The target writes the end mark itself after a question or an answer; what follows the mark is given.
    return Format(begin=begin, between=between, again=again[1:], end=again[0])


def write_texts(target: LlamaForCausalLM, tokenizer: Any, rows: Sequence[int], *, seed: int) -> list[Text]:
    """The rows of these numbers, which are written together; an ended conversation goes on for a second turn."""
    chat = chat_format(tokenizer)
    texts = [beginning(tokenizer, chat, row, seed) for row in rows]
    torch.manual_seed(hash((seed, *rows)))
    asked = texts
    while asked:
        go_on(target, asked, end=chat.end, most=QUESTION_TOKENS, temperature=QUESTION_TEMPERATURE)
        for text in asked:
            # An ended question has the first token of what comes between it and its answer.
            text.add(chat.between[text.ids[-1] == chat.end :])
        for greedy, temperature in ((True, 0.0), (False, ANSWER_TEMPERATURE)):
            mine = [text for text in asked if text.greedy == greedy]
            go_on(target, mine, end=chat.end, most=ANSWER_TOKENS, temperature=temperature, answer=True)
        first = asked is texts
        asked = [text for text in texts if first and text.task == "mt_bench" and text.ids[-1] == chat.end]
        for text in asked:
            text.add(chat.again)
    return texts


def beginning(tokenizer: Any, chat: Format, row: int, seed: int) -> Text:
    """How a row begins, all of which follows from the seed and the row."""
    rng, task = np.random.default_rng([seed, row]), TASKS[row % len(TASKS)]
    ids = [*chat.begin, *tokenizer.encode(opening(rng, task), add_special_tokens=False)]
    return Text(row, task, bool(rng.random() < 0.6), ids, [0] * len(ids))


def read_lines(file: Path) -> list[dict]:
    """The complete lines of a file of rows; a line cut short by a kill is left out."""
    lines = file.read_text().split("\n") if file.is_file() else []
    return [json.loads(line) for line in lines[:-1]]


def pack(rows: Sequence[dict]) -> dict[str, np.ndarray]:
    """The arrays of a corpus file (see `corpus.load_corpus`), in the rows' order.

    A row is left out if it has no answer, or an earlier one has the same answers.
    """
    by_answers: dict[tuple[int, ...], dict] = {}
    for row in sorted(rows, key=lambda row: row["row"]):
        if answers := tuple(token for token, mine in zip(row["ids"], row["answer"], strict=True) if mine):
            by_answers.setdefault(answers, row)
    kept = by_answers.values()
    return {
        "flat": np.array([token for row in kept for token in row["ids"]], dtype=np.uint16),
        "length": np.array([len(row["ids"]) for row in kept], dtype=np.int32),
        "answer": np.array([mine for row in kept for mine in row["answer"]], dtype=bool),
        "greedy": np.array([row["greedy"] for row in kept], dtype=bool),
    }


def make_corpus(target_folder: Path, out: Path, *, rows: int, minutes: float, slots: int, seed: int) -> None:
    """Write a corpus of up to `rows` rows to `out` (npz), `slots` at once, stopping after `minutes`.

    Finished rows are appended to `out`.jsonl at once; the same call goes on from there.
    """
    tokenizer = AutoTokenizer.from_pretrained(target_folder)
    target = load_target(target_folder, torch.bfloat16)
    lines = out.with_suffix(".jsonl")
    done = read_lines(lines)
    lines.write_text("".join(json.dumps(row) + "\n" for row in done))
    wanted = sorted(set(range(rows)) - {row["row"] for row in done})
    begin = time.perf_counter()
    for start in range(0, len(wanted), slots):
        written = [asdict(text) for text in write_texts(target, tokenizer, wanted[start : start + slots], seed=seed)]
        with lines.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in written)
        done += written
        spent = (time.perf_counter() - begin) / 60
        left = min(minutes - spent, spent * (len(wanted) / (start + len(written)) - 1))
        print(f"{len(done):,} rows, {max(0.0, left):.1f} min left", flush=True)
        if spent >= minutes:
            break
    arrays = pack(done)
    np.savez_compressed(out, **arrays)  # pyright: ignore[reportArgumentType]
    print(f"{len(arrays['length']):,} rows, {int(arrays['answer'].sum()):,} answer tokens in {out}")
