"""Takes secrets of the commonest forms out of what is kept on disk until it can be sent."""

from __future__ import annotations

import re
from typing import Any

MASK = "[secret]"

_NAMES = (
    r"pass(?:word|wd|phrase|code)|secret|token$|api[-_]?key|access[-_]?key|private[-_]?key"
    r"|authorization|cookie|credential|^(?:pwd|pin|cvv)$"
)
_NAME = re.compile(_NAMES, re.IGNORECASE)
_FORMS = re.compile(
    "|".join(
        (
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
            r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
            r"\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}",
            r"\b(?:sk|pk|rk)[-_](?:\w+[-_])*[A-Za-z0-9]{16,}|\bwhsec_\w{16,}",
            r"\bxox[abeoprs]-[\w-]{8,}|\bhf_\w{20,}|\bnpm_\w{20,}|\bpypi-[\w-]{20,}|\bdckr_pat_[\w-]{16,}|\bmrd_\w{8,}",
            r"\bAIza[\w-]{30,}|\bya29\.[\w-]{16,}|\bSG\.[\w-]{8,}\.[\w-]{8,}",
            r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
            r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)",
            r"(?<=bearer )[\w.~+/=-]{12,}|(?<=basic )[\w+/=]{12,}|(?<=sig=)[\w%+/=-]{12,}",
        )
    ),
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"([\w-]*(?:pass(?:word|wd|phrase|code)|secret|token|(?:api|access|private)[-_]?key)[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;]{4,}",
    re.IGNORECASE,
)


def mask(value: Any, name: str = "") -> Any:
    """Gives a value of JSON without its secrets; name is that of the member that holds it."""
    if isinstance(value, dict):
        return {mask_text(k): mask(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [mask(v, name) for v in value]
    if not isinstance(value, str):
        return value
    return MASK if _NAME.search(name) else mask_text(value)


def mask_text(text: str) -> str:
    """Gives a text without its secrets."""
    return _ASSIGNED.sub(lambda m: m.group(1) + MASK, _FORMS.sub(MASK, text))
