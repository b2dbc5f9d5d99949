package llmtest

import "slices"

// BrokenReply is an answer of a model that was asked for
//
//	{"score": 0 | 0.5 | 1, "summary": string, "evaluation": string}
//
// and what a judge's parser may make of it. A test of a parser checks
//
//	parsed, with a score:  r.Parsable && score == r.Score
//	not parsed:            !r.Parsable || r.Optional
//
// and Allows does so. The guiding rule: what was meant may be repaired where
// only one meaning is possible; a wrong score is worse than none.
type BrokenReply struct {
	Name string // unique
	Text string
	// Parsable says that the reply has one meaning, Score which; Score is 0
	// when there is none.
	Parsable bool
	Score    float64
	// Optional says that a stricter parser may give up on a Parsable reply: the
	// repair is far-fetched, or the score had to be moved to the scale.
	Optional bool
}

// Allows reports whether a parser may make this of the reply.
func (r BrokenReply) Allows(score float64, parsed bool) bool {
	if !parsed {
		return !r.Parsable || r.Optional
	}
	return r.Parsable && score == r.Score
}

// BrokenReplies is the whole corpus, more than 200 replies, in a fixed order.
func BrokenReplies() []BrokenReply {
	return slices.Concat(plainReplies(), wrappedReplies(), syntaxReplies(), cutReplies(),
		scoreReplies(), labelReplies(), manyReplies(), nothingReplies())
}

// must is a reply that every parser has to understand.
func must(name string, score float64, text string) BrokenReply {
	return BrokenReply{Name: name, Text: text, Parsable: true, Score: score}
}

// may is a reply that a parser may understand, but only so.
func may(name string, score float64, text string) BrokenReply {
	return BrokenReply{Name: name, Text: text, Parsable: true, Score: score, Optional: true}
}

// no is a reply that no parser may make a score of.
func no(name, text string) BrokenReply { return BrokenReply{Name: name, Text: text} }
