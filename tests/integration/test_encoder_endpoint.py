"""Encoders and rerankers behind real servers that misbehave: no mode gives a wrong vector."""

import threading

import numpy as np
import pytest

from pneuma_assets.core.config.models import EncoderConfig, ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.models.endpoint import RefusedError
from pneuma_assets.core.models.reranker import Reranker
from pneuma_assets.core.models.usage import counting
from pneuma_assets.core.text.sentences import pieces
from tests.support.endpoint_modes import like, vector_of
from tests.support.waiting import LONGEST

pytestmark = pytest.mark.integration

KEY = "sk-very-secret-0123456789"
TEXTS = [f"text {number} of the harbour" for number in range(70)]


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch):
    monkeypatch.setattr("pneuma_assets.core.models.endpoint._LONGEST_PAUSE", 0.01)


def model_of(url, **more):
    return {"model": "m", "endpoint_url": url, "send_values": True, "api_key_env": "K"} | more


def encoder_at(url, model=None, **keys):
    config = {"model": model_of(url, **(model or {})), "dimensions": 8} | keys
    return open_encoder(EncoderConfig.model_validate(config), {"K": KEY})


def unit(texts, size=8):
    vectors = np.array([vector_of(one, size) for one in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("mode", ["plain", "reasoning", "strict", "ignore", "busy"])
def test_each_text_has_its_own_vector_in_unit_length_whatever_the_order(serve, mode):
    endpoint = serve(like(mode, ""))
    with counting() as used:
        vectors = encoder_at(endpoint.url).encode_documents(TEXTS)
    np.testing.assert_allclose(vectors, unit(TEXTS), atol=1e-6)
    assert vectors.dtype == np.float32
    assert used.read == sum(len(one) // 4 for one in TEXTS)
    assert endpoint.authorisations[0] == f"Bearer {KEY}"
    assert max(len(body["input"]) for body in endpoint.requests) <= 32


TOLD = {
    "empty": "sent 0 vectors for 3 texts",
    "cut": "sent 1 vectors for 3 texts",
    "refuse": "refuses: .*the text was filtered",
    "thought": "sent vectors that have no direction",
    "broken": "does not answer",
    "away": "does not answer",
    "slow": "does not answer",
}


@pytest.mark.parametrize("mode", TOLD)
def test_what_is_no_vector_is_an_error(serve, mode):
    given_up = threading.Event()
    timeout = 0.3 if mode == "slow" else LONGEST
    encoder = encoder_at(serve(like(mode, "", given_up)).url, {"timeout": timeout})
    for encode in (encoder.encode_documents, encoder.encode_queries):
        with pytest.raises(ModelError, match=TOLD[mode]) as caught:
            encode(TEXTS[:3])
        assert KEY not in str(caught.value)
    given_up.set()


def test_texts_that_are_too_long_for_it_are_told(serve):
    for mode, told in (("overflow", "maximum context length"), ("window", "read 4,096 tokens")):
        with pytest.raises(ModelError, match=told):
            encoder_at(serve(like(mode, "")).url).encode_documents(["a" * 40_000])


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        [],
        [[1.0] * 8],
        [{"index": 1, "embedding": [1.0] * 8}],
        [{"index": [0], "embedding": [1.0] * 8}],
        [{"index": 0, "embedding": [0.0] * 8}],
        [{"index": 0, "embedding": [1.0] * 7}],
        [{"index": 0, "embedding": [[1.0]] * 8}],
        [{"index": 0, "embedding": [None] * 8}],
        [{"index": 0, "embedding": [10**400] * 8}],
        [{"index": 0, "embedding": "AAAAAAAA"}],
        [{"index": 0, "embedding": [1.0] * 8}] * 2,
    ],
)
def test_no_reply_of_another_form_becomes_a_vector(serve, data):
    for reply in ({"data": data}, data):
        endpoint = serve(lambda _, reply=reply: (200, reply))
        with pytest.raises(ModelError, match="The endpoint"):
            encoder_at(endpoint.url, {"timeout": 0.5}).encode_documents(["a"])


def test_what_is_put_before_texts_and_which_dimensions_are_asked_for(serve):
    endpoint = serve(like("plain", ""))
    keys = {"query_prefix": "query: ", "document_prefix": "passage: ", "dimensions": 4}
    encoder = encoder_at(endpoint.url, {"extra": {"truncate": False}}, **keys)
    encoder.encode_documents(["a"])
    encoder.encode_queries(["b"])
    assert [one["input"] for one in endpoint.requests] == [["passage: a"], ["query: b"]]
    assert {(one["dimensions"], one["truncate"]) for one in endpoint.requests} == {(4, False)}
    assert encoder.encode_documents([]).shape == (0, 4)
    same = encoder_at("http://elsewhere/v1", {"extra": {"truncate": False}}, **keys)
    assert same.name == encoder.name
    for key, value in {**keys, "window": 99}.items():
        other = encoder_at(endpoint.url, {"extra": {"truncate": False}}, **keys | {key: value * 2})
        assert other.name != encoder.name, key


def test_several_requests_are_under_way_at_once(serve):
    meeting, plain = threading.Barrier(2), like("plain", "")

    def reply(body):
        meeting.wait(timeout=LONGEST)
        return plain(body)

    encoder = encoder_at(serve(reply).url)
    np.testing.assert_allclose(encoder.encode_documents(TEXTS[:64]), unit(TEXTS[:64]), atol=1e-6)


def test_tokens_are_counted_with_care_and_a_piece_fits_the_window():
    encoder, packaged = encoder_at("http://h/v1", window=64), open_encoder(EncoderConfig())
    prose = "In 1935 the harbour office of Kyōto weighed 12.5 t of 東京都 tea, Чай! " * 40
    (spans,), (real,) = encoder.token_spans([prose]), packaged.token_spans([prose])
    assert len(real) <= len(spans) <= 3 * len(real)
    cut = pieces(prose, spans, encoder.window, encoder.token_spans)
    assert "".join(text for text, _ in cut).split() == prose.split() or len(cut) > 1
    assert max(size for _, size in cut) <= 64
    assert max(map(len, packaged.token_spans([text for text, _ in cut]))) <= 64
    longer = encoder_at("http://h/v1", window=64, document_prefix="passage: ")
    assert longer.window == 64 - len(longer.token_spans(["passage: "])[0])


def test_of_a_question_what_fits_the_window_is_sent(serve):
    endpoint = serve(like("plain", ""))
    encoder_at(endpoint.url, window=32).encode_queries(["tea " * 500, "tea"])
    long, short = endpoint.requests[0]["input"]
    assert short == "tea"
    assert long == ("tea " * 32).strip()


def test_a_question_that_is_asked_again_is_not_sent_again(serve):
    endpoint = serve(like("plain", ""))
    encoder = encoder_at(endpoint.url)
    for asked in (["a", "b", "a"], ["b"], ["c", "a"]):
        np.testing.assert_allclose(encoder.encode_queries(asked), unit(asked), atol=1e-6)
    assert [sorted(body["input"]) for body in endpoint.requests] == [["a", "b"], ["c"]]


RANKED = ["far away", "the tea of Kyoto", "tea"]


def reranker_at(url, **more):
    return Reranker(ModelConfig(**model_of(url, **more)), {"K": KEY})


@pytest.mark.parametrize("mode", ["plain", "reasoning", "strict", "busy", "overflow", "window"])
def test_a_score_is_that_of_its_text(serve, mode):
    endpoint = serve(like(mode, ""))
    reranker = reranker_at(endpoint.url)
    for _ in range(2):
        assert reranker.scores("tea of Kyoto", RANKED) == pytest.approx([0.0, 1.0, 1 / 3])
    assert len(endpoint.requests) == {"reasoning": 3, "busy": 4}.get(mode, 2)


@pytest.mark.parametrize("mode", ["empty", "cut", "refuse", "thought", "ignore"])
def test_a_reply_that_lacks_a_score_orders_nothing(serve, mode):
    with pytest.raises(RefusedError):
        reranker_at(serve(like(mode, "")).url).scores("tea", RANKED)


@pytest.mark.parametrize("mode", ["away", "broken", "slow"])
def test_a_reranker_that_is_away(serve, mode):
    given_up = threading.Event()
    url = serve(like(mode, "", given_up)).url
    with pytest.raises(ModelError, match="does not answer"):
        reranker_at(url, timeout=0.5).scores("tea", RANKED)
    given_up.set()


@pytest.mark.parametrize(
    "reply",
    [
        {},
        [],
        {"results": 5},
        {"results": [None]},
        {"results": [{"index": 0, "relevance_score": "x"}]},
        {"results": [{"index": 0, "relevance_score": None}]},
        {"results": [{"index": 0, "relevance_score": [1]}]},
        {"results": [{"index": -1, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}] * 2},
        {"results": [{"index": 0, "relevance_score": 10**400}]},
    ],
)
def test_no_reply_of_another_form_becomes_a_score(serve, reply):
    with pytest.raises(RefusedError, match="gave not each of 1 tables a score"):
        reranker_at(serve(lambda _: (200, reply)).url).scores("tea", ["a"])


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    """The smallest of its kind, whose weights nobody has trained."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "of", "kyoto"]
    known = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, "[UNK]"))
    known.pre_tokenizer = pre_tokenizers.Whitespace()
    known.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)]
    )
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    more = {"intermediate_size": 8, "vocab_size": len(words), "max_position_embeddings": 32}
    folder = tmp_path_factory.mktemp("reranker")
    for labels in (1, 2):
        config = BertConfig(num_labels=labels, **sizes, **more)
        BertForSequenceClassification(config).save_pretrained(folder / str(labels))
        PreTrainedTokenizerFast(
            tokenizer_object=known, pad_token="[PAD]", unk_token="[UNK]", model_max_length=32
        ).save_pretrained(folder / str(labels))
    return folder


def test_a_cross_encoder_of_this_machine(cross_encoder):
    reranker = Reranker(ModelConfig(model=str(cross_encoder / "1"), device="cpu"), {})
    scores = reranker.scores("tea", RANKED)
    assert scores == pytest.approx(reranker.scores("tea", RANKED[::-1])[::-1], abs=1e-5)
    assert len(scores) == 3
    reranker.close()


def test_what_is_no_cross_encoder_of_one_score(cross_encoder, tmp_path):
    with pytest.raises(RefusedError, match="not each of 3 tables a score"):
        Reranker(ModelConfig(model=str(cross_encoder / "2"), device="cpu"), {}).scores("", RANKED)
    with pytest.raises(ModelError, match=r"cannot be loaded .*check judge\.model"):
        Reranker(ModelConfig(model=str(tmp_path), device="cpu"), {}).scores("tea", RANKED)
