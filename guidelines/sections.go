package guidelines

import (
	"regexp"
	"strings"
)

// heading matches a line that a model may mean as the heading of one of the four
// sections: any number of marks around the name, a number before it, a colon
// after it and, on the same line, the first words of the section.
var heading = regexp.MustCompile(`(?i)^[\s#>*_\-]*(?:\d+[.)]\s*)?[*_]*(core functions?|core functionality|success patterns?|common issues?|common pitfalls|best practices?)[*_]*\s*(?::[*_]*\s*(.*)|[*_]*)$`)

// otherHeading matches any other Markdown heading.
var otherHeading = regexp.MustCompile(`^\s*#{1,6}\s`)

// itemStart matches the mark before a list item.
var itemStart = regexp.MustCompile(`^\s*(?:[-*+•]|\d{1,2}[.)])(?:\s+|$)`)

// parseSections cuts a model's answer into the statements of the four sections.
// Text under another heading, such as statistics of the model's own, is left
// out; found counts the sections whose heading was there.
func parseSections(answer string) (sections map[string][]string, found int) {
	sections = map[string][]string{}
	seen := map[string]bool{}
	current := ""
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			current = sectionOf(m[1])
			if !seen[current] {
				seen[current] = true
				found++
			}
			line = m[2]
		} else if otherHeading.MatchString(line) || strings.HasPrefix(line, "```") {
			if otherHeading.MatchString(line) {
				current = ""
			}
			continue
		}
		line = itemStart.ReplaceAllString(line, "")
		if current == "" || line == "" {
			continue
		}
		sections[current] = append(sections[current], line)
	}
	return sections, found
}

func sectionOf(name string) string {
	switch strings.ToLower(name)[:2] {
	case "su":
		return successPatterns
	case "be":
		return bestPractices
	}
	if strings.HasPrefix(strings.ToLower(name), "core") {
		return coreFunction
	}
	return commonIssues
}

// sentenceEnd is a full stop, a question or an exclamation mark before a blank
// and a capital letter, a quotation mark or a backtick.
var sentenceEnd = regexp.MustCompile("[.!?][)\"'`]?\\s+[A-Z`\"]")

// sentences cuts a statement where a sentence ends, but not within a quotation.
func sentences(text string) []string {
	var parts []string
	start := 0
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		end := at[1] - 1
		before := strings.TrimSpace(text[start:end])
		if strings.Count(before, `"`)%2 == 1 || strings.Count(before, "`")%2 == 1 {
			continue
		}
		parts = append(parts, before)
		start = end
	}
	return append(parts, strings.TrimSpace(text[start:]))
}
