"""The target talks to itself: it is given a question's opening, writes the question, then answers it."""

import argparse
import time
from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer, LlamaForCausalLM

from duoviz.command_line import tell
from duoviz.errors import UserError
from duoviz.models.embedded import embedded_target
from duoviz.models.load import target_device
from duoviz.training.corpus import Row, read_rows, save_rows

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
# The share of the rows whose answers are greedy.
GREEDY = 0.6
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


def chat_format(tokenizer: Any) -> Format:
    """The pieces of the chat template, found by rendering a marked conversation."""
    mark = "{text}"
    messages = [{"role": role, "content": mark} for role in ("user", "assistant", "user")]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    begin, between, again = (tokenizer.encode(piece, add_special_tokens=False) for piece in text.split(mark)[:3])
    # The target writes the end mark itself after a question or an answer; what follows the mark is given.
    return Format(begin=begin, between=between, again=again[1:], end=again[0])


@torch.inference_mode()
def go_on(target: Any, rows: Sequence[Row], *, end: int, most: int, temperature: float, answer: bool = False) -> None:
    """Let the target go on with each text up to its `end`, by at most so many tokens; temperature 0: greedily."""
    if not rows:
        return
    given = [torch.from_numpy(row.ids) for row in rows]
    ids, seen = (
        pad_sequence(parts, batch_first=True, padding_value=PADDING, padding_side="left").to(target.device)
        for parts in (given, [torch.ones_like(part) for part in given])
    )
    how = {"do_sample": True, "temperature": temperature, "top_k": CANDIDATES} if temperature else {"do_sample": False}
    written = target.generate(
        ids, attention_mask=seen, max_new_tokens=most, eos_token_id=end, pad_token_id=PADDING, **how
    )
    for row, tokens in zip(rows, written[:, ids.shape[1] :].tolist(), strict=True):
        while tokens and tokens[-1] == PADDING:
            tokens.pop()
        row.add(tokens, answer=answer)


def write_texts(target: LlamaForCausalLM, tokenizer: Any, numbers: Sequence[int], *, seed: int) -> list[Row]:
    """The rows of these numbers, which are written together; an ended chat of every task's first goes on for a second
    turn."""
    chat = chat_format(tokenizer)
    rows = [beginning(tokenizer, chat, number, seed) for number in numbers]
    torch.manual_seed(hash((seed, *numbers)))
    turn = rows
    while turn:
        go_on(target, turn, end=chat.end, most=QUESTION_TOKENS, temperature=QUESTION_TEMPERATURE)
        for row in turn:
            # An ended question has the first token of what comes between it and its answer.
            row.add(chat.between[int(row.ids[-1] == chat.end) :])
        for greedy, temperature in ((True, 0.0), (False, ANSWER_TEMPERATURE)):
            mine = [row for row in turn if row.greedy == greedy]
            go_on(target, mine, end=chat.end, most=ANSWER_TOKENS, temperature=temperature, answer=True)
        chats = [row for number, row in zip(numbers, rows, strict=True) if number % len(TASKS) == 0]
        turn = [row for row in chats if turn is rows and row.ids[-1] == chat.end]
        for row in turn:
            row.add(chat.again)
    return rows


def beginning(tokenizer: Any, chat: Format, number: int, seed: int) -> Row:
    """How a row begins, all of which follows from the seed and its number."""
    rng = np.random.default_rng([seed, number])
    begun = tokenizer.encode(opening(rng, TASKS[number % len(TASKS)]), add_special_tokens=False)
    return Row(np.array([*chat.begin, *begun]), greedy=bool(rng.random() < GREEDY))


def write_corpus(options: argparse.Namespace) -> None:
    """Write rows to `options.out`, so many at once, for as long as asked for; the same call goes on from there.

    A row without an answer is left out, and one with the answers of an earlier one.
    """
    if not 0 < options.minutes < inf:
        raise UserError("--minutes must be a number above 0.")
    if (out := options.out).suffix != ".npz":
        raise UserError(f"--out {out} must end in .npz.")
    rows, written = (read_rows(out), int(np.load(out).get("written", 0))) if out.is_file() else ([], 0)
    save_rows(out, rows, written=written)
    folder, begin = embedded_target(tell), time.perf_counter()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    target = LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval().to(target_device())  # pyright: ignore
    known = {b"", *(row.answer for row in rows)}
    for start in range(written, options.rows, options.slots):
        numbers = range(start, min(start + options.slots, options.rows))
        for row in write_texts(target, tokenizer, numbers, seed=options.seed):
            if row.answer not in known:
                rows.append(row)
                known.add(row.answer)
        save_rows(out, rows, written=numbers.stop)
        spent = (time.perf_counter() - begin) / 60
        left = min(options.minutes - spent, spent * (options.rows - numbers.stop) / (numbers.stop - written))
        print(f"{numbers.stop:,} rows, {max(0.0, left):.1f} min left", flush=True)
        if spent >= options.minutes:
            break
    print(f"{len(rows):,} rows, {sum(len(row.places) for row in rows):,} answer tokens in {out}")
