package textsafe_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/textsafe"
)

func redactor() *textsafe.Redactor { return &textsafe.Redactor{Key: []byte("k")} }

func TestAPlaceholderTellsTypesAndRepeatsButNotTheSecret(t *testing.T) {
	r := redactor()
	one, two := "ghp_"+fill(36), "ghp_"+fill(30)+"zzzzzz"
	a := r.Text("with " + one)
	if !strings.HasPrefix(a, "with [secret:key:") || a != r.Text("with "+one) || a == r.Text("with "+two) {
		t.Errorf("%q, %q", a, r.Text("with "+two))
	}
	if other := (&textsafe.Redactor{Key: []byte("l")}).Text("with " + one); other == a {
		t.Error("the hash does not depend on the key")
	}
	if again := r.Text(a); again != a {
		t.Errorf("redacted again: %q", again)
	}
	if bare := (&textsafe.Redactor{}).Text(one); bare != "[secret:key]" {
		t.Errorf("without a key: %q", bare)
	}
	for text, kind := range map[string]string{
		"postgres://a:hunter2@h/db": "[secret:password:", "Authorization: Bearer abcdef0123456789abcdef": "[secret:credentials:",
		"password=letmein22": "[secret:password:", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----": "[secret:private_key:",
	} {
		if got := r.Text(text); !strings.Contains(got, kind) {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestRedactedJSONStaysJSON(t *testing.T) {
	r := redactor()
	for in, want := range map[string]string{
		`{"password":"a\"b, c","n":1.50,"q" : "x"}`:                                                      `{"password":"[P]","n":1.50,"q" : "x"}`,
		`{"db":{"password": 123456},"total": 123456}`:                                                    `{"db":{"password": "[P]"},"total": 123456}`,
		`{"cvv":"123","pin":4711,"pins":[1,2,3],"private":123456}`:                                       `{"cvv":"[P]","pin":"[P]","pins":[1,2,3],"private":123456}`,
		`["AKIA\u0049OSFODNN7EXAMPLE"]`:                                                                  `["[P]"]`,
		`{"env":[{"name":"DB_PASSWORD","value":"tulip garden"},{"name":"MODE","value":"tulip garden"}]}`: `{"env":[{"name":"DB_PASSWORD","value":"[P]"},{"name":"MODE","value":"tulip garden"}]}`,
		`{"passwords":["hunter2hunter2","correct horse"]}`:                                               `{"passwords":["[P]","[P]"]}`,
		`{"log":"a\nAKIAIOSFODNN7EXAMPLE\nb"}`:                                                           `{"log":"a\n[P]\nb"}`,
		`"text with ghp_` + fill(36) + `"`:                                                               `"text with [P]"`,
		`{"AKIAIOSFODNN7EXAMPLE":1}`:                                                                     `{"[P]":1}`,
		`{"session_id":"aB3dE6gH9jK2aB3dE6gH9jK2aB3d"}`:                                                  `{"session_id":"aB3dE6gH9jK2aB3dE6gH9jK2aB3d"}`,
		`{"a":"\u003c\/x","b":1e400,"c":[null,true,-0.0]}`:                                               `{"a":"\u003c\/x","b":1e400,"c":[null,true,-0.0]}`,
	} {
		got := string(r.JSON([]byte(in)))
		if !json.Valid([]byte(got)) || placeholders(got) != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", in, got, want)
		}
		if again := string(r.JSON([]byte(got))); again != got {
			t.Errorf("redacted again: %s", again)
		}
	}
}

// placeholders writes [P] for each placeholder.
func placeholders(s string) string {
	for {
		from := strings.Index(s, "[secret:")
		if from < 0 {
			return s
		}
		s = s[:from] + "[P]" + s[from+strings.IndexByte(s[from:], ']')+1:]
	}
}

func TestEveryFormOfASecretLeavesTextsAndJSON(t *testing.T) {
	r, forms := redactor(), secretForms()
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		secret := forms[name]
		body := secret[len(secret)/2 : len(secret)-2]
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{`{"note":%s}`, `{"a":[{"b":%s}]}`, `[1,%s]`, `%s`} {
			got := string(r.JSON(fmt.Appendf(nil, in, quoted)))
			if strings.Contains(got, body) || !json.Valid([]byte(got)) {
				t.Errorf("%s in %s becomes %s", name, in, got)
			}
		}
		nested, _ := json.Marshal("result: " + fmt.Sprintf(`{"text":%s}`, quoted))
		for _, text := range []string{"stdout: " + secret, fmt.Sprintf(`{"ok":true,"text":%s}`, quoted), string(nested)} {
			if got := r.Text(text); strings.Contains(got, body) {
				t.Errorf("%s in the text %s becomes %s", name, text, got)
			}
		}
	}
}

func TestPersonalDataIsAnOption(t *testing.T) {
	text := "ada.l+x@Example.org paid 4111 1111 1111 1111, call +44 20 7946 0958 or (415) 555-0132; order 4111111111111112, 2024-05-21 10:11:12, 10.0.0.1"
	if got := redactor().Text(text); got != text {
		t.Errorf("without the option: %q", got)
	}
	r := &textsafe.Redactor{Key: []byte("k"), Personal: true}
	got := r.Text(text)
	for _, gone := range []string{"ada", "4111 1111", "7946", "555-0132"} {
		if strings.Contains(got, gone) {
			t.Errorf("%q stands in %q", gone, got)
		}
	}
	for _, kept := range []string{"[email:", "[card:", "[phone:", "order 4111111111111112, 2024-05-21 10:11:12, 10.0.0.1"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q does not stand in %q", kept, got)
		}
	}
	if r.Text("4111-1111-1111-1111") != r.Text("4111111111111111") || r.Text("ADA@x.org") != r.Text("ada@x.org") {
		t.Error("one value has two placeholders")
	}
	if got := string(r.JSON([]byte(`{"to":"ada@x.org","n":[1]}`))); !strings.Contains(got, "[email:") || !json.Valid([]byte(got)) {
		t.Errorf("JSON: %s", got)
	}
}

func FuzzRedactJSON(f *testing.F) {
	f.Add(`{"password":"a\"b","pin":1234,"env":[{"name":"TOKEN","value":"abc12345"}]}`)
	f.Add(`["\ud800","AKIA\u0049OSFODNN7EXAMPLE",-1e9]`)
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		got := redactor().JSON([]byte(s))
		if !json.Valid(got) {
			t.Fatalf("%q becomes %q", s, got)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat(`{"path":"/srv/app/main.go","token":"none","status": 200} The quick brown fox jumps over the lazy dog; key_1 = value. `, 17)
	b.SetBytes(int64(len(text)))
	r := redactor()
	for b.Loop() {
		r.Text(text)
	}
}

// BenchmarkRedactProse is an output as tools that answer in sentences write it.
func BenchmarkRedactProse(b *testing.B) {
	text := strings.Repeat("the ring keeps the newest slots and lets the oldest go without a second page; ", 26)
	b.SetBytes(int64(len(text)))
	r := redactor()
	for b.Loop() {
		r.Text(text)
	}
}
