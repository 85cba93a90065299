"""The trace: one JSON object that records a run, for live view, replay, lab and export.

Files end in `.duoviz.json`. All times are seconds since the run was submitted, on one monotonic
clock for all processes. Token texts concatenate to the decoded text exactly. One full example (a
run cut short; only two of eight candidates and a few of the settings are shown):

    {"header": {
       "schema": 1,
       "method": "duodecoding",
       "about": {"title": "DuoDecoding", "name": "DuoDecoding", "draft": true, "parallel": true,
                 "proposers": [{"id": "draft", "token": "token from the draft", "origin": "from the draft",
                                "counts": ""}],
                 "statuses": ["pending", "accepted", "rejected", "discarded", "correction"],
                 "numbers": ["acceptance", "overlap", "k", "gamma", "longest", "theta"],
                 "caption": "", "verified": "", "nothing": ""},
       "pair": "embedded",
       "target": {"name": "SmolLM2-135M-Instruct (Q4_1, dequantised to float32)",
                  "device": "CPU core 1 (AMD EPYC)", "precision": "float32"},
       "draft": {"name": "duoviz draft", "device": "CPU core 0 (AMD EPYC)", "precision": "int8"},
       "can_overlap": true,
       "settings": {"max_new_tokens": 3, "temperature": 0.0, "seed": 0, "acceptance": "coupled", "raw": false},
       "prompt": "Why is the sky blue?",
       "prompt_tokens": 37,
       "calibration": {"context": 64, "target": [[1, 0.031], [8, 0.036]], "draft": [[1, 0.004], [8, 0.006]]},
       "versions": {"duoviz": "0.1.0", "torch": "2.13.0+cpu", "numba": "0.68.1", "transformers": "5.23.0",
                    "python": "3.11.7"},
       "date": "2026-11-21T10:00:00+00:00"},
     "iterations": [
       {"index": 0, "mode": "prefill",
        "target": {"start": 0.010, "end": 0.092, "rows": 37},
        "draft": [{"start": 0.011, "end": 0.043, "tokens": 37}, {"start": 0.043, "end": 0.047, "tokens": 1}],
        "sync": 0.093, "budget": 2, "longest": 2, "theta": 0.38, "sequences": 1,
        "candidates": [{"id": 504, "text": "The", "p": 0.61, "over": true},
                       {"id": 1626, "text": "It", "p": 0.11, "over": false}],
        "matched": null, "checked": [],
        "drafted": [{"id": 504, "text": "The", "parent": -1, "source": "draft", "q": 0.61,
                     "count": null, "p": 0.83, "status": "accepted"},
                    {"id": 6376, "text": " sky", "parent": 0, "source": "draft", "q": 0.62,
                     "count": null, "p": null, "status": "pending"}],
        "verdict": {"outcome": "hit", "tested": 1, "accepted": 1, "sequence": 1},
        "committed": [{"id": 504, "text": "The", "source": "draft", "gap": 2.1}]},
       {"index": 1, "mode": "post",
        "target": {"start": 0.094, "end": 0.127, "rows": 2},
        "draft": [{"start": 0.094, "end": 0.098, "tokens": 1}],
        "sync": 0.127, "budget": 1, "longest": 1, "theta": null, "sequences": 1,
        "candidates": [{"id": 314, "text": " is", "p": 0.55, "over": false},
                       {"id": 3814, "text": " appears", "p": 0.2, "over": false}],
        "matched": null,
        "checked": [{"id": 6376, "text": " sky", "parent": -1, "source": "draft", "q": 0.62,
                     "count": null, "p": 0.71, "status": "accepted"}],
        "drafted": [{"id": 314, "text": " is", "parent": -1, "source": "draft", "q": 0.55,
                     "count": null, "p": 0.18, "status": "rejected"},
                    {"id": 3814, "text": " appears", "parent": -1, "source": "target", "q": null,
                     "count": null, "p": 0.66, "status": "correction"}],
        "verdict": {"outcome": "miss", "tested": 2, "accepted": 1, "sequence": null},
        "committed": [{"id": 6376, "text": " sky", "source": "draft", "gap": 0.9},
                      {"id": 3814, "text": " appears", "source": "target", "gap": 1.3}]}],
     "end": {"stopped": "length", "wall": 0.127, "text": "The sky appears"}}

about: what the method is, for drawing the run (see `duoviz.decoding.method`); absent from older traces, which are
  drawn as this version knows their methods.
mode: `prefill`, `pre` (nothing was pending), `post` (something was), `alone` (the
  draft rests, for its guesses do not pay); null for methods other than DuoDecoding.
before: only where the prompt was not the first turn of its conversation: the turns before it, as
  [what the user said, the answer].
can_overlap: whether both sides can work at the same time; not on one core, and not without a draft.
matched: of methods that look up what to propose, how many of the text's last tokens were found elsewhere
  (`tokens`), and what they say (`text`): {"tokens": 3, "text": " of the city"}. Null where nothing was
  found, for the other methods, and absent from older traces.
checked: the tokens that this iteration's target forward verified, a tree: `parent` is an
  index into the same list, -1 is the end of the verified text. Lookahead's window stands between
  the guesses and the target's own token: the same forward reads it and verifies nothing of it.
drafted: the tree drafted at the same time, by methods that work in parallel; its root (-1) is the end
  of `checked`.
rest: of a tree that lives on from iteration to iteration (DuoTree's), the likeliest tokens that were not verified;
  parents count on from `checked`, whose nodes come first. `pending`: it is the next root or under it; else `discarded`.
start: why the target began when it did: the tokens then expected of the iteration (`expected`) and the tokens a
  second (`rate`); how many more tokens the best further draft step was expected to bring (`gain`), and what that would
  have cost (`seconds`: the step, and the longer verification; in older traces the step alone), both null where there
  was none to make. Absent from other methods' iterations.
chance, step, was: of a living tree's nodes: how likely the target was thought to write the token after its parent
  (counted on other texts, times how much oftener or rarer that has come true in this run); which of this iteration's
  draft steps proposed it (null: an earlier iteration's, or a look-up); and its index among the nodes (`checked`, then
  `rest`) of the iteration before, null where it was not among them.
q: the probability of the token in the distribution that the draft drew it from; p: in the one that
  the target draws from, null where the token was not tested. Both are after temperature, top-k and
  top-p (greedy: at temperature 1); the candidates' p and θ are the draft's at the temperature alone.
status: `pending`, `accepted`, `rejected`, `discarded` (hung on a rejected token, a branch not taken,
  or, in older traces, beyond what was worth verifying), `correction` (the target's own token), `window` (Lookahead's).
verdict.outcome: `hit` (all that was tested was accepted), `miss` (the pending tokens were, no first
  token was), `rejection`, or `none` (nothing was tested);
  tested: positions at which a drafted token met the target's; sequence: which branch was taken, from 1.
gap: how far, in logits, the next best token was from being the target's (greedy: the top-1 logit minus
  the top-2; sampled: the same with the noise added); null where no other token could be drawn, and
  for the classical rule, which has no such measure.
budget is γ, theta θ, sequences k; longest: how many tokens the longest sequence drafted has (in older traces
  how many it might have; absent from the oldest); all null for methods without them. factors, in older traces: how
  many times longer than measured before the run the target's forwards and the draft's steps were taking.
sync: when both sides' results were in.
end.stopped: `eos`, `length`, `context`, `stopped` (by the user), `time` (the
  run's time was over) or `error`; the last two with `message`.
"""

SCHEMA_VERSION = 1
