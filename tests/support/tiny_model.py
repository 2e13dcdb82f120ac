"""Writes a language model of 280 KB with random weights: llama's architecture, bytes as tokens. It babbles, and it is served."""

from __future__ import annotations

import random
import struct
from pathlib import Path

_WIDTH, _INNER, _HEADS, _CONTEXT = 64, 96, 2, 8192
_TEMPLATE = (
    "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def write_tiny(path: Path, *, architecture: str = "llama", kind: str = "model") -> Path:
    """Write the model; a fixed seed makes it the same every time."""
    tensors = list(_tensors(random.Random(1)))
    infos, data = b"", b""
    for name, dims, numbers in tensors:
        data += b"\0" * (-len(data) % 32)
        shape = b"".join(struct.pack("<Q", size) for size in dims)
        infos += _text(name) + struct.pack("<I", len(dims)) + shape + struct.pack("<IQ", 0, len(data))
        data += struct.pack(f"<{len(numbers)}f", *numbers)
    values = _values(architecture, kind)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values)) + b"".join(values) + infos
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
    return path


def _values(architecture: str, kind: str) -> list[bytes]:
    tokens = ["<unk>", "<s>", "<|im_end|>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    kinds = [2, 3, 3, *([6] * 256), 1]
    numbers = {
        "context_length": _CONTEXT,
        "embedding_length": _WIDTH,
        "block_count": 1,
        "feed_forward_length": _INNER,
        "attention.head_count": _HEADS,
        "attention.head_count_kv": _HEADS,
        "rope.dimension_count": _WIDTH // _HEADS,
        "vocab_size": len(tokens),
    }
    texts = {
        "general.architecture": architecture,
        "general.type": kind,
        "general.name": "Tiny",
        "general.license": "mit",
        "tokenizer.ggml.model": "llama",
        "tokenizer.chat_template": _TEMPLATE,
    }
    ids = {"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0}
    return [
        *(_text(key) + struct.pack("<I", 8) + _text(value) for key, value in texts.items()),
        *(_text(f"{architecture}.{key}") + struct.pack("<II", 4, value) for key, value in numbers.items()),
        *(_text(f"tokenizer.ggml.{key}") + struct.pack("<II", 4, value) for key, value in ids.items()),
        _text(f"{architecture}.attention.layer_norm_rms_epsilon") + struct.pack("<If", 6, 1e-5),
        _array("tokenizer.ggml.tokens", 8, b"".join(_text(token) for token in tokens), len(tokens)),
        _array("tokenizer.ggml.scores", 6, struct.pack(f"<{len(tokens)}f", *([0.0] * len(tokens))), len(tokens)),
        _array("tokenizer.ggml.token_type", 5, struct.pack(f"<{len(kinds)}i", *kinds), len(kinds)),
    ]


def _tensors(dice: random.Random) -> list[tuple[str, tuple[int, ...], list[float]]]:
    square, vocabulary = (_WIDTH, _WIDTH), 260
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (_WIDTH, vocabulary),
        "output_norm.weight": (_WIDTH,),
        "output.weight": (_WIDTH, vocabulary),
        "blk.0.attn_norm.weight": (_WIDTH,),
        "blk.0.attn_q.weight": square,
        "blk.0.attn_k.weight": square,
        "blk.0.attn_v.weight": square,
        "blk.0.attn_output.weight": square,
        "blk.0.ffn_norm.weight": (_WIDTH,),
        "blk.0.ffn_gate.weight": (_WIDTH, _INNER),
        "blk.0.ffn_up.weight": (_WIDTH, _INNER),
        "blk.0.ffn_down.weight": (_INNER, _WIDTH),
    }
    found = []
    for name, dims in shapes.items():
        count = dims[0] * (dims[1] if len(dims) > 1 else 1)
        numbers = [1.0] * count if len(dims) == 1 else [dice.gauss(0, 0.3) for _ in range(count)]
        found.append((name, dims, numbers))
    return found


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _array(key: str, kind: int, data: bytes, count: int) -> bytes:
    return _text(key) + struct.pack("<IIQ", 9, kind, count) + data
