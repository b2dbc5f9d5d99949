package guidelines

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"memoryd/llm/summarize"

	"memoryd/internal/textsafe"
)

// Reason says why a statement of a model was dropped.
type Reason string

// The reasons.
const (
	DroppedHidden     Reason = "hidden_text"       // invisible characters
	DroppedAddress    Reason = "address"           // a link, a host, an e-mail address
	DroppedSecret     Reason = "secret"            // a key, a token, a password
	DroppedSteering   Reason = "steering"          // it reads like an order to the agent
	DroppedPath       Reason = "path"              // a file path that the evidence does not know
	DroppedMarkup     Reason = "markup"            // HTML, images or code
	DroppedNumber     Reason = "ungrounded_number" // a number that the evidence does not know
	DroppedQuote      Reason = "ungrounded_quote"  // a quoted text that the data does not hold
	DroppedLength     Reason = "too_long"          // the statement, or the guideline before it
	DroppedParameter  Reason = "unknown_parameter" // a name in backticks that is no parameter
	DroppedDuplicate  Reason = "duplicate"         // it stands there already
	DroppedNoContent  Reason = "no_content"        // nothing but marks
	DroppedNoSections Reason = "no_sections"       // none of the four headings
	DroppedEvidence   Reason = "unknown_evidence"  // it cites evidence that there is not, or that was not shown
)

// Review counts what became of a model's answer.
type Review struct {
	Kept    int
	Dropped map[Reason]int
}

// reviewer holds a model's statements to the evidence.
type reviewer struct {
	draft    draft
	facts    grounds
	maxWords int
	author   string
	// known are the ids of the evidence that the model was shown.
	known map[string]bool
	clues []clue
	// kept is what passed of the last answer.
	kept draft
}

func newReviewer(f *findings, d draft, parts []summarize.Part, maxWords int) *reviewer {
	r := &reviewer{draft: d, facts: groundsOf(f, d, parts), maxWords: maxWords, clues: cluesOf(f), known: map[string]bool{}}
	for _, id := range []string{parametersGround, outputGround, statisticsGround, retriesGround} {
		r.known[id] = true
	}
	for _, p := range parts {
		if item, ok := p.Data.(map[string]any); ok && p.Label == "evidence" {
			if id, ok := item["id"].(string); ok {
				r.known[id] = true
			}
		}
	}
	return r
}

// review keeps the statements of answer that pass. A section that is left empty
// is filled with the draft's; an answer of which nothing is left is refused.
func (r *reviewer) review(answer string) (string, Review, error) {
	review := Review{Dropped: map[Reason]int{}}
	sections, found := statementsOf(answer)
	if found == 0 {
		review.Dropped[DroppedNoSections]++
		return "", review, errors.New("it has none of the four sections")
	}
	out := draft{}
	seen, cites := map[string]bool{}, map[string]int{}
	for _, name := range sectionNames() {
		for rank, text := range sections[name] {
			kept, ids := r.statement(text, &review)
			if kept == "" {
				continue
			}
			if seen[kept] {
				review.Dropped[DroppedDuplicate]++
				continue
			}
			seen[kept] = true
			about := name + strings.Join(ids, " ")
			cites[about]++
			out[name] = append(out[name], statement{
				text: kept, rank: rank, author: r.author, slot: "said " + strconv.Itoa(cites[about]), evidence: ids, value: r.value(name, ids),
			})
		}
	}
	for _, s := range out {
		review.Kept += len(s)
	}
	if review.Kept == 0 {
		return "", review, fmt.Errorf("none of its statements stood the checks (%v)", review.Dropped)
	}
	for _, name := range sectionNames() {
		if len(out[name]) == 0 {
			out[name] = r.draft[name]
		}
	}
	r.kept = out
	return out.render(r.maxWords), review, nil
}

// value is that of the draft's statements on the same evidence.
func (r *reviewer) value(section string, ids []string) float64 {
	most := 0.0
	for _, s := range r.draft[section] {
		if slices.ContainsFunc(s.evidence, func(id string) bool { return slices.Contains(ids, id) }) {
			most = max(most, s.value)
		}
	}
	return most
}

// statement is what passes of one line, the sentences of it that do, and the ids
// of the evidence that it rests on.
func (r *reviewer) statement(text string, review *Review) (string, []string) {
	if textsafe.HasHidden(text) {
		review.Dropped[DroppedHidden]++
		return "", nil
	}
	text, ids := cited(text)
	if slices.ContainsFunc(ids, func(id string) bool { return !r.known[id] }) {
		review.Dropped[DroppedEvidence]++
		return "", nil
	}
	text = strings.NewReplacer("**", "", "```", "").Replace(textsafe.Visible(text))
	text = strings.TrimLeft(text, "#>| ") // marks that would start a block of their own
	if wordCount(text) == 0 {
		review.Dropped[DroppedNoContent]++
		return "", nil
	}
	if reason := forbidden(text); reason != "" {
		review.Dropped[reason]++ // a sentence cut out of it could hide what it belongs to
		return "", nil
	}
	var kept []string
	for _, s := range sentences(text) {
		if reason := r.facts.refuse(s); reason != "" {
			review.Dropped[reason]++
			continue
		}
		kept = append(kept, s)
	}
	text = strings.Join(kept, " ")
	if len(ids) == 0 {
		ids = attribute(text, r.clues)
	}
	return text, ids
}

// forbidden tells what no guideline may hold, whatever the evidence.
func forbidden(text string) Reason {
	switch _, bad := textsafe.Steers(text); {
	case utf8.RuneCountInString(text) > maxStatement:
		return DroppedLength
	case bad:
		return DroppedSteering
	case strings.Contains(text, "://"), textsafe.HasAddress(text), textsafe.HasAddress(textsafe.Fold(text)):
		return DroppedAddress
	case textsafe.MaskStrict(text) != text:
		return DroppedSecret
	case strings.Contains(text, "](") || strings.Contains(text, "![") || markup.MatchString(text):
		return DroppedMarkup
	}
	return ""
}
