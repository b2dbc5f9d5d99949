// Package tokens estimates, offline and in one pass, how many tokens a text
// costs a language model. It knows no vocabulary: it splits a text the way the
// public byte-pair encodings do (words, groups of three digits, runs of
// punctuation, line breaks with their indentation) and charges each piece what
// such a piece costs on average. The charges were fitted on recorded agent
// conversations and on texts in ten scripts against the encodings o200k_base and
// cl100k_base; the measuring test states the error.
//
// Counter is the seam for a real tokenizer.
package tokens

// Counter counts the tokens of a text. It must be safe for concurrent use, give
// the same number for the same text, and never a negative one.
type Counter interface {
	Count(text string) int
}
