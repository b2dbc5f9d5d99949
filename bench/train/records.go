package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// maker makes results of random words that say nothing of how the call went. There are two
// halves, one to learn from. They share no word, and of the forms that are no structures
// none.
type maker struct {
	random *rand.Rand
	words  []string
	forms  []func(*maker) string
}

// The forms of results that are no structures, by half.
var texts = [2][]func(*maker) string{
	{
		(*maker).word, (*maker).name, (*maker).number, (*maker).pairs, (*maker).commas, (*maker).columns, (*maker).list,
		(*maker).sentence, (*maker).date,
	},
	{
		(*maker).phrase, (*maker).path, (*maker).tabs, (*maker).markdown, (*maker).yaml, (*maker).log, (*maker).assignments,
		(*maker).markup, (*maker).numbered, (*maker).prose,
	},
}

// structures are the forms of structures.
var structures = []func(*maker) any{
	func(m *maker) any { return m.record(0) },
	func(m *maker) any { return m.record(0) },
	func(m *maker) any { return m.record(1) },
	(*maker).records,
	func(m *maker) any { return object{{m.key(), m.records()}, {"total", m.random.IntN(90)}} },
	func(m *maker) any { return object{{"data", m.record(0)}} },
	func(m *maker) any { return object{{m.key(), m.record(0)}, {m.key(), m.record(0)}} },
	func(m *maker) any { return m.some(1, 6, func() any { return m.name() }) },
}

// outcomes begin the words that tell how a call went, or what it gave.
var outcomes = strings.Fields("err fail inval den refus reject declin expir miss unknown wrong bad warn timeout crash abort forbid illegal unable cannot not no never none " +
	"nothing empty dead kill los broke problem trouble issue fault limit exceed block cancel stop status code success exit signal result message response done ok " +
	"complet except insuffic inadequ unavail damag conflict difficul impossib without lack drop deleted removed void null zero interrupt collaps disaster suspend terminat violat")

func newMaker(all []string, half int) *maker {
	m := &maker{random: rand.New(rand.NewPCG(7, uint64(half))), forms: texts[half]} //nolint:gosec // of results
	for i, w := range all {
		if i%2 == half && len(w) > 2 && !phrases.ContainsAny(w, errortext.TroubleWords()) && !errortext.FailureName(w) &&
			!beginsAny(w, outcomes) {
			m.words = append(m.words, w)
		}
	}
	return m
}

// Names of the halves, and how many calls each has.
const (
	records      = "random records"
	recordsAside = "random records, aside"
	plainWords   = "plain words"
	recordCount  = 2000
	amountCount  = 100
)

// readRecords makes both halves.
func readRecords(folder string) ([]*source, error) {
	list, err := os.ReadFile(filepath.Join(folder, "words.txt")) //nolint:gosec // a file of the sources
	if err != nil {
		return nil, err
	}
	sources := []*source{{name: records}, {name: recordsAside, held: true}, {name: plainWords}, {name: "plain words, aside", held: true}}
	for half := range plain {
		m := newMaker(strings.Fields(string(list)), half)
		for range recordCount {
			sources[half].calls = append(sources[half].calls, m.call())
		}
		sources[2+half].calls = m.plainCalls(plain[half], plainBefore[half])
		for range amountCount {
			sources[half].calls = append(sources[half].calls, labelledCall(m.tool(), "ok", m.input(), m.amount()))
		}
	}
	return sources, nil
}

// plainCalls are calls with the plainest outputs: a word that tells of a failure or of a success, alone, behind what
// it is said of, or before it.
func (m *maker) plainCalls(behind, before [2]string) (calls []labelled) {
	for i, label := range []string{"error", "ok"} {
		for range plainTools {
			for word := range strings.FieldsSeq(behind[i]) {
				calls = append(calls, labelledCall(m.tool(), label, m.input(), word),
					labelledCall(m.tool(), label, m.input(), m.title()+" "+strings.ToLower(word)))
			}
			for word := range strings.FieldsSeq(before[i]) {
				calls = append(calls, labelledCall(m.tool(), label, m.input(), word+" "+m.word()+[]string{"", ".", "!"}[m.random.IntN(3)]))
			}
		}
	}
	return calls
}

// plain are outputs of one word, alone and said of something, those that tell of a failure
// first, and how many tools give each.
var plain = [2][2]string{
	{
		"Error ERROR error. Error! Failed FAILED failure Fail Denied Invalid Rejected timeout Aborted Exception",
		"OK ok Done done. Success Saved Accepted Sent Ready Yes true Created Completed",
	},
	{
		"error Failure failed. FAIL Errored Refused Unauthorized Forbidden Unsuccessful Crashed",
		"Okay Stored Updated Finished Confirmed Connected Published Running Enabled 1",
	},
}

// plainBefore are words that tell how it stands with what they are said of, before it.
var plainBefore = [2][2]string{
	{"Wrong Invalid Unknown Missing", "New Next Current Selected"},
	{"Bad Incorrect Unsupported Illegal", "Updated Correct Latest Default"},
}

const plainTools = 18

// call makes a call: half of the results are structures.
func (m *maker) call() labelled {
	c := labelledCall(m.tool(), "ok", m.input(), "")
	if m.random.IntN(2) == 0 {
		c.call.Output = m.forms[m.random.IntN(len(m.forms))](m)
		return c
	}
	value := structures[m.random.IntN(len(structures))](m)
	raw, err := json.Marshal(value)
	if m.random.IntN(4) == 0 {
		raw, err = json.MarshalIndent(value, "", "  ")
	}
	if err != nil {
		panic(err) // texts and numbers
	}
	if c.call.Output = string(raw); m.random.IntN(6) == 0 { // as Python prints it
		c.call.Output = strings.NewReplacer(`"`, "'", "true", "True", "false", "False", "null", "None").Replace(c.call.Output)
	}
	return c
}

// word is a word; the common ones come more often.
func (m *maker) word() string {
	return m.words[min(m.random.IntN(len(m.words)), m.random.IntN(len(m.words)))]
}

func (m *maker) tool() string {
	verb := []string{
		"get", "list", "read", "create", "update", "run", "search", "compute", "send", "check", "fetch",
		"tool",
	}[m.random.IntN(12)]
	switch m.random.IntN(5) {
	case 0:
		return fmt.Sprintf("%s-%d", m.word(), m.random.IntN(20))
	case 1:
		return verb + "_" + m.word()
	case 2:
		return "mcp__" + m.word() + "__" + verb + "_" + m.word()
	case 3:
		return m.word() + "." + verb
	}
	return verb + m.title()
}

func (m *maker) input() map[string]any {
	in := map[string]any{}
	for range m.random.IntN(3) {
		in[m.word()] = m.scalar()
	}
	return in
}

func (m *maker) title() string {
	w := m.word()
	return strings.ToUpper(w[:1]) + w[1:]
}

func (m *maker) key() string {
	switch m.random.IntN(5) {
	case 0:
		return m.word() + "_" + m.word()
	case 1:
		return m.word() + m.title()
	case 2:
		return []string{"id", "name", "type", "count", "text", "value", "url", "title", "created_at", "size"}[m.random.IntN(10)]
	}
	return m.word()
}

// name is what things are called.
func (m *maker) name() string {
	switch m.random.IntN(5) {
	case 0:
		return fmt.Sprintf("%s-%d", m.word(), m.random.IntN(200))
	case 1:
		return m.title() + " " + m.title()
	case 2:
		return fmt.Sprintf("%08x", m.random.Uint32())
	case 3:
		return m.word() + "_" + m.word() + []string{"", ".txt", ".png", "-v2"}[m.random.IntN(4)]
	}
	return m.word()
}

// number has one to nine digits.
func (m *maker) number() string {
	top := int64(10)
	for range m.random.IntN(9) {
		top *= 10
	}
	if n := m.random.Int64N(top); m.random.IntN(4) > 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d.%d", m.random.Int64N(top), m.random.IntN(1000))
}

// amount is a number of three digits, as a status has, that something is said to be.
func (m *maker) amount() string {
	n := 100 + m.random.IntN(900)
	if m.random.IntN(2) == 0 {
		return fmt.Sprintf("%s: %d", m.title(), n)
	}
	return fmt.Sprintf("%d %s", n, m.word())
}

func (m *maker) date() string {
	return fmt.Sprintf("20%02d-%02d-%02d", m.random.IntN(30), 1+m.random.IntN(12), 1+m.random.IntN(28)) +
		[]string{"", "T08:15:00Z", " 17:40"}[m.random.IntN(3)]
}

func (m *maker) scalar() any {
	switch m.random.IntN(12) {
	case 0, 1, 2:
		return json.Number(m.number())
	case 3:
		return ""
	case 4:
		return m.random.IntN(2) == 0
	case 5:
		return nil
	case 6:
		return m.date()
	case 7:
		return m.sentence()
	}
	return m.name()
}

func (m *maker) some(least, most int, one func() any) []any {
	all := []any{}
	for range least + m.random.IntN(most-least) {
		all = append(all, one())
	}
	return all
}

// object is a structure with its members in order.
type object [][2]any

func (o object) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, member := range o {
		value, err := json.Marshal(member[1])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", member[0], value)
	}
	return []byte("{" + b.String() + "}"), nil
}

// record always names something, so that it is not empty.
func (m *maker) record(depth int) object {
	o := object{{m.key(), m.name()}}
	for range m.random.IntN(8) {
		switch {
		case m.random.IntN(10) > 0:
			o = append(o, [2]any{m.key(), m.scalar()})
		case m.random.IntN(2) == 0:
			o = append(o, [2]any{m.key(), m.some(0, 4, m.scalar)})
		case depth > 0:
			o = append(o, [2]any{m.key(), m.record(depth - 1)})
		}
	}
	m.random.Shuffle(len(o), func(i, j int) { o[i], o[j] = o[j], o[i] })
	return o
}

func (m *maker) records() any {
	keys := m.record(0)
	return m.some(1, 5, func() any {
		o := make(object, len(keys))
		for i := range keys {
			o[i] = [2]any{keys[i][0], m.scalar()}
		}
		o[0][1] = m.name()
		return o
	})
}

// lines repeats what makes a line.
func (m *maker) lines(least, most int, line func(i int) string) string {
	var all []string
	for i := range least + m.random.IntN(most-least) {
		all = append(all, line(i))
	}
	return strings.Join(all, "\n")
}

func (m *maker) cells(n int, between string) string {
	cells := make([]string, n)
	for i := range cells {
		cells[i] = []func() string{m.name, m.number, m.word, m.date}[m.random.IntN(4)]()
	}
	return strings.Join(cells, between)
}

func (m *maker) list() string { return m.lines(2, 12, func(int) string { return m.name() }) }

func (m *maker) pairs() string {
	return m.lines(1, 9, func(int) string { return m.title() + ": " + fmt.Sprint(m.name()) })
}

func (m *maker) table(between string) string {
	n := 2 + m.random.IntN(4)
	head := make([]string, n)
	for i := range head {
		head[i] = m.word()
	}
	return strings.Join(head, between) + "\n" + m.lines(1, 9, func(int) string { return m.cells(n, between) })
}

func (m *maker) commas() string  { return m.table(",") }
func (m *maker) columns() string { return m.table("    ") }
func (m *maker) tabs() string    { return m.table("\t") }

func (m *maker) markdown() string {
	head, rows, _ := strings.Cut(m.table(" | "), "\n")
	return "| " + head + " |\n" + strings.Repeat("| --- ", strings.Count(head, "|")+1) + "|\n| " +
		strings.ReplaceAll(rows, "\n", " |\n| ") + " |"
}

func (m *maker) sentence() string {
	words := []string{m.title()}
	for range 2 + m.random.IntN(7) {
		words = append(words, []func() string{m.word, m.word, m.word, m.name, m.number}[m.random.IntN(5)]())
	}
	return strings.Join(words, " ") + []string{"", ".", "."}[m.random.IntN(3)]
}

func (m *maker) phrase() string { return m.word() + " " + m.word() + " " + m.name() }

func (m *maker) path() string {
	return m.lines(1, 6, func(int) string { return "/" + m.word() + "/" + m.word() + "/" + m.name() })
}

func (m *maker) yaml() string {
	return m.word() + ":\n" + m.lines(1, 7, func(int) string { return "  " + m.word() + ": " + m.name() })
}

func (m *maker) log() string {
	return m.lines(1, 7, func(i int) string {
		return fmt.Sprintf("2025-03-04T10:%02d:%02dZ INFO %s: %s", i, m.random.IntN(60), m.word(), m.phrase())
	})
}

func (m *maker) assignments() string {
	return m.lines(1, 8, func(int) string { return strings.ToUpper(m.word()) + "=" + m.name() })
}

func (m *maker) markup() string {
	tag := m.word()
	return "<" + tag + ">" + m.lines(1, 5, func(int) string { w := m.word(); return "<" + w + ">" + m.name() + "</" + w + ">" }) + "</" +
		tag + ">"
}

func (m *maker) numbered() string {
	return m.lines(2, 8, func(i int) string { return fmt.Sprintf("%d. %s", i+1, m.phrase()) })
}

func (m *maker) prose() string {
	return m.lines(1, 4, func(int) string { return m.sentence() + " " + m.sentence() })
}
