"""Text, whoever it is from: words, sentences, encodings, and what must not be trusted."""
