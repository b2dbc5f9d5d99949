package summarize

// Tokens estimates the tokens of a text.
var Tokens = tokensOf
