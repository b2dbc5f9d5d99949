package llm

import "memoryd"

// What a request is thought to cost before the server said.
const (
	startPerByte = 0.27 // tokens a byte of prompt; four bytes a token, and a little more
	startAnswer  = 256  // tokens of an answer, if its cap is not lower
	forget       = 0.1  // weight of the newest observation
)

// estimator guesses the tokens of an op's requests from what earlier ones took.
// Not safe for concurrent use.
type estimator struct {
	perByte float64
	answer  float64 // 0: none seen yet
}

func newEstimator() estimator { return estimator{perByte: startPerByte} }

// tokens guesses prompt and answer together. maxTokens 0 means no cap.
func (e *estimator) tokens(promptBytes, maxTokens int) float64 {
	answer := e.answer
	if answer == 0 {
		answer = startAnswer
	}
	if maxTokens > 0 {
		answer = min(answer, float64(maxTokens))
	}
	return max(1, e.perByte*float64(promptBytes)+answer)
}

// learn takes the server's count of a request and gives the tokens to book.
// A count that cannot be is not believed: then the guess stands.
func (e *estimator) learn(promptBytes int, guess float64, u memoryd.Usage) float64 {
	if u.PromptTokens <= 0 || u.PromptTokens > 2*promptBytes+1000 || u.CompletionTokens > 1<<20 {
		return guess
	}
	if promptBytes > 0 {
		e.perByte += forget * (min(1, float64(u.PromptTokens)/float64(promptBytes)) - e.perByte)
	}
	if e.answer == 0 {
		e.answer = float64(u.CompletionTokens) + 1
	}
	e.answer += forget * (float64(u.CompletionTokens) - e.answer)
	return float64(u.PromptTokens + u.CompletionTokens)
}
