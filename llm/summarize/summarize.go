// Package summarize is the project's only summarizer. A model turns untrusted data into a
// text within a token budget, and no answer gets through without the caller's check.
// Guidelines and conversations share it.
//
// Instructions and data never mix. The system part of a prompt is the caller's own text; the
// data is JSON in the user part, between two markers with a random nonce. That does not
// protect a model from what the data says: the check afterwards does.
package summarize

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
)

// Request requests one text.
type Request struct {
	// Instructions are the system part, in the caller's own words. The sentence that explains
	// the markers is added to them.
	Instructions string
	// Parts are the data, most important first.
	Parts []Part
	// Budget limits instructions and data together, in tokens as counted by Tokens.
	Budget int
	// MaxTokens limits the answer; 0 leaves the limit to the server.
	MaxTokens int
	// The request is made on behalf of Workspace, and of Tool if it is about one.
	Workspace, Tool string
	// Nonce is the word in this prompt's markers; "" uses a random one.
	Nonce string
	// Count counts tokens for the budget; nil uses Tokens.
	Count func(string) int
	// Check takes an answer, or rejects it; nil accepts all that are not blank. If it rejects
	// an answer with ErrTooLong, a shorter one is requested once.
	Check func(answer memoryd.Completion) error
}

// Answer says who answered a Request, and what that took.
type Answer struct {
	// Author is the model's name.
	Author string
	Usage  memoryd.Usage
	// Calls counts requests to models, including failed ones. Seconds is their total
	// duration.
	Calls   int
	Seconds float64
}

// ErrUnusable is part of every error which means that the model answered, but nothing in the
// answer was usable.
var ErrUnusable = errors.New("the model's answer is unusable")

// ErrTooLong is what a Check returns to request a shorter answer once.
var ErrTooLong = errors.New("the answer is too long")

// Summarizer generates texts with a model. It is safe for concurrent use.
type Summarizer struct {
	Model memoryd.Model
	// Timeout limits one request; 0 leaves that to the context.
	Timeout time.Duration
	// Log receives panics; nil drops them.
	Log *slog.Logger
}

// Do has one text generated, and hands it to the request's Check. It fails with the model's
// error, with ErrUnusable, or with the context's error.
func (s Summarizer) Do(ctx context.Context, r Request) (Answer, error) {
	if r.Nonce == "" {
		r.Nonce = rand.Text()
	}
	if r.Count == nil {
		r.Count = tokensOf
	}
	t := Answer{Author: s.Model.Name()}
	err := s.once(ctx, r, 0, &t)
	if errors.Is(err, ErrTooLong) && ctx.Err() == nil {
		err = s.once(ctx, r, max(20, r.MaxTokens/2), &t)
	}
	return t, err
}

// once makes one request; a panic or a time-out of the model is an error like any
// other.
func (s Summarizer) once(ctx context.Context, r Request, words int, t *Answer) error {
	prompt, err := prompt(r, words)
	if err != nil {
		return err
	}
	t.Calls++
	answer, err := s.complete(ctx, prompt, t)
	t.Usage.PromptTokens += answer.Usage.PromptTokens
	t.Usage.CompletionTokens += answer.Usage.CompletionTokens
	if err != nil {
		return fmt.Errorf("ask %s: %w", s.Model.Name(), err)
	}
	if blank(answer.Text) {
		return fmt.Errorf("%w: it is blank", ErrUnusable)
	}
	if r.Check != nil {
		if err := r.Check(answer); err != nil {
			return fmt.Errorf("%w: %w", ErrUnusable, err)
		}
	}
	return nil
}

func (s Summarizer) complete(ctx context.Context, p memoryd.Prompt, t *Answer) (answer memoryd.Completion, err error) {
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Timeout)
		defer cancel()
	}
	began := time.Now()
	defer func() { t.Seconds += time.Since(began).Seconds() }()
	err = lifecycle.Do(ctx, s.Log, "summarizing", func() (err error) {
		answer, err = s.Model.Complete(ctx, p)
		return err
	})
	return answer, err
}

// Pack divides groups of parts into requests of at most budget tokens each. A group stays
// together; one that is too large gets a request of its own. Pack returns the numbers of the
// groups.
func Pack(groups [][]Part, budget int, count func(string) int) [][]int {
	var out [][]int
	var now []int
	used := 0
	for i, g := range groups {
		cost := 0
		for _, p := range g {
			if l, err := p.line(); err == nil {
				cost += count(l) + 1
			}
		}
		if used > 0 && used+cost > budget {
			out = append(out, now)
			now, used = nil, 0
		}
		now = append(now, i)
		used += cost
	}
	if len(now) > 0 {
		out = append(out, now)
	}
	return out
}
