"""Every method against transformers' greedy text, with tiny models of every architecture that transformers has.

    python -m tests.benchmarks.architectures [NAME …] [--processes 2] [--write]

Target and draft are folders, as a download leaves them; the draft is the target with noise. One text goes to the end of
the context, one to an end token that only config.json names. Prints what becomes of each architecture, then what
docs/models.md says of all; --write puts it there. Exits with 1 on a defect.
"""

import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, PretrainedConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.datastore import build_datastore
from duoviz.decoding.engine import Engine
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError, first_line
from duoviz.models.cores import available_cores
from duoviz.models.llama import Llama
from duoviz.models.load import load_pair
from duoviz.models.tokenizers import fingerprint
from duoviz.trace.agreement import Written, agreement, sentence, written
from tests.benchmarks.harness import arguments, by_transformers
from tests.models.folders import TEXT, folder, ready
from tests.release.pages import markdown, replaced

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
BEGIN = "<!-- architectures: `python -m tests.benchmarks.architectures --write` replaces what follows -->"
END = "<!-- end of architectures -->"

OWN, TREE, CHAIN = "duoviz's own decoder", "through transformers", "through transformers, one sequence, no Lookahead"
REFUSED, UNTRIED = "refused", "not tried: no model so small runs in transformers"

# Of processor time, for one architecture; and numbers, of a tiny model.
SECONDS, LARGEST = 60, 10_000_000
VOCABULARY, CONTEXT, TOKENS, WINDOW = 60, 52, 24, 24
# The sizes of a tiny model, by what configs call them.
SIZES = {
    64: "attention_hidden_size backbone_hidden_size d_model dim_model emb_dim embedding_dim embedding_size hidden_size"
        " input_embedding_size lru_width n_embd output_embedding_size pronunciation_embed_dim q_lora_rank"
        " shape_embed_dim shape_vocab_size pronunciation_vocab_size word_embed_proj_dim ple_embed_dim",
    96: "d_inner decoder_ffn_dim dense_intermediate_size dff dim_ff encoder_ffn_dim expert_ffn_hidden_size"
        " feed_forward_size ffn_dim ffn_hidden_size intermediate_size intermediate_size_mlp moe_intermediate_size"
        " moe_shared_expert_intermediate_size n_inner shared_expert_intermediate_size shared_intermediate_size"
        " shared_experts_intermediate_size",
    WINDOW: "attention_chunk_size attention_window_size local_attention sliding_window sliding_window_size window_size",
    16: "d_head dim_head head_dim hidden_size_per_layer_input index_head_dim kv_channels kv_lora_rank linear_head_dim"
        " linear_key_head_dim linear_value_head_dim o_lora_rank qk_nope_head_dim swa_head_dim v_head_dim",
    8: "index_block_size index_topk qk_rope_head_dim rotary_dim",
    4: "attention_heads decoder_attention_heads encoder_attention_heads index_n_heads linear_num_heads"
       " linear_num_key_heads linear_num_value_heads moe_num_experts n_head n_heads n_routed_experts"
       " num_attention_heads num_decoder_attention_heads num_encoder_attention_heads num_experts num_heads"
       " num_local_experts swa_num_attention_heads zero_expert_num",
    2: "encoder_layers heads_per_ngram moe_k moe_topk ngram_size num_encoder_layers num_experts_per_tok"
       " num_experts_per_token num_key_value_heads num_kv_heads swa_num_key_value_heads",
    1: "first_k_dense_replace index_topk_blocks n_group num_dense_layers num_expert_group o_groups topk_group",
    VOCABULARY: "decoder_vocab_size encoder_hash_byte_group_vocab ngram_vocab_size_base unpadded_vocab_size vocab_size"
                " vocab_size_per_layer_input",
    CONTEXT: "context_length max_position_embeddings max_seq_len max_target_positions model_max_length n_ctx"
             " n_positions",
}  # fmt: skip
TINY = {name: size for size, names in SIZES.items() for name in names.split()}
LAYERS = "decoder_layers n_layer n_layers num_blocks num_decoder_layers num_hidden_layers num_layers".split()
# What says of each layer of which kind it is.
KINDS = "attn_layers block_types indexer_types layer_types layers_block_type mlp_layer_types".split()
# What an architecture needs besides.
BESIDES: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [1]},
    "cohere_compass_text": {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10_000.0}}},
    "dots1": {"n_shared_experts": 1},
    # Two layers borrow the keys and values of the others.
    "gemma3n_text": {
        "num_kv_shared_layers": 2, "num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention"] * 2,
    },
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "jamba": {"attn_layer_offset": 1, "attn_layer_period": 2},
    "lfm2": {"layer_types": ["conv", "full_attention"], "full_attn_idxs": [1]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "longcat_flash": {"moe_topk": 2},
    "mamba2": {"head_dim": 16, "num_heads": 8},
    "reformer": {"axial_pos_shape": [4, 13], "axial_pos_embds_dim": [16, 48]},
    "xmod": {"default_language": "en_XX"},
    "zaya": {"num_experts_per_tok": 1},
}  # fmt: skip


class Found(NamedTuple):
    """What became of an architecture: how it runs, or that it does not, and why; and what it does wrong."""

    name: str
    way: str
    why: str = ""
    defects: Sequence[str] = ()


def tiny(kind: type[PretrainedConfig], besides: dict[str, Any]) -> dict[str, Any]:
    """The fields that make a config of this kind tiny: two layers at least, and one of each kind."""
    usual = kind()
    fields = usual.to_dict()
    kinds = {name: list(dict.fromkeys(fields[name])) for name in KINDS if isinstance(fields.get(name), list)}
    layers = max([2, *map(len, kinds.values())])
    sizes = TINY | dict.fromkeys(LAYERS, layers)
    if "kv_lora_rank" in fields:  # its heads are all of one latent
        sizes |= {"num_key_value_heads": sizes["num_attention_heads"], "head_dim": sizes["qk_rope_head_dim"]}
    # An architecture that usually has no window gets none.
    made = {name: size for name, size in sizes.items() if name in fields and (fields[name] or size != WINDOW)}
    made |= {name: (each + each[-1:] * layers)[:layers] for name, each in kinds.items()}
    parts = {name: getattr(usual, name, None) for name in kind.sub_configs}
    made |= {name: tiny(type(part), {}) for name, part in parts.items() if part is not None}
    padding = fields.get("pad_token_id")
    padding = padding if isinstance(padding, int) and 0 <= padding < VOCABULARY else 0
    # A decoder alone; what ends its texts is named by its folder.
    made |= {"is_decoder": True, "bos_token_id": 1, "pad_token_id": padding, "eos_token_id": None}
    return made | {"forced_eos_token_id": None} | besides


def tiny_model(name: str) -> PreTrainedModel:
    """A model with random weights, so large that no two tokens are about as good."""
    config = CONFIG_MAPPING[name](**tiny(CONFIG_MAPPING[name], BESIDES.get(name, {})))
    with torch.device("meta"):
        numbers = sum(map(torch.numel, AutoModelForCausalLM.from_config(config).parameters()))
    if numbers > LARGEST:
        raise ValueError(f"its smallest model here has {numbers:,} numbers")
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
    return model


def tiny_pair(name: str, place: Path) -> tuple[Path, Path]:
    """The folders of a target and a draft that often, but not always, agrees with it."""
    model = tiny_model(name)
    target = folder(place / "target", model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * parameter.std(correction=0) * torch.randn_like(parameter)
    draft = folder(place / "draft", model)
    for made in (target, draft):
        (made / "generation_config.json").unlink(missing_ok=True)
    return target, draft


def written_by_transformers(target: Path, ids: list[int], count: int) -> Written:
    return by_transformers(AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32).eval(), ids, count)


def differences(engine: Engine, target: Path, prompt: str, count: int) -> Iterator[str]:
    """Which methods do not write what transformers writes, and how."""
    pair, store = engine.pair, target / "store"
    ids = pair.encode(prompt)
    theirs = written_by_transformers(target, ids, min(count, pair.target.context_limit - len(ids)))
    build_datastore([theirs.ids], store, vocabulary=VOCABULARY, tokenizer=fingerprint(pair.tokenizer.get_vocab()))
    settings = Settings(max_new_tokens=count, rest_datastore=str(store))
    methods = [name for name, method in METHODS.items() if pair.target.supports_tree or not method.trees]
    lanes = [runner.Lane(name, name, settings) for name in methods]
    full = len(ids) + len(theirs.ids) == pair.target.context_limit
    end = "eos" if theirs.ids[-1] in pair.eos else "context" if full else "length"
    for row in list(runner.compare(engine, [prompt], lanes, warmups=0)):
        found = agreement(written(row["trace"]), theirs, 0.0)
        if found["verdict"] == "defect":
            found = agreement(written(row["trace"]), theirs, engine.rounding_delta(ids + list(theirs.ids)))
        if found["verdict"] == "defect":
            yield f"{row['method']}, {prompt!r}: {sentence(found)}"
        elif row["stopped"] != end:
            yield f"{row['method']}, {prompt!r}: The run ended for another reason: {row['stopped']}, not {end}."


def all_differences(engine: Engine, target: Path, draft: Path) -> Iterator[str]:
    """The same, on a text to the end of the context, and one to an end token that config.json names."""
    whole = Engine(replace(engine.pair, eos=frozenset()), draft=engine.draft_beside)
    whole.kept_costs = engine.kept_costs
    yield from differences(whole, target, TEXT[0], CONTEXT)
    ids = written_by_transformers(target, engine.pair.encode(TEXT[1]), TOKENS).ids
    config = json.loads((target / "config.json").read_text()) | {"eos_token_id": [2, ids[len(ids) // 2]]}
    (target / "config.json").write_text(json.dumps(config))
    yield from differences(ready(load_pair(f"{target} + {draft}")), target, TEXT[1], TOKENS)


def check(name: str) -> Found:
    """What becomes of an architecture."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            target, draft = tiny_pair(name, Path(scratch))
            written_by_transformers(target, [3, 4, 5], 4)
        except Exception as error:  # of transformers, which has its own bounds and defects
            return Found(name, UNTRIED, first_line(error))
        try:
            engine = ready(load_pair(f"{target} + {draft}"))
        except UserError as error:
            return Found(name, REFUSED, str(error).replace(str(target), "it"))
        model = engine.pair.target
        way = OWN if isinstance(model, Llama) else TREE if model.supports_tree else CHAIN
        return Found(name, way, f"context {model.context_limit}", list(all_differences(engine, target, draft)))


def checked(name: str) -> Found:
    """The same, within SECONDS; what goes wrong is a defect."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"it takes more than {SECONDS} s")

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return check(name)
    except Exception:
        return Found(name, UNTRIED, "it fails", [traceback.format_exc(limit=-6)])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def on_one_core(started: Any) -> None:
    """Give a process of the pool a core of its own."""
    cores = available_cores()
    with started.get_lock():
        os.sched_setaffinity(0, {cores[started.value % len(cores)]})
        started.value += 1
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def listed(all_found: Sequence[Found]) -> str:
    """What the page says of them."""
    groups: dict[str, list[str]] = {way: [] for way in (OWN, TREE, CHAIN)}
    for found in sorted(all_found, key=lambda found: (found.way == UNTRIED, found.name)):
        # Without what transformers says of its caches, and what to do.
        why = f": {re.sub(r' [(].*[)]|: choose.*', '', found.why)}" if found.way == REFUSED else ""
        groups.setdefault(found.way + why, []).append(found.name)
    lines = [[way, ", ".join(f"`{name}`" for name in names)] for way, names in groups.items() if names]
    table = markdown(["", "architectures"], lines)
    return f"transformers {transformers.__version__}, {len(all_found)} architectures:\n\n{table}"


def main() -> int:
    parser = arguments(__doc__, processes=2, write=False)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    spawn, all_found = multiprocessing.get_context("spawn"), []
    with spawn.Pool(options.processes, on_one_core, (spawn.Value("i", 0),)) as pool:
        for found in pool.imap_unordered(checked, options.names or sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)):
            all_found.append(found)
            print(f"{found.name}: {found.way} ({found.why})", *found.defects, sep="\n    ", flush=True)
    print(text := listed(all_found))
    if options.write and not options.names:
        PAGE.write_text(replaced(PAGE.read_text(), BEGIN, text, END))
    return int(any(found.defects for found in all_found))


if __name__ == "__main__":
    sys.exit(main())
