"""The target talks to itself: it is given a question's opening, writes the question, then answers it."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import AutoTokenizer, LlamaForCausalLM

from duoviz.training.distillation import load_target

TOPICS = (
    "a garden", "bread", "the moon", "trains", "a school play", "bees", "rivers", "an old bicycle", "coffee",
    "a lost key", "winter", "chess", "a small harbour", "volcanoes", "the heart", "music lessons", "a market stall",
    "glass", "whales", "a birthday", "the printing press", "salt", "a long walk", "maps", "a shy dog", "paint",
    "clouds", "a power cut", "libraries", "soup", "a football team", "the desert", "mirrors", "a job interview",
    "spiders", "bridges", "sleep", "a new neighbour", "gold", "the stock market", "a wooden boat", "vaccines",
    "dinosaurs", "an apple tree", "electric cars", "a night shift", "paper", "the ocean", "a broken window",
    "photographs", "rice", "a mountain hut", "robots", "the alphabet", "a wedding", "earthquakes", "a choir",
    "recycling", "owls", "a budget", "the Roman Empire", "sugar", "a train ticket", "stars", "a pottery class",
    "insulin", "a flooded cellar", "wind power", "a letter", "honey", "the internet", "an island", "running shoes",
    "a museum", "cotton", "the liver", "a detective", "cheese", "the weather", "a piano", "antibiotics", "penguins",
    "a street musician", "concrete", "a snowman", "gravity", "tea", "a lighthouse", "democracy", "a robot vacuum",
    "sharks", "time zones", "a farm", "the brain", "a camping trip", "pearls", "an orchestra", "batteries",
    "a village fair", "magnets", "the Silk Road", "a grandmother", "tomatoes", "the circus", "a computer virus",
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
QUESTION_TOKENS, ANSWER_TOKENS, CONTEXT = 176, 160, 448
CANDIDATES = 64
QUESTION_TEMPERATURE, ANSWER_TEMPERATURE = 0.9, 1.0
# A text whose last tokens are this many repeats of one stretch is a loop.
LOOP_TOKENS, LONGEST_PERIOD = 60, 20


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


class BatchedTarget:
    """A Llama-family model that decodes `slots` texts together, each at its own length.

    model: transformers' module on any device, in any precision; this object is its cache.
    A slot is emptied by starting it again at position 0: what stands beyond a slot's position is never read.
    """

    def __init__(self, model: LlamaForCausalLM, *, slots: int):
        self.model: Any = model
        self.device, config = model.device, self.model.config
        shape = (config.num_hidden_layers, 2, slots, config.num_key_value_heads, CONTEXT, config.head_dim)
        self.cache = torch.zeros(shape, dtype=model.dtype, device=self.device)
        self.slots = torch.arange(slots, device=self.device)
        self.positions = torch.zeros_like(self.slots)
        self.places = torch.arange(CONTEXT, device=self.device)

    @torch.inference_mode()
    def step(self, ids: Sequence[int], positions: Sequence[int]) -> Tensor:
        """Logits [slots, vocabulary] after one more token a slot."""
        tokens, self.positions = torch.tensor([ids, positions], device=self.device)
        # The whole cache is read each step: a slice of it would be copied before every product, which costs more.
        seen = (self.places <= self.positions[:, None])[:, None, None]
        out = self.model(
            tokens[:, None], position_ids=self.positions[:, None], attention_mask=seen, past_key_values=self
        )
        return out.logits[:, 0]

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Called by each layer with its new keys and values, [slots, kv heads, 1, head size] each.

        Returns all of its keys and values, [slots, kv heads, context, head size] each.
        """
        for every, new in zip(self.cache[layer], (keys, values), strict=True):
            every[self.slots, :, self.positions] = new[:, :, 0]
        return self.cache[layer, 0], self.cache[layer, 1]


class Format(NamedTuple):
    """The chat template's pieces as token ids: before a question, between question and answer, and after an answer."""

    begin: list[int]
    between: list[int]
    again: list[int]
    end: int


class Text:
    """A row while it is written. fed: how many of its tokens the target has in its cache.

    key: of the noise that its tokens are drawn with, int64. begun: where its question or answer begins. turns: how many
    answers it still lacks.
    """

    def __init__(
        self, row: int, opening: Sequence[int], chat: Format, *, task: str, greedy: bool, turns: int, key: int
    ):
        self.row, self.task, self.greedy, self.turns, self.key, self.chat = row, task, greedy, turns, key, chat
        self.ids = [*chat.begin, *opening]
        self.answer = [0] * len(self.ids)
        self.begun, self.fed = len(self.ids), len(chat.begin) - 1
        self.answering = self.done = False

    @property
    def temperature(self) -> float:
        """0: the most probable token is taken."""
        if not self.answering:
            return QUESTION_TEMPERATURE
        return 0.0 if self.greedy else ANSWER_TEMPERATURE

    def went_on(self, token: int) -> None:
        """One more token is in the cache; after the last one the target chose this one."""
        self.fed += 1
        if self.fed == len(self.ids):
            self.write(token)
        self.done = self.done or len(self.ids) >= CONTEXT - 1

    def write(self, token: int) -> None:
        self.ids.append(token)
        self.answer.append(int(self.answering))
        written, ended = self.ids[self.begun :], token == self.chat.end
        if not self.answering:
            if ended or len(written) >= QUESTION_TOKENS:
                # An ended question has written the first token of what comes between it and its answer.
                self.give(self.chat.between[ended:])
                self.answering = True
        elif ended or len(written) >= ANSWER_TOKENS or loops(written):
            self.turns -= 1
            self.answering = False
            if ended and self.turns:
                self.give(self.chat.again)
            else:
                self.done = True

    def give(self, tokens: Sequence[int]) -> None:
        """Let these tokens come next; the part after them begins there."""
        if len(self.ids) + len(tokens) >= CONTEXT - 1:
            self.done = True
            return
        self.ids += tokens
        self.answer += [0] * len(tokens)
        self.begun = len(self.ids)


def loops(ids: Sequence[int]) -> bool:
    """Whether a text's last LOOP_TOKENS tokens repeat one stretch of at most LONGEST_PERIOD tokens."""
    return len(ids) >= LOOP_TOKENS + LONGEST_PERIOD and any(
        ids[-1] == ids[-1 - period] and ids[-LOOP_TOKENS:] == ids[-LOOP_TOKENS - period : -period]
        for period in range(1, LONGEST_PERIOD + 1)
    )


def chosen(logits: Tensor, texts: Sequence[Text]) -> list[int]:
    """The target's next token of each text; logits [texts, vocabulary]."""
    values, candidates = logits.topk(min(CANDIDATES, logits.shape[-1]), dim=-1)
    keys, places = torch.tensor([[text.key, len(text.ids)] for text in texts], device=logits.device).T
    temperature = torch.tensor([text.temperature for text in texts], device=logits.device)[:, None]
    drawn = (values.float() / temperature + gumbel(keys, places, values.shape[-1])).argmax(dim=-1, keepdim=True)
    return candidates.gather(-1, drawn.masked_fill(temperature == 0, 0))[:, 0].tolist()


def gumbel(key: Tensor, place: Tensor, count: int) -> Tensor:
    """Gumbel noise, float32 [slots, count], a function of each slot's key and place alone (SplitMix64's mixing)."""
    x = key + place * -0x61C8864680B583EB
    x = x[:, None] + torch.arange(1, count + 1, device=key.device) * -0x2B5A8A5A3D1B1D35
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15)):
        x = (x ^ shifted(x, shift)) * factor
    uniform = (shifted(x ^ shifted(x, 31), 11).double() + 0.5) / 2**53
    return -(-uniform.log()).log().float()


def shifted(x: Tensor, bits: int) -> Tensor:
    """int64 as if unsigned, shifted to the right."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def chat_format(tokenizer) -> Format:
    """The pieces of the chat template, found by rendering a marked conversation."""
    mark = "{text}"
    messages = [{"role": role, "content": mark} for role in ("user", "assistant", "user")]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    begin, between, again = (tokenizer.encode(piece, add_special_tokens=False) for piece in text.split(mark)[:3])
    # The target writes the end mark itself after a question or an answer; what follows the mark is given.
    return Format(begin=begin, between=between, again=again[1:], end=again[0])


def write_texts(target: BatchedTarget, tokenizer, rows: Iterator[int], *, seed: int) -> Iterator[Text]:
    """Complete rows, as they are finished; a finished text's slot goes to the next row."""
    chat, count = chat_format(tokenizer), len(target.slots)
    # Every text begins alike: that part is computed once and stays at the front of each slot.
    for position, token in enumerate(chat.begin[:-1]):
        target.step([token] * count, [position] * count)
    begun = (beginning(tokenizer, chat, row, seed) for row in rows)
    slots = [next(begun, None) for _ in range(count)]
    while active := {slot: text for slot, text in enumerate(slots) if text}:
        # A slot without a row is fed what nobody reads.
        fed = [(text.ids[text.fed], text.fed) if text else (0, 0) for text in slots]
        logits = target.step(*zip(*fed, strict=True))
        tokens = chosen(logits[list(active)], list(active.values()))
        for (slot, text), token in zip(active.items(), tokens, strict=True):
            text.went_on(token)
            if text.done:
                yield text
                slots[slot] = next(begun, None)


def beginning(tokenizer, chat: Format, row: int, seed: int) -> Text:
    """How a row begins, all of which follows from the seed and the row."""
    rng, task = np.random.default_rng([seed, row]), TASKS[row % len(TASKS)]
    given = tokenizer.encode(opening(rng, task), add_special_tokens=False)
    greedy, turns = bool(rng.random() < 0.6), 2 if task == "mt_bench" else 1
    return Text(row, given, chat, task=task, greedy=greedy, turns=turns, key=int(rng.integers(1 << 62)))


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
        "task": np.array([row["task"] for row in kept]),
    }


def make_corpus(target_folder: Path, out: Path, *, rows: int, minutes: float, slots: int, seed: int) -> None:
    """Write a corpus of up to `rows` rows to `out` (npz), stopping after `minutes`.

    Finished rows are appended to `out`.jsonl at once; the same call goes on from there.
    """
    tokenizer = AutoTokenizer.from_pretrained(target_folder)
    target = BatchedTarget(load_target(target_folder, torch.bfloat16), slots=slots)
    lines = out.with_suffix(".jsonl")
    done = read_lines(lines)
    lines.write_text("".join(json.dumps(row) + "\n" for row in done))
    wanted = sorted(set(range(rows)) - {row["row"] for row in done})
    begin, answers = time.perf_counter(), 0
    with lines.open("a") as file:
        for count, text in enumerate(write_texts(target, tokenizer, iter(wanted), seed=seed), 1):
            done.append({name: getattr(text, name) for name in ("row", "task", "greedy", "ids", "answer")})
            file.write(json.dumps(done[-1]) + "\n")
            file.flush()
            answers += sum(text.answer)
            spent = (time.perf_counter() - begin) / 60
            if count % 100 == 0:
                left = min(minutes - spent, spent * (len(wanted) - count) / count)
                speed = answers / spent / 60
                print(f"{len(done):,} rows, {speed:.0f} answer tokens/s, {left:.1f} min left", flush=True)
            if spent >= minutes:
                break
    arrays = pack(done)
    np.savez_compressed(out, **arrays)  # pyright: ignore[reportArgumentType]
    print(f"{len(arrays['length']):,} rows, {int(arrays['answer'].sum()):,} answer tokens in {out}")
