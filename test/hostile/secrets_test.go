package hostile

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"memoryd/test/llmtest"
)

// secrets are drawn anew, each with the text that it stands in.
var secrets = map[string]func(w *world) (secret, text string){
	"AWS id":     with("", func(w *world) string { return "AKIA" + w.token(capitals, 16) }),
	"AWS secret": with("aws_secret_access_key = %s", func(w *world) string { return w.token(alphanumeric, 40) }),
	"GitHub":     with("", func(w *world) string { return "ghp_" + w.token(alphanumeric, 36) }),
	"GitLab":     with("", func(w *world) string { return "glpat-" + w.token(alphanumeric, 20) }),
	"Slack":      with("", func(w *world) string { return "xoxb-" + w.digits(11) + "-" + w.token(alphanumeric, 24) }),
	"Stripe":     with("", func(w *world) string { return "sk_live_" + w.token(alphanumeric, 24) }),
	"Google":     with("", func(w *world) string { return "AIza" + w.token(alphanumeric, 35) }),
	"model":      with("", func(w *world) string { return "sk-proj-" + w.token(alphanumeric, 48) }),
	"npm":        with("", func(w *world) string { return "npm_" + w.token(alphanumeric, 36) }),
	"web token": with("", func(w *world) string {
		return "eyJ" + w.token(alphanumeric, 30) + ".eyJ" + w.token(alphanumeric, 60) + "." + w.token(alphanumeric, 43)
	}),
	"Telegram": with("", func(w *world) string { return w.digits(9) + ":AA" + w.token(alphanumeric, 33) }),
	"Discord": with("", func(w *world) string {
		return "M" + w.token(alphanumeric, 23) + "." + w.token(alphanumeric, 6) + "." + w.token(alphanumeric, 38)
	}),
	"private key": with("-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----", func(w *world) string { return w.token(alphanumeric, 200) }),
	"password":    with("password: %s", func(w *world) string { return w.word() + w.digits(3) + "!" }),
	"sentence":    with("the password is %s", func(w *world) string { return w.word() + w.digits(3) }),
	"German":      with("Passwort: %s", func(w *world) string { return w.word() + w.digits(2) }),
	"option":      with("mysql --password=%s db", func(w *world) string { return w.word() + w.digits(2) }),
	"URL":         with("postgres://app:%s@db:5432/x", func(w *world) string { return w.word() + w.digits(2) }),
	"query":       with("https://api.example.org/v1?api_key=%s&x=1", func(w *world) string { return w.token(alphanumeric, 30) }),
	"basic": with("Authorization: Basic %s", func(w *world) string {
		return base64.StdEncoding.EncodeToString([]byte("u:" + w.token(alphanumeric, 14)))
	}),
	"bearer":            with("Authorization: Bearer %s", func(w *world) string { return w.token(alphanumeric, 32) }),
	"cookie":            with("Cookie: session=%s; path=/", func(w *world) string { return w.token(alphanumeric, 40) }),
	"header":            with("X-Api-Key: %s", func(w *world) string { return w.token(hexadecimal, 32) }),
	"environment":       with("export API_KEY=\"%s\"", func(w *world) string { return w.token(alphanumeric, 24) }),
	"YAML":              with("client_secret: \"%s\"", func(w *world) string { return w.token(alphanumeric, 22) }),
	"JSON":              with("{\"accessToken\":\"%s\"}", func(w *world) string { return w.token(alphanumeric, 26) }),
	"XML":               with("<password>%s</password>", func(w *world) string { return w.token(alphanumeric, 18) }),
	"one-time code":     with("enter otp=%s now", func(w *world) string { return w.digits(6) }),
	"account key":       with("AccountName=x;AccountKey=%s;Suffix=y", func(w *world) string { return w.token(alphanumeric, 86) + "==" }),
	"Spanish":           with("contraseña: %s", func(w *world) string { return w.word() + w.digits(2) }),
	"glued option":      with("mysql -uroot -p%s db", func(w *world) string { return w.word() + w.digits(2) }),
	"bare hexadecimal":  with("", func(w *world) string { return w.token(hexadecimal, 64) }),
	"bare token":        with("", func(w *world) string { return w.token(alphanumeric, 32) }),
	"lower token":       with("", func(w *world) string { return strings.ToLower(w.token(alphanumeric, 40)) }),
	"sentence of a PIN": with("your PIN is %s", func(w *world) string { return w.digits(6) }),
	"Russian":           with("пароль: %s", func(w *world) string { return w.word() + w.digits(2) }),
	"Chinese":           with("密码：%s", func(w *world) string { return w.word() + w.digits(2) }),
	"Japanese":          with("パスワード = %s", func(w *world) string { return w.word() + w.digits(2) }),
}

func with(text string, draw func(w *world) string) func(w *world) (secret, whole string) {
	return func(w *world) (string, string) {
		secret := draw(w)
		if text == "" {
			return secret, "use " + secret + " here"
		}
		return secret, fmt.Sprintf(text, secret)
	}
}

// Of 38 kinds of secrets three at most reach a prompt, the log or what an agent reads. A glued option
// is not told from words.
func TestSecretsReachNeitherPromptsNorLogNorAgents(t *testing.T) {
	w := newWorld(t, false)
	w.Kill()
	var mu sync.Mutex
	var prompts strings.Builder
	model := llmtest.New(func(r llmtest.Request) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		prompts.Write(r.Body)
		return llmtest.JSON(map[string]any{"summary": "x", "evaluation": "x", "score": 0})
	})
	w.Process = binary.Start(t, t.TempDir(), []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + model.Start(t) + "/v1", "MEMORYD_EVALUATE_JUDGE=llm", "MEMORYD_LOG_LEVEL=debug"})
	names := slices.Sorted(maps.Keys(secrets))
	var leaks []string
	marks := 0
	for _, kind := range names {
		secret, text := secrets[kind](w)
		tool, mark := "get_"+w.word(), w.word()+w.word()
		for i := range 6 {
			c := call{source: fmt.Sprintf("agent%d", i%2), run: fmt.Sprintf("r%d", i/2), tool: tool, input: map[string]any{"q": text, "n": i}, output: mark + ": " + text, failed: true}
			if i%3 == 2 {
				c.input["q"], c.output, c.failed = "ok", "done", false
			}
			w.addHTTP(c)
		}
		told := w.guideline("agent1", tool) + w.told("agent1", tool, map[string]any{"q": "ok"})
		mu.Lock()
		all := told + prompts.String() + w.Log()
		mu.Unlock()
		escaped, _ := json.Marshal(secret) //nolint:errchkjson // a string
		if strings.Contains(all, secret) || strings.Contains(all, strings.Trim(string(escaped), `"`)) {
			leaks = append(leaks, kind)
		}
		if strings.Contains(prompts.String(), mark) && strings.Contains(told, mark) {
			marks++
		}
	}
	if len(leaks) > 3 {
		t.Errorf("%d of %d kinds of secrets are told: %q", len(leaks), len(names), leaks)
	}
	if marks < len(names)*3/4 {
		t.Errorf("what stood beside the secret was told in %d of %d drawings: the attack shows nothing", marks, len(names))
	}
}
