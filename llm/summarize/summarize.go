// Package summarize is the one summarizer of the project: it turns data that
// nobody vouches for into a text by a model, under a token budget, and lets no
// answer through that the caller's check did not pass. Guidelines and
// conversations share it.
//
// Instructions and data never mix: the system part of a prompt is the caller's
// own words, the data goes into the user part as JSON between two markers with a
// random nonce. That does not make a model safe against what the data says; the
// boundary is the check behind it.
package summarize

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"memoryd"

	"golang.org/x/sync/errgroup"
)

// Request asks for one text.
type Request struct {
	// Instructions are the system part. They are the caller's own words; the
	// sentence that explains the markers is added to them.
	Instructions string
	// Parts are the data, most important first.
	Parts []Part
	// Budget bounds instructions and data together, in tokens by Tokens.
	Budget int
	// MaxTokens caps the answer; 0 leaves it to the server.
	MaxTokens int
	// Workspace, and Tool if it is about one, are on whose behalf the request is
	// made.
	Workspace, Tool string
	// Check repairs an answer or refuses it; nil accepts any that is not blank.
	Check func(answer string) (string, error)
	// Fallback writes the text without a model when the model or its answer
	// fails; nil lets the failure through. It is not used when ctx has ended.
	Fallback func(ctx context.Context) (text, author string, err error)
}

// Text is what came of a Request.
type Text struct {
	Text string
	// Author is the model's name, or who the fallback says wrote it.
	Author string
	Usage  memoryd.Usage
	// LeftOut counts the parts that the budget had no room for.
	LeftOut int
	// Cause is why the fallback was used; nil when it was not.
	Cause error
}

// ErrUnusable is in every error that says that the model answered and nothing of
// the answer could be used.
var ErrUnusable = errors.New("the model's answer is not usable")

// Summarizer makes texts with one model. It is safe for concurrent use.
type Summarizer struct {
	Model memoryd.Model
	// Nonce gives a fresh word for each prompt's markers; nil means a random one.
	Nonce func() string
}

// Do makes one text. Without a fallback it fails with the model's error, with
// ErrUnusable, or with the context's error.
func (s Summarizer) Do(ctx context.Context, r Request) (Text, error) {
	t, err := s.ask(ctx, r)
	if err == nil || r.Fallback == nil || ctx.Err() != nil {
		return t, err
	}
	text, author, ferr := r.Fallback(ctx)
	if ferr != nil {
		return Text{}, errors.Join(err, ferr)
	}
	t.Text, t.Author, t.Cause = text, author, err
	return t, nil
}

func (s Summarizer) ask(ctx context.Context, r Request) (Text, error) {
	prompt, left, err := s.prompt(r)
	if err != nil {
		return Text{}, err
	}
	t := Text{Author: s.Model.Name(), LeftOut: left}
	answer, err := s.Model.Complete(ctx, prompt)
	if err != nil {
		return t, fmt.Errorf("ask %s: %w", s.Model.Name(), err)
	}
	t.Usage = answer.Usage
	if blank(answer.Text) {
		return t, fmt.Errorf("%w: it is blank", ErrUnusable)
	}
	t.Text = answer.Text
	if r.Check == nil {
		return t, nil
	}
	if t.Text, err = r.Check(answer.Text); err != nil {
		return t, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return t, nil
}

// All makes the texts of several requests, at most parallel at a time, and
// returns them in order. The first failure ends the others; its error is
// returned.
func (s Summarizer) All(ctx context.Context, requests []Request, parallel int) ([]Text, error) {
	texts := make([]Text, len(requests))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, parallel))
	for i := range requests {
		g.Go(func() (err error) {
			texts[i], err = s.Do(ctx, requests[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return texts, nil
}

func (s Summarizer) nonce() string {
	if s.Nonce != nil {
		return s.Nonce()
	}
	return rand.Text()
}
