"""How often the draft is right on held-out rows: by position in the draft, by task, and when sampled."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from duoviz.decoding.sampling import noise
from duoviz.models.checkpoint import read_config
from duoviz.models.copying import Copying
from duoviz.models.language_model import LanguageModel
from duoviz.models.llama import load_llama
from duoviz.training.corpus import Corpus, sample
from duoviz.training.lessons import Lessons
from duoviz.training.losses import mixed
from duoviz.training.student import Student, student_hidden
from duoviz.training.teacher import Teacher

POSITIONS = 8


@dataclass
class Agreement:
    """Counts over the answer tokens of some rows of a corpus; the shares are properties.

    same: bool arrays, one for each of `rows`, whether the draft's top-1 is the target's.
    At temperature 1, over `drawn` tokens: overlap, the sum of Σ min(p, q), and coupled, how often both draw
    the same token with the same noise.
    """

    corpus: Corpus
    rows: list[int] = field(default_factory=list)
    same: list[np.ndarray] = field(default_factory=list)
    overlap: float = 0.0
    coupled: int = 0
    drawn: int = 0

    @property
    def top1(self) -> float:
        """How often the draft's best token was the target's."""
        return fraction(self.same)

    @property
    def by_task(self) -> dict[str, float]:
        """`top1` on the rows of each task."""
        return self.top1_by(self.corpus.task)

    @property
    def by_file(self) -> list[float]:
        """`top1` on the rows of each corpus file, in the files' order."""
        return list(self.top1_by(self.corpus.file).values())

    @property
    def by_position(self) -> list[float]:
        """Of the drafts whose first i tokens were right, how many had the next one right too; i = 0, 1, …

        Over greedy rows, a draft beginning at each answer token.
        """
        rows = [same for row, same in zip(self.rows, self.same, strict=True) if self.corpus.greedy[row]]
        shares, alive = [], [np.ones(len(same), dtype=bool) for same in rows]
        for ahead in range(POSITIONS):
            here = [starts[: max(0, len(same) - ahead)] for starts, same in zip(alive, rows, strict=True)]
            alive = [starts & same[ahead:] for starts, same in zip(here, rows, strict=True)]
            tested, right = (sum(int(starts.sum()) for starts in side) for side in (here, alive))
            shares.append(right / tested if tested else 0.0)
        return shares

    @property
    def classical(self) -> float:
        """Σ min(p, q), the classical rule's acceptance at temperature 1."""
        return self.overlap / max(1, self.drawn)

    @property
    def shared_noise(self) -> float:
        """The coupled rule's acceptance at temperature 1."""
        return self.coupled / max(1, self.drawn)

    def top1_by(self, names: np.ndarray) -> dict:
        """`top1` on the rows of each name, in the names' order; names: of all rows of the corpus."""
        same: dict = {name: [] for name in np.unique(names[self.rows]).tolist()}
        for row, mine in zip(self.rows, self.same, strict=True):
            same[names[row]].append(mine)
        return {name: fraction(rows) for name, rows in same.items()}

    def add(self, rows: list[int], theirs: Tensor, ours: Tensor, known: Tensor, *, sampled: bool = False) -> None:
        """Count in some rows; theirs: the target's logits of their answer tokens, ours: the draft's.

        sampled: also at temperature 1, which costs a draw for every token.
        """
        same = (theirs.argmax(-1) == known[ours.argmax(-1)]).cpu().numpy()
        counts = np.cumsum([len(self.corpus.answered(row)) for row in rows])[:-1]
        self.same += np.split(same, counts)
        self.rows += rows
        if sampled:
            self.add_draws(theirs, ours, known.cpu())

    def add_draws(self, theirs: Tensor, ours: Tensor, known: Tensor) -> None:
        """Count the acceptance at temperature 1 of some tokens; logits [tokens, ids], ours of the known ids only."""
        log_p, log_q = theirs.log_softmax(-1).cpu(), ours.log_softmax(-1).cpu()
        self.overlap += float(torch.minimum(log_p[:, known].exp(), log_q.exp()).sum())
        for row in range(len(log_p)):
            gumbel = -torch.log(noise(0, self.drawn + row, log_p.shape[-1]))
            self.coupled += int((log_p[row] + gumbel).argmax() == known[(log_q[row] + gumbel[known]).argmax()])
        self.drawn += len(log_p)


def fraction(rows: list[np.ndarray]) -> float:
    """The share of true values."""
    return sum(int(row.sum()) for row in rows) / max(1, sum(len(row) for row in rows))


@torch.no_grad()
def evaluate(student: Student, teacher: Teacher, lessons: Lessons) -> Agreement:
    """Agreement on rows of the student that also copies."""
    agreement = Agreement(teacher.corpus)
    for number in range(len(lessons)):
        lesson = lessons[number].to(student.device)
        ours = mixed(student.lm_head(student.hidden(lesson.ids, lesson.places)).float(), lesson.copied)
        agreement.add(lesson.rows, teacher.exact_logits(lesson.rows), ours, student.known)
    return agreement


@torch.no_grad()
def scores(teacher: Teacher, student: Student, folder: Path, *, count: int | None = None) -> dict:
    """Agreement on held-out rows, or `count` of them: of the float32 student, and of its int8 file in `folder`.

    The int8 draft is also scored as it is used, with the copying of that file, by position and at temperature 1 too.
    The target decides in float32, as when it decodes: rounded as in training it would choose other tokens in places.
    """
    teacher = Teacher(teacher.target, teacher.corpus, torch.float32)
    corpus, rows = teacher.corpus, teacher.corpus.rows(held_out=True)
    draft = load_llama(folder, precision="int8", label="draft")
    copying = Copying(draft, read_config(folder)["copying"])
    exact, alone, used = (Agreement(corpus) for _ in range(3))
    for row in rows if count is None else sample(rows, count):
        theirs = teacher.exact_logits([row])
        exact.add([row], theirs, student.lm_head(student_hidden(student, corpus, [row])).float(), student.known)
        for agreement, model in ((alone, draft), (used, copying)):
            assert model.known is not None, "a draft's head names its ids"
            ours = answer_logits(model, corpus, row).to(theirs.device)
            agreement.add([row], theirs, ours, model.known.to(theirs.device), sampled=model is copying)
    return {"float32": round(exact.top1, 4), "int8": round(alone.top1, 4), "copying": figures(used)}


def answer_logits(model: LanguageModel, corpus: Corpus, row: int) -> Tensor:
    """A model's logits of a row's answer tokens, [tokens, columns]; its `known` names the columns."""
    model.crop(0)
    return model.forward(corpus.row(row).tolist(), rows=(corpus.answered(row) - 1).tolist()).float()


def figures(agreement: Agreement) -> dict:
    """An agreement in rounded figures."""
    return {
        "top1": round(agreement.top1, 4),
        "by_file": [round(fraction, 4) for fraction in agreement.by_file],
        "by_task": {task: round(fraction, 4) for task, fraction in agreement.by_task.items()},
        "by_position": [round(fraction, 4) for fraction in agreement.by_position],
        "classical at temperature 1": round(agreement.classical, 4),
        "shared noise at temperature 1": round(agreement.shared_noise, 4),
    }
