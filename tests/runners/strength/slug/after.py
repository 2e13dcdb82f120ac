"""After the change."""


def slug(text, limit=20):
    """Words in lower case, joined by hyphens, cut at whole words."""
    words = [word for word in text.lower().split() if word.isalnum()]
    kept = []
    size = 0
    for word in words:
        size += len(word) + (1 if kept else 0)
        if size > limit:
            break
        kept.append(word)
    return "-".join(kept) or "untitled"
