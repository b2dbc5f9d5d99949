package loosejson_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"

	"memoryd/internal/loosejson"
)

func TestParseReadsWhatProgramsPrint(t *testing.T) {
	tests := map[string]struct {
		in      string
		members int32 // of the root; -1 when it is no structure
		cut     bool
	}{
		"object":            {`{"a": 1, "b": [1, 2], "c": {"d": null}}`, 3, false},
		"python":            {`{'a': True, 'b': None, "it's": 'x\'y'}`, 3, false},
		"constructors":      {`{'t': datetime.datetime(2024, 1, 2), 'd': Decimal('1.5'), 'o': <Foo object at 0x1>}`, 3, false},
		"tuples":            {`[(1, 'a'), (2, 'b')]`, 2, false},
		"rows with bytes":   {`[('id', b'int', None, ''), ('name', b'text', None, b'')]`, 2, false},
		"one column":        {`[('people',), ('player',)]`, 2, false},
		"bare keys":         {`[{a: 1}]`, 1, false},
		"cut at a prefix":   {`[{'a': 'x'}, ('id', b`, 2, true},
		"cut in a string":   {`{"a": 1, "b": "lo`, 2, true},
		"cut after a colon": {`{"a": 1, "b":`, 2, true},
		"empty":             {`{}`, 0, false},
		"lines of objects":  {"{\"a\": 1}\n{\"b\": 2}", 1, false},
		"log prefix":        {"[INFO] started", -1, false},
		"clock prefix":      {"[12:30:01] started", -1, false},
		"braces in prose":   {"{}: -c: line 1: syntax error", -1, false},
		"code":              {"{ return x; }", -1, false},
		"prose":             {"hello", -1, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := loosejson.Parse(tc.in)
			if d.OK() != (tc.members >= 0) || d.Cut != tc.cut {
				t.Fatalf("ok %v, cut %v", d.OK(), d.Cut)
			}
			if d.OK() && d.Nodes[0].Count != tc.members {
				t.Errorf("%d members, want %d", d.Nodes[0].Count, tc.members)
			}
		})
	}
}

func TestReadReplyMendsWhatModelsGetWrong(t *testing.T) {
	tests := map[string]struct {
		in          string
		keys        string
		text        string // of the member "s"
		mended, cut bool
	}{
		"JSON":                {`{"a": 1, "s": "x"}`, "a s", "x", false, false},
		"trailing comma":      {`{"a": 1, "s": "x",}`, "a s", "x", true, false},
		"missing comma":       {"{\"a\": 1\n\"s\": \"x\"}", "a s", "x", true, false},
		"single quotes":       {`{'a': 1, 's': 'it's'}`, "a s", "it's", true, false},
		"typographic quotes":  {`{“a”: 1, “s”: “x”}`, "a s", "x", true, false},
		"bare names":          {`{a: 1, s: "x"}`, "a s", "x", true, false},
		"comments":            {"{\"a\": 1, // one\n \"s\": \"x\" /* end */}", "a s", "x", true, false},
		"raw line end":        {"{\"s\": \"x\ny\"}", "s", "x\ny", true, false},
		"unescaped quotes":    {`{"s": "the "foo" call", "a": 0}`, "s a", `the "foo" call`, true, false},
		"cut":                 {`{"a": 1, "s": "lost`, "a s", "lost", false, true},
		"surrogates":          {`{"s": "\ud83d\ude00"}`, "s", "😀", false, false},
		"a word before a key": {`{"s": x"a": 1}`, "s a", "x", true, false},
		"a value per equals":  {`{a=1;s="x"}`, "a s", "x", true, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, _, ok := loosejson.ReadReply(tc.in, 0)
			if !ok || d.Mended != tc.mended || d.Cut != tc.cut {
				t.Fatalf("ok %v, mended %v, cut %v", ok, d.Mended, d.Cut)
			}
			keys, text := "", ""
			for i := d.Child(0); i != 0; i = d.Nodes[i].Next {
				if keys != "" {
					keys += " "
				}
				keys += d.Nodes[i].Key
				if d.Nodes[i].Key == "s" {
					text = d.Str(i)
				}
			}
			if keys != tc.keys || text != tc.text {
				t.Errorf("keys %q, text %q", keys, text)
			}
		})
	}
}

func TestReadReplyGivesUpOnWhatIsNoObject(t *testing.T) {
	for _, s := range []string{"{}}x", "{a b}", "{ return x; }", "{\"a\" \"b\"}", "{]"} {
		if d, _, ok := loosejson.ReadReply(s, 0); ok && d.Child(0) != 0 {
			t.Errorf("%q is read as %+v", s, d.Nodes)
		}
	}
}

// asAny turns nodes into what encoding/json decodes to.
func asAny(d *loosejson.Doc, i int32) any {
	switch n := d.Nodes[i]; n.Kind {
	case loosejson.Object:
		m := map[string]any{}
		for c := n.Child; c != 0; c = d.Nodes[c].Next {
			key, _ := loosejson.Unquote(d.Nodes[c].Key, loosejson.MaxText)
			m[key] = asAny(d, c)
		}
		return m
	case loosejson.Array:
		list := []any{}
		for c := n.Child; c != 0; c = d.Nodes[c].Next {
			list = append(list, asAny(d, c))
		}
		return list
	case loosejson.Number:
		f, _ := strconv.ParseFloat(n.Val, 64)
		return f
	case loosejson.True, loosejson.False:
		return n.Kind == loosejson.True
	case loosejson.Null:
		return nil
	}
	return d.Str(i)
}

// On valid JSON both readers read what JSON says.
func FuzzAgreesWithJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e3,true,null,"x\u00e9\n"],"b":{"c":{}}}`, `[]`, `[[1],{"a":"\\\""}]`, `{'a': (1, 2)}`, "{“score”: ‘1’}", `{"a":"\ud83d\ude00"}`,
		`{"summary": "The "foo" call failed", "score": 0}`, "{\"a\": Decimal('1'), /* x */ b=2;}", `{"a`, `[<a b>]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := loosejson.Parse(s)
		mended, end, ok := loosejson.ReadReply(s, 0)
		if end < 0 || end > len(s) {
			t.Fatalf("end %d of %d", end, len(s))
		}
		var want any
		if json.Unmarshal([]byte(s), &want) != nil || len(d.Nodes) >= 500 || !d.OK() || d.Cut {
			return
		}
		if got := asAny(d, 0); !reflect.DeepEqual(got, want) && !holdsEscapes(s) {
			t.Fatalf("Parse of %q gives %v, want %v", s, got, want)
		}
		if _, isObject := want.(map[string]any); isObject && s[0] == '{' {
			if !ok || mended.Cut || !holdsEscapes(s) && !reflect.DeepEqual(asAny(mended, 0), want) {
				t.Fatalf("ReadReply of %q gives %v, want %v", s, mended.Nodes, want)
			}
		}
	})
}

// holdsEscapes reports texts whose escapes are decoded differently on purpose:
// \b and \f become blanks, bytes that are not UTF-8 stay.
func holdsEscapes(s string) bool {
	for i := range len(s) {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == 'b' || s[i+1] == 'f' || s[i+1] == 'u') || s[i] >= 0x80 {
			return true
		}
	}
	return false
}
