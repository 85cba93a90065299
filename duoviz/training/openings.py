"""How the user turns of the self-chat begin: the target writes on from one of these."""

import numpy as np

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
