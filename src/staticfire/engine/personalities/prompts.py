"""How many tokens a prompt has, and its text: a letter is a token."""

from __future__ import annotations

__all__ = ["letters", "text_of"]


def letters(text: object) -> int:
    """Prompt tokens: a letter each, in messages, their parts and plain text."""
    if isinstance(text, str):
        return len(text)
    if isinstance(text, dict):
        content = text.get("content", text.get("text"))
        return letters(content)
    if isinstance(text, list):
        return sum(map(letters, text))
    return 1 if isinstance(text, int) else 0


def text_of(text: object) -> str:
    """The same prompt as one text, a letter for each token."""
    if isinstance(text, str):
        return text
    if isinstance(text, dict):
        return text_of(text.get("content", text.get("text")))
    if isinstance(text, list):
        return "".join(map(text_of, text))
    return chr(text & 0xFFFF) if isinstance(text, int) else ""
