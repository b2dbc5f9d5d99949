package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memoryd/guidelines/mistakes"
	"memoryd/integrations/transcripts"
	"memoryd/internal/stats"
)

// report is what learn says: what was read, and each mistake, those that cost most first.
type report struct {
	Server    string    `json:"server"`
	Workspace string    `json:"workspace"`
	Written   time.Time `json:"written"`
	Files     struct {
		Read      int `json:"read"`
		Unchanged int `json:"unchanged"`
		Other     int `json:"other"` // of no known format
	} `json:"files"`
	Calls struct {
		Found      int `json:"found"`
		Added      int `json:"added"`
		Known      int `json:"known"`
		Rejected   int `json:"rejected"`
		Unfinished int `json:"unfinished"` // without a result
		Cancelled  int `json:"cancelled"`  // stopped by a person
		Pending    int `json:"pending"`    // not judged when the report was written
	} `json:"calls"`
	Formats map[string]int `json:"formats"` // files of each
	Broken  int            `json:"broken"`  // lines and parts that could not be read
	Faults  []string       `json:"faults,omitempty"`
	Why     string         `json:"why_rejected,omitempty"` // of the first call that could not be recorded

	Headline string `json:"headline"`
	// Compared says what changed since the last time; "" the first time.
	Compared string `json:"since_last_time,omitempty"`
	// Judged and Failed count calls, Sessions runs of agents, FailedIn those with a
	// failed call.
	Judged   int       `json:"judged"`
	Failed   int       `json:"failed"`
	Sessions int       `json:"sessions"`
	FailedIn int       `json:"sessions_with_failures"`
	First    time.Time `json:"first,omitzero"`
	Last     time.Time `json:"last,omitzero"`
	// Mistakes are all of them; what stands in them of tools is foreign text.
	Mistakes  []mistake     `json:"mistakes"`
	Tools     []learnedTool `json:"tools"`
	Proposals []string      `json:"proposals"`

	merger mistakes.Merger
	runs   map[uint64]bool
	failed map[uint64]bool
	tools  map[string][2]int
	empty  int
}

// mistake is a mistake with what changed since the last time.
type mistake struct {
	mistakes.Mistake

	// More are the failed calls since the last time; New says that there were none before.
	More int  `json:"since_last_time"`
	New  bool `json:"new,omitempty"`
}

// learnedTool counts the calls of a tool.
type learnedTool struct {
	Tool   string `json:"tool"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed"`
}

// maxReportFaults bounds the faults that are told, maxEmpty the files without calls.
const (
	maxReportFaults = 20
	maxEmpty        = 5
)

func (r *report) found(path string, s transcripts.Stats) {
	r.Files.Read++
	r.count(s)
	if note := empty(path, s); note != "" {
		if r.empty++; r.empty <= maxEmpty {
			r.fault(note)
		}
	}
}

func (r *report) unchanged(s transcripts.Stats) {
	if s.Format == "" && s.Calls == 0 {
		r.Files.Other++
		return
	}
	r.Files.Unchanged++
	r.count(s)
	r.Calls.Known += s.Calls
}

func (r *report) count(s transcripts.Stats) {
	if r.Formats == nil {
		r.Formats = map[string]int{}
	}
	if s.Format != "" {
		r.Formats[s.Format]++
	}
	r.Broken += s.Broken
	r.Calls.Found += s.Calls
	r.Calls.Unfinished += s.Unfinished
	r.Calls.Cancelled += s.Cancelled
}

func (r *report) fault(text string) {
	if len(r.Faults) < maxReportFaults {
		r.Faults = append(r.Faults, onTerminal(text, 600))
	}
}

// take adds what a file shows.
func (r *report) take(f *learnedFile) {
	if r.runs == nil {
		r.runs, r.failed, r.tools = map[uint64]bool{}, map[uint64]bool{}, map[string][2]int{}
	}
	for _, id := range f.Runs {
		r.runs[id] = true
	}
	for name, n := range f.Tools {
		of := r.tools[name]
		r.tools[name] = [2]int{of[0] + n[0], of[1] + n[1]}
	}
	r.Judged += f.Judged
	r.First, r.Last = spanning(r.First, r.Last, f.First, f.Last)
	for i := range f.Failures {
		r.failed[f.Failures[i].Run] = true
		r.merger.Add(f.Path, &f.Failures[i])
	}
}

// spanning is from when to when two times of a run last; a zero time is unknown.
func spanning(first, last, begun, ended time.Time) (time.Time, time.Time) {
	if ended.After(last) {
		last = ended
	}
	return stats.Earlier(first, begun), last
}

// sum draws the conclusions.
func (r *report) sum() {
	for _, m := range r.merger.Mistakes() {
		r.Failed += m.Calls
		r.Mistakes = append(r.Mistakes, mistake{Mistake: m})
	}
	if r.Mistakes == nil {
		r.Mistakes = []mistake{}
	}
	r.Sessions, r.FailedIn = len(r.runs), len(r.failed)
	for name, n := range r.tools {
		r.Tools = append(r.Tools, learnedTool{onTerminal(name, 200), n[0], n[1]})
	}
	slices.SortFunc(r.Tools, func(a, b learnedTool) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Tool, b.Tool))
	})
	r.Headline = r.headline()
}

// headline says in a sentence what agents get wrong.
func (r *report) headline() string {
	when := "Your"
	if p := period(r.First, r.Last); p != "" {
		when = "In " + p + " your"
	}
	if r.Failed == 0 {
		return fmt.Sprintf("%s agents made %s, and none failed.", when, counted(r.Judged, "call"))
	}
	s := fmt.Sprintf("%s agents made %s in %d of %s", when, counted(r.Failed, "failing call"), r.FailedIn, counted(r.Sessions, "session"))
	sizes := make([]int, len(r.Mistakes))
	for i := range r.Mistakes {
		sizes[i] = r.Mistakes[i].Calls
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	half, n := 0, 0
	for ; 2*half < r.Failed; n++ {
		half += sizes[n]
	}
	switch {
	case len(sizes) == 1:
		return s + "; all of one kind."
	case n == 1:
		return s + "; one mistake is half of them."
	case 2*n >= len(sizes):
		return fmt.Sprintf("%s, of %s.", s, counted(len(sizes), "kind"))
	}
	return fmt.Sprintf("%s; %s mistakes are half of them.", s, numeral(n))
}

func numeral(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// period says in words how long it was from one time to another; "" where that is
// unknown.
func period(from, to time.Time) string {
	days := int(to.Sub(from).Hours()/24 + 0.5)
	switch {
	case from.IsZero():
		return ""
	case days < 2:
		return "a day"
	case days < 14:
		return fmt.Sprintf("%d days", days)
	case days < 70:
		return fmt.Sprintf("%d weeks", (days+3)/7)
	}
	return fmt.Sprintf("%d months", (days+15)/30)
}

// since compares with the last time.
func (r *report) since(last *lastTime) {
	for i := range r.Mistakes {
		m := &r.Mistakes[i]
		before := last.Mistakes[m.ID]
		m.More, m.New = m.Calls-before, before == 0 && !last.At.IsZero()
	}
	if last.At.IsZero() {
		return
	}
	day, more, bad := last.At.Local().Format("2 Jan 2006"), r.Judged-last.Judged, r.Failed-last.Failed
	if more <= 0 || last.Judged == 0 {
		r.Compared = fmt.Sprintf("No more calls since %s.", day)
		return
	}
	r.Compared = fmt.Sprintf("Since %s: %s, of which %d failed (%s; before that %s).", day, counted(more, "more call"),
		max(bad, 0), percent(bad, more), percent(last.Failed, last.Judged))
}

func percent(k, n int) string {
	return fmt.Sprintf("%.0f %%", 100*float64(max(k, 0))/float64(max(n, 1)))
}

// Summary says in one sentence what was read.
func (r *report) Summary() string {
	parts := []string{fmt.Sprintf("%s in %s: %d new, %d known already", counted(r.Calls.Found, "tool call"),
		counted(r.Files.Read+r.Files.Unchanged, "file"), r.Calls.Added, r.Calls.Known)}
	for _, more := range []struct {
		n    int
		what string
	}{
		{r.Calls.Cancelled, "stopped by a person"},
		{r.Calls.Unfinished, "without a result"},
		{r.Calls.Rejected, "that could not be recorded"},
		{r.Calls.Pending, "that wait for the judge"},
	} {
		if more.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", more.n, more.what))
		}
	}
	s := strings.Join(parts, ", ")
	if r.Files.Other > 0 {
		s += fmt.Sprintf("; %s of no known format", counted(r.Files.Other, "file"))
	}
	if r.empty > 0 {
		s += fmt.Sprintf("; %s without a call", counted(r.empty, "file"))
	}
	if r.Broken > 0 {
		s += fmt.Sprintf("; %s could not be read", counted(r.Broken, "line"))
	}
	if r.Why != "" {
		s += "; the first that could not be recorded: " + r.Why
	}
	return s + "."
}

// Recorder names the server that recorded the calls.
func (r *report) Recorder() string {
	if dir, ok := strings.CutPrefix(r.Server, "store:"); ok {
		return "the server of " + onTerminal(dir, 300)
	} else if r.Server == "local" {
		return "your local server"
	}
	return onTerminal(r.Server, 300)
}

// counted is a number of things, as a sentence has it.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Times says how often the mistake happened, and what it cost.
func (m *mistake) Times() string {
	s := counted(m.Calls, "failed call") + " in " + counted(m.Runs, "session")
	if m.Turns > 0 {
		s += ", " + counted(m.Turns, "turn")
	}
	if m.Cost >= 1 {
		s += ", " + lost(m.Cost)
	}
	switch {
	case m.New:
		s += "; new"
	case m.More > 0 && m.More < m.Calls:
		s += fmt.Sprintf("; %d since the last time", m.More)
	}
	return s
}

// Message is the tool's message.
func (m *mistake) Message() string {
	return cmp.Or(m.Said, "(it failed without an error message)")
}

// Fixed says what fixed it, and how strong the evidence is.
func (m *mistake) Fixed() string {
	f := m.Fix
	switch {
	case f == nil:
		return "No good call of the tool followed within six calls."
	case f.Kind == mistakes.Unlike:
		return fmt.Sprintf("%s (%s).", sentence(f.Says), counted(f.Runs, "session"))
	case f.Proven():
		return fmt.Sprintf("%s: %d of the %s that went on to a good call, in %s.", sentence(f.Says), f.Calls,
			counted(f.Of, "case"), counted(f.Runs, "session"))
	}
	return sentence(f.Says) + ": seen in one session."
}

// FixedParts returns Fixed in parts; every second part is code.
func (m *mistake) FixedParts() []string { return strings.Split(m.Fixed(), "`") }

// Odd reports whether a part of a text is code.
func (m *mistake) Odd(i int) bool { return i%2 == 1 }

// Seen returns the places of a mistake, as links.
func (m *mistake) Seen() (links []link) {
	for _, p := range m.Where {
		links = append(links, linkTo(p))
	}
	return links
}

// link is a place in a file, for people and for browsers.
type link struct {
	Text string
	URL  template.URL
}

func linkTo(p mistakes.Place) link {
	path, text := p.File, shown(p.File)
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		if rest, below := strings.CutPrefix(path, home+string(filepath.Separator)); below {
			text = onTerminal("~/"+filepath.ToSlash(rest), 300)
		}
	}
	if p.Line > 0 {
		text += fmt.Sprintf(":%d", p.Line)
	}
	if strings.HasPrefix(filepath.Base(path), stdinFile) {
		return link{Text: text} // there is no such file to open
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return link{text, template.URL(u.String())} //nolint:gosec // a path that was read, escaped
}

func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(r)) + s[n:]
}

func lost(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 2*time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	if d < 2*time.Hour {
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// width is that of a terminal.
const width = 80

// text prints the report for a terminal.
func (r *report) text(w io.Writer, top int) error {
	var b strings.Builder
	fold(&b, "", "", r.Headline)
	if r.Compared != "" {
		fold(&b, "", "", r.Compared)
	}
	shown := r.Mistakes
	if top > 0 {
		shown = shown[:min(top, len(shown))]
	}
	for i := range shown {
		m := &shown[i]
		b.WriteByte('\n')
		fold(&b, fmt.Sprintf("%d. ", i+1), "   ", m.Tool+": "+m.Times())
		fold(&b, "   called    ", "             ", m.Did)
		fold(&b, "   answered  | ", "             | ", m.Message())
		fold(&b, "   fixed by  ", "             ", m.Fixed())
		if f := m.Fix; f != nil && f.Good != "" && f.Kind != mistakes.ByTime {
			fold(&b, "     failed  ", "             ", f.Bad)
			fold(&b, "     worked  ", "             ", f.Good)
		}
		for _, l := range m.Seen() {
			fmt.Fprintf(&b, "   see       %s\n", l.Text)
		}
	}
	b.WriteByte('\n')
	if more := len(r.Mistakes) - len(shown); more > 0 {
		fold(&b, "", "", fmt.Sprintf("%s more: --top 0 shows all, --html FILE writes a page to share.", counted(more, "mistake")))
	}
	if n := len(r.Proposals); n > 0 {
		fold(&b, "", "", fmt.Sprintf("%s for AGENTS.md: --propose shows the patch, --apply writes it.", counted(n, "line")))
	}
	fold(&b, "", "", r.Summary())
	for _, f := range r.Faults {
		fold(&b, "  ", "    ", f)
	}
	fold(&b, "", "", fmt.Sprintf("Recorded by %s, workspace %s. Your agents get advice from it.", r.Recorder(), r.Workspace))
	_, err := io.WriteString(w, b.String())
	return err
}

// fold writes text on lines of at most width characters, as far as its words allow; a
// word that is longer than a line is cut into several.
func fold(b *strings.Builder, first, rest, text string) {
	line, n := first, utf8.RuneCountInString(first)
	empty := true
	flush := func() {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		line, n, empty = rest, utf8.RuneCountInString(rest), true
	}
	for word := range strings.FieldsSeq(text) {
		runes := []rune(word)
		if !empty && n+1+len(runes) > width {
			flush()
		}
		if !empty {
			line, n = line+" ", n+1
		}
		for len(runes) > width-n {
			line += string(runes[:width-n])
			runes = runes[width-n:]
			flush()
		}
		line, n, empty = line+string(runes), n+len(runes), false
	}
	flush()
}

//go:embed learn.html
var learnPage string

// html writes the report as a page of its own.
func (r *report) html(w io.Writer) error {
	return template.Must(template.New("learn").Parse(learnPage)).Execute(w, r)
}
