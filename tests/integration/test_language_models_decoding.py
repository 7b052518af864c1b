"""The decoder against the library's own `generate`, on tiny random models of several kinds."""

import pytest

pytestmark = pytest.mark.integration

END, PAD, NEW = 3, 0, 24
SMALL = {
    "vocab_size": 40,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
    "bos_token_id": 1,
    "eos_token_id": END,
    "pad_token_id": PAD,
}
KINDS = {
    "llama": {},
    "qwen2": {},
    "qwen3": {},
    "gemma2": {"sliding_window": 8, "attn_implementation": "eager"},
    "phi3": {},
}


ONE_KIND = "llama"
OTHERS = [pytest.param(kind, marks=pytest.mark.slow) for kind in sorted(KINDS) if kind != ONE_KIND]


@pytest.fixture(params=[ONE_KIND, *OTHERS], scope="module")
def model(request):
    import torch  # takes seconds, which those who only collect tests save
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    torch.manual_seed(5)
    options = dict(KINDS[request.param])
    attention = options.pop("attn_implementation", "sdpa")
    config = CONFIG_MAPPING[request.param](**SMALL, **options)
    made = AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    return made.eval().requires_grad_(requires_grad=False)


def prompts():
    import torch

    draw = torch.Generator().manual_seed(1)

    def some(count):
        return torch.randint(4, 40, (count,), generator=draw).tolist()

    wide, narrow = some(60), some(9)
    return [
        *([*wide, *some(length)] for length in (3, 5, 4)),
        *([*narrow, *some(length)] for length in (2, 6)),
        some(4),
        some(1),
        [*narrow, 7, 7],
        [*narrow, 7, 7],
    ]


def alone(model, prompt):
    import torch

    ids = torch.tensor([prompt])
    written = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=NEW,
        do_sample=False,
        eos_token_id=END,
        pad_token_id=PAD,
    )[0, len(prompt) :].tolist()
    return written[: written.index(END)] if END in written else written


def decoder(model, ends):
    from pneuma_assets.core.models.language.transformers.decoding import GreedyDecoder

    return GreedyDecoder(model, frozenset(ends), PAD)


def test_a_batch_answers_as_each_prompt_alone(model):
    together = dict(decoder(model, {END}).decode(prompts(), NEW))
    expected = {position: alone(model, prompt) for position, prompt in enumerate(prompts())}
    assert together == expected
    lengths = {len(written) for written in expected.values()}
    assert len(lengths) > 1 or model.config.model_type == "gemma2"  # some rows ended early


def test_rows_that_ended_cost_nothing(model):
    sizes = []

    def note(_module, _args, options):
        sizes.append(len(options["input_ids"]))

    handle = model.register_forward_pre_hook(note, with_kwargs=True)
    ended_at = []
    for _, written in decoder(model, range(3, 9)).decode(prompts(), NEW):
        ended_at.append((len(sizes), len(written)))
    handle.remove()
    expected = [len(prompts()) - sum(at <= step for at, _ in ended_at) for step in range(2, 99)]
    assert sizes[2:] == [rows for rows in expected if rows][: len(sizes) - 2]
    assert min(sizes[1:]) < len(prompts())
