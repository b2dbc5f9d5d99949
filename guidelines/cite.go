package guidelines

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"memoryd/guidelines/evidence"
)

// citation is ids of evidence in square brackets, as the prompt asks for them.
var citation = regexp.MustCompile(`\s*\[\s*(` + evidenceID + `(?:[\s,;]+` + evidenceID + `)*)\s*\]`)

const evidenceID = `(?:[a-z]{3,12}-[0-9a-zA-Z]{4,40}|parameters|output|statistics|retries)`

// cited takes the citations out of a statement.
func cited(text string) (rest string, ids []string) {
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		for _, id := range strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(" \t,;", r) }) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return text, nil
	}
	slices.Sort(ids)
	return strings.TrimSpace(citation.ReplaceAllString(text, "")), ids
}

// clue is what gives away that a statement rests on a ground.
type clue struct {
	id string
	// any of strong by itself, or two of weak, tell.
	strong, weak []string
}

// cluesOf lists the clues of every ground, in flattened form.
func cluesOf(f *findings) []clue {
	var cs []clue
	condition := func(c *evidence.Condition) {
		k := clue{id: c.ID, strong: []string{ofN(c.WithBad, c.With), ofN(c.With-c.WithBad, c.With), ofN(c.Without-c.WithoutBad, c.Without)}}
		for _, fact := range slices.Concat(c.Facts, c.Contrast) {
			if fact.Path != "" {
				k.weak = append(k.weak, flat(lastName(fact.Path)))
			}
			if fact.Value != "" {
				k.weak = append(k.weak, flat(fact.Value))
			} else {
				k.weak = append(k.weak, number(fact.Number))
			}
		}
		cs = append(cs, k)
	}
	e := &f.evidence
	for i := range e.Conditions {
		condition(&e.Conditions[i])
	}
	for i := range e.Errors {
		if q, ok := quotable(e.Errors[i].Template, messageLimit); ok {
			cs = append(cs, clue{id: e.Errors[i].ID, strong: []string{flat(strings.TrimRight(q, " ."))}})
		}
		if e.Errors[i].When != nil {
			condition(e.Errors[i].When)
		}
	}
	for _, c := range e.Costs {
		cs = append(cs, clue{id: c.ID, strong: []string{flat(amount(c.Resource, c.MedianWith)), flat(amount(c.Resource, c.MedianWithout))}})
	}
	for _, o := range e.Outliers {
		cs = append(cs, clue{id: o.ID, strong: []string{flat(between(o))}})
	}
	for _, r := range e.Recoveries {
		cs = append(cs, clue{id: r.ID, strong: []string{ofN(r.Succeeded, r.Tries) + " times"}})
	}
	all := clue{id: parametersGround, strong: []string{flat(f.tool.Tool)}}
	for _, p := range e.Parameters {
		all.strong = append(all.strong, flat(lastName(p.Path)))
	}
	stats := clue{id: statisticsGround, strong: []string{ofN(e.Good, e.Judged), ofN(e.Failed, e.Judged), ofN(e.Partial, e.Judged), "success rate", "average"}}
	return append(cs, all, stats)
}

// lastName is the last member of a path.
func lastName(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	if len(parts) == 0 {
		return path
	}
	return parts[len(parts)-1]
}

// attribute finds the grounds that an uncited statement rests on.
func attribute(text string, clues []clue) []string {
	text = " " + flat(text) + " "
	has := func(s string) bool { return s != "" && (&grounds{text: text}).said(s) }
	var ids []string
	for _, c := range clues {
		weak := map[string]bool{}
		for _, w := range c.weak {
			if has(w) {
				weak[w] = true
			}
		}
		if (len(weak) > 1 || slices.ContainsFunc(c.strong, has)) && !slices.Contains(ids, c.id) {
			ids = append(ids, c.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// statementsOf reads an answer: JSON as the schema asks for it, or Markdown with
// the four headings. Each statement stands under its section.
func statementsOf(answer string) (sections map[string][]string, found int) {
	trimmed := strings.TrimSpace(answer)
	trimmed = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(trimmed, "```json"), "```"), "```"))
	if !strings.HasPrefix(trimmed, "{") {
		return parseSections(answer)
	}
	var doc struct {
		Items []struct {
			Section  string   `json:"section"`
			Text     string   `json:"text"`
			Evidence []string `json:"evidence"`
		} `json:"items"`
	}
	if json.Unmarshal([]byte(trimmed), &doc) != nil {
		return nil, 0
	}
	sections = map[string][]string{}
	for _, it := range doc.Items {
		m := heading.FindStringSubmatch(it.Section)
		if m == nil {
			continue // a section that is not of the four
		}
		name := sectionOf(m[1])
		if len(sections[name]) == 0 {
			found++
		}
		text := strings.Join(strings.Fields(it.Text), " ")
		if len(it.Evidence) > 0 {
			text += " [" + strings.Join(it.Evidence, ", ") + "]"
		}
		sections[name] = append(sections[name], text)
	}
	return sections, found
}
