package compact_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memoryd/compact"
	"memoryd/compact/chat"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	seed = flag.Uint64("seed", 7, "of what TestAReaderFindsWhatWasPlanted plants")
	most = flag.Int("most", 4, "recorded conversations of a source that it plants into; ten times as many are looked at for later arguments")
)

// said is what people and the assistant say of a thing and a number, in six languages.
var said = map[string]map[string]string{
	"constraint": {
		"en": "Whatever happens, never let %s go above %s.", "de": "Was auch passiert, %s darf nie über %s steigen.", "es": "Pase lo que pase, %s no debe superar %s.",
		"fr": "Quoi qu'il arrive, %s ne doit jamais dépasser %s.", "ja": "何があっても%sは%sを超えないでください。", "zh": "无论如何，%s都不能超过%s。",
	},
	"note": {
		"en": "Just so you know, %s is kept under number %s.", "de": "Nur zur Information: %s läuft unter der Nummer %s.", "es": "Para que lo sepas, %s tiene el número %s.",
		"fr": "Pour information, %s porte le numéro %s.", "ja": "参考までに、%sの番号は%sです。", "zh": "顺便告诉你，%s的编号是%s。",
	},
	"decision": {
		"en": "I choose %s at %s.", "de": "Ich nehme %s für %s.", "es": "Elijo %s por %s.", "fr": "Je choisis %s à %s.", "ja": "%sを%sでお願いします。", "zh": "我选%s，%s。",
	},
	"finding": {
		"en": "It turns out that %s breaks whenever %s is set.", "de": "Es zeigt sich: %s bricht, sobald %s gesetzt ist.", "es": "Resulta que %s falla cuando está %s.",
		"fr": "En fait, %s casse dès que %s est activé.", "ja": "%sは%sのとき壊れることが分かりました。", "zh": "结果是%s在%s时出错。",
	},
}

var languages = []string{"en", "de", "es", "fr", "ja", "zh"}

// plant is something that a reader must still find: its words near each other, or two
// values with their own owners.
type plant struct {
	kind, lang string
	together   []string
	owners     []string // an owner and its value, another and its value
}

// planter makes plants of random words and numbers.
type planter struct{ *rand.Rand }

func (r planter) thing() string {
	syllables := strings.Fields("pa ko lu mi ne ro su ta vi wo bre fin gar hul")
	var b strings.Builder
	for range 3 {
		b.WriteString(syllables[r.IntN(len(syllables))])
	}
	return fmt.Sprintf("%s-%d", b.String(), 10+r.IntN(90))
}

func (r planter) exchange(name string, args obj, out string) []jsontext.Value {
	return asks(fmt.Sprintf("plant_%d", r.Uint32()), name, string(raw(args)), out)
}

func (r planter) plant(kind, lang string) ([]jsontext.Value, plant) {
	a, n := r.thing(), strconv.Itoa(1000+r.IntN(9000))
	p := plant{kind, lang, []string{a, n}, nil}
	switch kind {
	case "finding":
		return []jsontext.Value{says(fmt.Sprintf(said[kind][lang], a, n))}, p
	case "decision":
		return []jsontext.Value{says(fmt.Sprintf("There is %s, or %s.", r.thing(), a)), user(fmt.Sprintf(said[kind][lang], a, n)), says("All right.")}, p
	case "constraint", "note":
		return []jsontext.Value{user(fmt.Sprintf(said[kind][lang], a, n)), says("All right.")}, p
	case "deed":
		return r.exchange([]string{"set_value", "reserve", "save_file", "pay"}[r.IntN(4)], obj{"name": a, "value": n}, string(raw(obj{"done": true, "receipt": "Q" + n, "name": a}))), p
	case "refusal":
		return r.exchange("set_value", obj{"name": a}, fmt.Sprintf("Failed: %s needs approval %s", a, n)), p
	case "owners":
		b, x, y := r.thing(), r.thing(), r.thing()
		p.together, p.owners = nil, []string{a, x, b, y}
		return r.exchange("list_accounts", obj{"page": 2}, string(raw([]obj{{"holder": a, "tier": "gold", "seat": x}, {"holder": b, "tier": "gold", "seat": y}}))), p
	case "needle":
		var log []string
		at := 50 + r.IntN(150)
		for i := range 250 {
			if i == at {
				log = append(log, fmt.Sprintf("2031-05-02 08:%02d:07 CRITICAL volume %s vanished, status %s", i%60, a, n))
			}
			log = append(log, fmt.Sprintf("2031-05-02 08:%02d:%02d DEBUG node %d served item %d after %d ms", i/60, i%60, i%9, i, i%50))
		}
		return r.exchange("read_log", obj{"path": "node.log"}, strings.Join(log, "\n")), p
	}
	run := func(bad string) []jsontext.Value {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "suite/case_%d ... ok\n", i)
		}
		return r.exchange("run_checks", obj{}, fmt.Sprintf("%ssuite/case_%s ... BROKEN\n60 ok, 1 broken", b.String(), bad))
	}
	p.together = []string{a, "BROKEN"}
	return slices.Concat(run(r.thing()), r.exchange("save_file", obj{"path": "lib/" + r.thing()}, "saved"), run(a)), p
}

// near reports whether all words stand within 200 bytes of the first.
func near(text string, words []string) bool {
	for at := 0; ; at++ {
		i := strings.Index(text[at:], words[0])
		if i < 0 {
			return false
		}
		at += i
		around := text[max(0, at-200):min(len(text), at+len(words[0])+200)]
		if !slices.ContainsFunc(words[1:], func(w string) bool { return !strings.Contains(around, w) }) {
			return true
		}
	}
}

// misattributed reports a line in which the nearest owner before a value is the other.
func misattributed(text string, o []string) bool {
	for l := range strings.SplitSeq(text, "\n") {
		for _, k := range [][3]string{{o[1], o[0], o[2]}, {o[3], o[2], o[0]}} {
			if i := strings.Index(l, k[0]); i >= 0 && strings.LastIndex(l[:i], k[2]) > strings.LastIndex(l[:i], k[1]) {
				return true
			}
		}
	}
	return false
}

// gaps are the places in the first two thirds where a message tears no call from its result.
func gaps(t testing.TB, ms []jsontext.Value) (places []int) {
	open := map[string]bool{}
	for i, v := range ms[:len(ms)*2/3] {
		m, err := chat.Parse(v)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && len(open) == 0 && (m.Kind == chat.User || m.Kind == chat.Assistant) {
			places = append(places, i)
		}
		for _, c := range m.Calls {
			open[c.ID] = true
		}
		for _, r := range m.Results {
			delete(open, r.ID)
		}
	}
	return places
}

// bases are conversations that plants go into: recorded ones where there are some, at most
// -most a source, else made-up ones.
func bases(t testing.TB, r *rand.Rand) map[string][][]jsontext.Value {
	by := map[string][][]jsontext.Value{}
	if os.Getenv("MEMORYD_TEST_DATA") == "" {
		for n := range 4 {
			by["made-up"] = append(by["made-up"], talkOf(60+30*n), filesOf(4000+4000*n))
		}
		return by
	}
	all := recordings(t)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, c := range all {
		if ms := c.Messages; len(by[c.File]) < *most && len(ms) >= 8 && len(ms) <= 400 {
			by[c.File] = append(by[c.File], ms)
		}
	}
	return by
}

var sentence = regexp.MustCompile(`[^.!?。！？\n]+[.!?。！？]`)

// readers counts what is found of what was planted, by size, source and kind.
type readers struct {
	found, of map[[3]string]int
}

func (c *readers) note(size, source, kind string, found bool) {
	for _, s := range []string{source, "all"} {
		c.of[[3]string{size, s, kind}]++
		if found {
			c.found[[3]string{size, s, kind}]++
		}
	}
}

// TestAReaderFindsWhatWasPlanted plants what people said, what was done and what tools gave
// into conversations, makes them smaller and looks for it. The bars stand below what seeds
// gave that nothing was chosen on.
func TestAReaderFindsWhatWasPlanted(t *testing.T) {
	bars := map[string]float64{"constraint": 0.95, "note": 0.95, "decision": 0.95, "finding": 0.85, "deed": 0.95, "refusal": 0.9, "needle": 0.95, "checks": 0.95, "sentences": 0.9, "rounds": 0.85}
	if os.Getenv("MEMORYD_TEST_DATA") != "" { // short ones among them: a fifth of them holds less than was planted
		maps.Copy(bars, map[string]float64{"constraint": 0.9, "note": 0.85, "decision": 0.9, "finding": 0.7, "refusal": 0.85, "needle": 0.9})
	}
	r := planter{rand.New(rand.NewPCG(34, *seed))}
	c := readers{map[[3]string]int{}, map[[3]string]int{}}
	by := bases(t, r.Rand)
	for _, source := range slices.Sorted(maps.Keys(by)) {
		for _, ms := range by[source] {
			ms, plants := sown(t, r, ms)
			for _, percent := range []int{10, 20} {
				out, _ := smaller(t, ms, percent)
				c.look(t, ms, out, fmt.Sprint(percent), source, plants)
			}
			c.rounds(t, r, ms, source)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(c.of), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		share := float64(c.found[k]) / float64(c.of[k])
		name := k[2] + " at " + k[0]
		if k[1] != "all" {
			name = "source/" + k[1] + " " + strings.ReplaceAll(name, " ", "_")
		}
		t.Logf("figure %s: %.4f", name, share)
		switch bar, ok := bars[k[2]]; {
		case k[1] != "all" || k[0] != "20":
		case ok && share < bar:
			t.Errorf("%s: %.3f of %d, below %.2f", name, share, c.of[k], bar)
		case k[2] == "misattributed" && share > 0:
			t.Errorf("%d of %d values stand beside another owner", c.found[k], c.of[k])
		}
	}
}

// sown puts plants into a conversation and an open request behind it.
func sown(t testing.TB, r planter, ms []jsontext.Value) ([]jsontext.Value, []plant) {
	var plants []plant
	kinds := map[string]int{"constraint": 8, "note": 4, "decision": 3, "finding": 4, "deed": 6, "refusal": 3, "owners": 2, "needle": 1, "checks": 1}
	ms = slices.Clone(ms)
	for len(ms) > 0 {
		if m, err := chat.Parse(ms[len(ms)-1]); err != nil || m.Kind == chat.Assistant && len(m.Calls) == 0 {
			break
		}
		ms = ms[:len(ms)-1]
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for range kinds[kind] {
			places := gaps(t, ms)
			if len(places) == 0 {
				continue
			}
			more, p := r.plant(kind, languages[r.IntN(len(languages))])
			ms = slices.Insert(ms, places[r.IntN(len(places))], more...)
			plants = append(plants, p)
		}
	}
	return append(ms, user("What remains to be done, and what must I look out for?")), plants
}

// smaller compacts to a share of the tokens.
func smaller(t testing.TB, ms []jsontext.Value, percent int) (out []jsontext.Value, tokens int) {
	c := newCompactor(t)
	dry, err := c.Compact(t.Context(), compact.Request{Messages: ms, Force: true, DryRun: true, MaxInputTokens: 10_000_000})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Compact(t.Context(), compact.Request{Messages: ms, Force: true, MaxInputTokens: max(50, dry.Report.TokensBefore*percent/100)})
	if err != nil {
		t.Fatal(err)
	}
	return res.Messages, dry.Report.TokensBefore
}

func (c *readers) look(t testing.TB, in, out []jsontext.Value, size, source string, plants []plant) {
	text := textOf(t, out)
	for _, p := range plants {
		if p.owners != nil {
			c.note(size, source, "misattributed", misattributed(text, p.owners))
			continue
		}
		found := near(text, p.together)
		c.note(size, source, p.kind, found)
		if said[p.kind] != nil {
			c.note(size, source, "language "+p.lang, found)
		}
	}
	flat := strings.ReplaceAll(text, "\n> ", " ")
	var all []string
	for _, v := range in {
		if m, err := chat.Parse(v); err == nil && m.Kind == chat.User {
			for _, s := range sentence.FindAllString(m.Text(), -1) {
				if s = strings.TrimSpace(s); len(s) >= 15 {
					all = append(all, s)
				}
			}
		}
	}
	if len(strings.Join(all, ""))*4 > len(text) {
		return
	}
	for _, s := range all {
		c.note(size, source, "sentences", strings.Contains(flat, s))
	}
}

// rounds goes on and makes the result smaller again, six times.
func (c *readers) rounds(t testing.TB, r planter, now []jsontext.Value, source string) {
	_, tokens := smaller(t, now, 100)
	comp := newCompactor(t)
	var plants []plant
	for n := range 6 {
		for _, kind := range []string{"constraint", "note", "finding", "deed", "refusal"} {
			more, p := r.plant(kind, languages[r.IntN(len(languages))])
			now, plants = append(now, more...), append(plants, p)
		}
		var log strings.Builder
		for i := range 300 {
			fmt.Fprintf(&log, "row %d.%d fine\n", n, i)
		}
		now = append(now, r.exchange("read_log", obj{"path": fmt.Sprintf("part%d.log", n)}, log.String())...)
		res, err := comp.Compact(t.Context(), compact.Request{Messages: append(now, says("I have read it."), user("Please go on.")), Force: true, MaxInputTokens: max(1500, tokens/5)})
		if err != nil {
			t.Fatal(err)
		}
		now = slices.Clone(res.Messages)
	}
	text := textOf(t, now)
	for _, p := range plants {
		c.note("20", source, "rounds", near(text, p.together))
		c.note("20", source, "rounds "+p.kind, near(text, p.together))
	}
}
