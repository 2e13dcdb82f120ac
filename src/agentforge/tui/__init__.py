"""The screen: a conversation on the whole terminal, drawn by Textual. Loaded only when it is opened."""
