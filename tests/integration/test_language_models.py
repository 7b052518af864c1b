"""The back ends on the real SmolLM2-135M, against each other and against plain generation."""

import subprocess
import sys

import pytest

from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.describe.narrate import requests_of
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.language import smollm2
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.models.usage import counting
from pneuma_assets.core.seek import actions
from pneuma_assets.core.tables import Column, Table
from tests.support.waiting import LONGEST

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SCHEMAS = (
    ("Player", "AB", "BABIP", "home_runs"),
    ("station", "wind speed", "precipitation"),
    ("id",),
)
PROMPTS = [
    one.prompt
    for schema in SCHEMAS
    for n in range(len(schema))
    for one in requests_of(Table("", tuple(Column(c, "VARCHAR") for c in schema), 0, ""), {n}, None)
]
NEW = 20


@pytest.fixture(scope="module")
def cache_dir(request):
    try:
        smollm2.find_gguf()
    except ModelError as missing:
        pytest.skip(str(missing))
    return request.config.cache.mkdir("models")


def opened(cache_dir, **settings):
    return open_language_model(ModelConfig(**{"model": "smollm2-135m"} | settings), cache_dir, {})


@pytest.fixture(scope="module")
def transformers_model(cache_dir):
    model = opened(cache_dir, dtype="float32", device="cpu")
    yield model
    model.close()


@pytest.fixture(scope="module")
def llamacpp_model(cache_dir):
    model = opened(cache_dir, model=str(smollm2.find_gguf()), device="cpu")
    yield model
    model.close()


@pytest.mark.parametrize("allowed", [actions.NAMES, ("message",), ("search", "message")])
def test_a_conversation_is_bound_to_its_schema_by_a_grammar(llamacpp_model, allowed):
    said = [
        {"role": "system", "content": "Answer with one action as JSON."},
        {"role": "user", "content": "PERSON: Which tariffs? Answer with one action."},
    ]
    with counting() as used:
        (reply,) = llamacpp_model.generate([said], 200, actions.action_schema(allowed))
    assert used.read
    assert used.written
    if reply.whole:  # so small a model may say the same for ever
        assert actions.read_action(reply.text, allowed)
    else:
        assert "".join(reply.text.split()).startswith('{"next":{"action":"')


def answers(model, prompts=PROMPTS, length=NEW):
    return {answer.index: answer.text for answer in model.generate(prompts, length)}


@pytest.fixture(scope="module")
def alone(transformers_model):
    """Each prompt's answer by the library's own `generate`, one at a time."""
    import torch

    loaded = transformers_model._loaded
    texts = {}
    for index, tokens in enumerate(loaded.tokenise(PROMPTS)):
        ids = torch.tensor([tokens])
        written = loaded.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW, do_sample=False
        )
        texts[index] = loaded.tokenizer.decode(written[0, len(tokens) :], skip_special_tokens=True)
    return texts


def test_batched_answers_equal_those_of_prompts_alone(transformers_model, alone):
    assert answers(transformers_model) == alone


def test_out_of_memory_at_a_batch_size_loses_and_doubles_nothing(transformers_model, alone):
    import torch

    def full(_module, _args, options):
        if len(options["input_ids"]) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    handle = transformers_model._loaded.model.register_forward_pre_hook(full, with_kwargs=True)
    try:
        given = list(transformers_model.generate(PROMPTS, NEW))
    finally:
        handle.remove()
    assert sorted(answer.index for answer in given) == list(range(len(PROMPTS)))
    assert {answer.index: answer.text for answer in given} == alone
    assert transformers_model.sizer.size < transformers_model.sizer.history[0]


def test_one_prompt_that_does_not_fit_leaves_the_others_their_answers(transformers_model, alone):
    import torch

    long = "word " * 600

    def full(_module, _args, options):
        if options["input_ids"].shape[1] > 500:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    handle = transformers_model._loaded.model.register_forward_pre_hook(full, with_kwargs=True)
    try:
        given = {
            answer.index: answer for answer in transformers_model.generate([*PROMPTS, long], NEW)
        }
        (single,) = transformers_model.generate([long], NEW)
    finally:
        handle.remove()
    last = given.pop(len(PROMPTS))
    assert {index: answer.text for index, answer in given.items()} == alone
    assert all(answer.problem is None for answer in given.values())
    for unfit in (last, single):
        assert unfit.text == ""
        assert "does not fit in memory" in unfit.problem


@pytest.mark.parametrize("name", ["transformers_model", "llamacpp_model"])
def test_a_prompt_beyond_the_window_has_no_answer_and_the_others_have(request, name):
    model = request.getfixturevalue(name)
    prompts = ["word " * 20_000, "Say yes."]
    given = {one.index: one for one in model.generate(prompts, 4)}
    assert "tokens, and the model's window has room for" in given[0].problem
    assert given[1].text


@pytest.mark.slow
def test_two_processes_convert_once_and_clear_what_a_killed_one_left(cache_dir, tmp_path):
    leftover = tmp_path / ".partial-smollm2-135m-bfloat16-killed"
    leftover.mkdir()
    (leftover / "model.safetensors").write_bytes(b"half")
    code = (
        "import sys; from pathlib import Path\n"
        "from pneuma_assets.core.models.language import smollm2\n"
        "print(smollm2.converted_folder(Path(sys.argv[1])).stat().st_ino)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    made = {process.communicate(timeout=LONGEST)[0] for process in running}
    assert len(made) == 1
    assert [process.returncode for process in running] == [0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".smollm2-135m-bfloat16.lock",
        "smollm2-135m-bfloat16",
    ]
    weights = tmp_path / "smollm2-135m-bfloat16" / "model.safetensors"
    assert weights.stat().st_size == pytest.approx(269e6, rel=0.05)
