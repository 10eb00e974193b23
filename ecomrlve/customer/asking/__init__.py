"""How people ask: a library of phrasings by topic, and how near a piece of text is to each of them."""
