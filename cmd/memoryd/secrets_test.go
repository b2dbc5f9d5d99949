package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoryd/config"
	"memoryd/test/llmtest"
)

// plantedSecrets are secrets in the texts that they come in; what must not be found
// again stands between the guillemets. The values are made up.
var plantedSecrets = map[string]string{
	"aws key":         "aws_access_key_id = «AKIAQX7RZP2LMN4TVB6C»",
	"aws secret":      "aws_secret_access_key = «kQ9vXz2Lm7RtYp4WsBn6HdJfGcTa8EuViOoPqZx1»",
	"github":          "token «ghp_Zx9Lm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2»",
	"github fine":     "«github_pat_11ABCDEFG0aZxLm2Qw8Er4Ty_6Ui0Op1As3Df5Gh7Jk9LzXcVbNm»",
	"gitlab":          "glab auth «glpat-Qw8Er4Ty6Ui0Op1As3Df»",
	"openai":          "OPENAI «sk-proj-Lm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2Xc4Vb»",
	"anthropic":       "«sk-ant-api03-Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2Xc4Vb6Nm8»",
	"slack":           "«xoxb-203948576012-Zx9Lm2Qw8Er4Ty6Ui0Op1As3»",
	"slack hook":      "https://«hooks.slack.com/services/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»",
	"stripe":          "charge with «sk_live_Er4Ty6Ui0Op1As3Df5Gh7Jk9»",
	"google":          "«AIzaSyLm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2»",
	"hugging face":    "«hf_QwErTyUiOpAsDfGhJkLzXcVbNm12345678»",
	"npm":             "//registry.example/:_authToken=«npm_Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2Xc4Vb6Nm8»",
	"sendgrid":        "«SG.Er4Ty6Ui0Op1As3Df5Gh7J.k9Lz2Xc4Vb6Nm8Qw1Er3Ty5Ui7Op9As2Df4Gh6Jk8L»",
	"jwt":             "«eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI5OTg4Nzc2NiJ9.Lz2Xc4Vb6Nm8Qw1Er3Ty5Ui7Op9As2Df4Gh6Jk8L»",
	"bearer":          "Authorization: Bearer «Vb6Nm8Qw1Er3Ty5Ui7Op9As2»",
	"basic":           "-H 'Authorization: Basic «YWRtaW46c3VwZXJzZWNyZXQxMjM=»'",
	"url password":    "postgres://svc:«tulip-Garden-77»@db.internal:5432/app",
	"env password":    "DB_PASSWORD=«Marmalade!42»",
	"json password":   `config was {"password": "«velvet umbrella nine»", "user": "bob"}`,
	"spoken password": "the password is «Marigold2291x»",
	"cookie":          "Set-Cookie: «sid=s%3AQw8Er4Ty6Ui0Op1As3Df; Path=/»",
	"private key":     "-----BEGIN RSA PRIVATE KEY-----\n«MIIEowIBAAKCAQEAu7Lm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9»\n-----END RSA PRIVATE KEY-----",
	"open ssh":        "-----BEGIN OPENSSH PRIVATE KEY-----\n«b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB»\n-----END OPENSSH PRIVATE KEY-----",
	"pgp":             "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n«lQOYBF5Lm2QBCADEr4Ty6Ui0Op1As3Df5Gh7Jk9Lz2»\n-----END PGP PRIVATE KEY BLOCK-----",
	"azure":           "AccountName=x;AccountKey=«Lz2Xc4Vb6Nm8Qw1Er3Ty5Ui7Op9As2Df4Gh6Jk8LZx9Lm2Qw8Er4Ty6Ui0==»",
	"sas":             "https://x.blob.example/c?sv=2022&sig=«Lz2Xc4Vb6Nm8Qw1Er3Ty5Ui7Op9As2Df4Gh6Jk8L%3D»",
	"telegram":        "https://api.telegram.example/bot«6123456789:AAHkLm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9L»/getMe",
	"api key header":  "X-Api-Key: «0f9e8d7c6b5a49382716»",
	"query":           "GET /v1/items?access_token=«9a8b7c6d5e4f3a2b1c0d»&page=2",
	"xml":             "<password>«opensesame-221»</password>",
	"netrc":           "machine git.example login ada password «hunter2horse9»",
	"curl":            "curl -u ada:«Pa55w0rd-77-ada» https://x.example",
	"kubernetes":      `{"env":[{"name":"REDIS_PASSWORD","value":"«lantern forest»"}]}`,
	"escaped":         `{"note":"\u0041KIAQX7RZP2LMN4TVB6D"}`,
	"twilio":          "«SK0f3a9c5b7e0f3a9c5b7e0f3a9c5b7e01»",
	"vault":           "«hvs.CAESIJLm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2Xc4Vb6Nm8Q»",
	"memoryd":         "«mrd_k9_Lm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2Xc4Vb6Nm8Qw1E»",
}

// secretsOf gives the texts and the secrets in them.
func secretsOf() (texts, secrets []string) {
	for _, name := range slices.Sorted(maps.Keys(plantedSecrets)) {
		text := plantedSecrets[name]
		_, rest, found := strings.Cut(text, "«")
		secret, _, _ := strings.Cut(rest, "»")
		if !found {
			secret = "AKIAQX7RZP2LMN4TVB6D"
		}
		texts = append(texts, strings.NewReplacer("«", "", "»", "").Replace(text))
		secrets = append(secrets, secret)
	}
	return texts, secrets
}

// TestSecretsReachNeitherDiskNorLogsNorPromptsNorAnswers plants secrets in all
// that a client can send and looks for them everywhere.
func TestSecretsReachNeitherDiskNorLogsNorPromptsNorAnswers(t *testing.T) {
	oneByOne(t)
	texts, secrets := secretsOf()
	dir := t.TempDir()
	model := llmtest.New(llmtest.Always(llmtest.Answer(`{"score": 0.5, "summary": "partly", "evaluation": "Some was left."}`)))
	cfg, err := config.Parse(nil, "test", []string{
		"OPENAI_BASE_URL=" + model.Start(t) + "/v1", "MEMORYD_EVALUATE_JUDGE=llm", "MEMORYD_LLM_DEFAULT_RETRIES=0",
		"MEMORYD_OP_PARSE_TOOL_CALL_RESULT_OP_PARAMS_EVALUATION_SLEEP_INTERVAL=0", "MEMORYD_OP_SUMMARY_TOOL_MEMORY_OP_PARAMS_SUMMARY_SLEEP_INTERVAL=0",
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg.SetDataDir(dir)
	cfg.HTTP.Listen = "127.0.0.1:0"
	log := new(lines)
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	a.Start(t.Context())
	answers := sendSecrets(t, a, texts)
	if err := a.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	places := map[string]string{"the log": log.text.String(), "an answer": answers}
	for _, r := range model.Requests() {
		places["a prompt"] += r.System + r.User
	}
	if len(places["a prompt"]) < 1000 || len(answers) < 1000 {
		t.Fatal("too little was asked for this test to mean anything")
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		places["the file "+d.Name()] = string(b)
		return err
	})
	if err != nil || len(places["the file memoryd.db"]) == 0 {
		t.Fatalf("the files cannot be read: %v", err)
	}
	for place, text := range places {
		for i, s := range secrets {
			if strings.Contains(text, s) {
				t.Errorf("%q stands in %s", texts[i], place)
			}
		}
	}
}

// sendSecrets sends the texts in every way and gives the answers.
func sendSecrets(t *testing.T, a *app, texts []string) (answers string) {
	t.Helper()
	say := func(method, path string, body any) {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		status, _, answer := asked(t, a, method, path, string(b))
		if status >= 400 {
			t.Errorf("%s %s: %d %s", method, path, status, answer)
		}
		answers += answer
	}
	type object = map[string]any
	var calls, messages []any
	for i, s := range texts {
		calls = append(calls,
			object{"input": object{"q": s, "n": i}, "output": "The operation ended; some of it might not have been done: " + s, "metadata": object{"trajectory_id": fmt.Sprint(i / 4), "note": s}},
			object{"input": s, "output": "Error: bad request: " + s, "success": false, "summary": s, "evaluation": s},
			object{"input": object{s: 1, "list": []string{s}}, "output": `{"result": ` + quotedText(t, s) + `}`})
		messages = append(messages, object{"role": "assistant", "content": nil, "tool_calls": []any{object{
			"id": fmt.Sprint("c", i), "type": "function", "function": object{"name": "run", "arguments": quotedText(t, object{"command": s})},
		}}}, object{"role": "tool", "tool_call_id": fmt.Sprint("c", i), "content": strings.Repeat("fetched row of the table\n", 40) + s})
	}
	say("POST", "/add_tool_call_result", object{"tool_name": "t", "tool_call_results": calls})
	messages = append([]any{object{"role": "user", "content": "Do it. " + texts[0]}}, messages...)
	messages = append(messages, object{"role": "user", "content": "Go on."})
	say("POST", "/summary_tool_memory", object{"tool_names": "t", "force": true})
	say("POST", "/retrieve_tool_memory", object{"tool_names": "t"})
	say("POST", "/preflight_tool_call", object{"tool_name": "t", "input": object{"q": texts[3]}})
	_, _, list := asked(t, a, "GET", "/v1/workspaces/default/tools/t/calls", "")
	var page struct {
		Calls []struct {
			ID string `json:"id"`
		}
	}
	if err := json.Unmarshal([]byte(list), &page); err != nil || len(page.Calls) == 0 || page.Calls[0].ID == "" {
		t.Fatalf("%v: %s", err, list)
	}
	for i, s := range texts {
		say("PUT", "/v1/workspaces/default/tools/t/calls/"+page.Calls[i%len(page.Calls)].ID+"/evaluation", object{"score": 0, "summary": s, "evaluation": s, "by": "ada"})
	}
	say("POST", "/vector_store", object{"workspace_id": "default", "action": "dump"})
	// Its messages come back as they were sent, so the answer does not count.
	b, err := json.Marshal(object{"messages": messages, "conversation_id": "c", "force": true, "max_input_tokens": 4000})
	if err != nil {
		t.Fatal(err)
	}
	if status, _, answer := asked(t, a, "POST", "/compact_conversation", string(b)); status != 200 || !strings.Contains(answer, `"compacted":true`) {
		t.Errorf("compaction: %d %.300s", status, answer)
	}
	return answers
}

func quotedText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRedactionDoesNotMakeOneCallTwo sends a call with a secret again: at once, after
// a restart, and to a server that was restored from an export.
func TestRedactionDoesNotMakeOneCallTwo(t *testing.T) {
	oneByOne(t)
	const (
		call  = `{"tool_name":"t","tool_call_results":[{"input":{"password":"velvet umbrella nine"},"output":"token ghp_Zx9Lm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2","create_time":"2025-01-02 03:04:05"}]}`
		other = `{"tool_name":"t","tool_call_results":[{"input":{"password":"velvet umbrella ten"},"output":"token ghp_Zx9Lm2Qw8Er4Ty6Ui0Op1As3Df5Gh7Jk9Lz2","create_time":"2025-01-02 03:04:05"}]}`
	)
	send := func(dir, body, want string) {
		t.Helper()
		a := testApp(t, config.BackendSQLite, dir, "")
		a.Start(t.Context())
		defer http.DefaultClient.CloseIdleConnections()
		for range 2 {
			if _, _, answer := asked(t, a, "POST", "/add_tool_call_result", body); !strings.Contains(answer, want) {
				t.Errorf("want %q: %s", want, answer)
			}
			want = "Deduplicated: 1"
		}
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
	here, there := t.TempDir(), t.TempDir()
	send(here, call, "  Added: 1")
	send(here, call, "Deduplicated: 1")
	send(here, other, "  Added: 1")
	file := filepath.Join(t.TempDir(), "x.jsonl")
	std := streams{out: io.Discard, err: io.Discard}
	if err := (exportCmd{opened: opened{Data: here}, File: file}).Run(t.Context(), std); err != nil {
		t.Fatal(err)
	}
	if err := (restoreCmd{opened: opened{Data: there}, File: file}).Run(t.Context(), std); err != nil {
		t.Fatal(err)
	}
	send(there, call, "Deduplicated: 1")
	if err := (restoreCmd{opened: opened{Data: there}, File: file, Replace: true}).Run(t.Context(), std); err != nil {
		t.Errorf("restored over a store that has a key of its own: %v", err)
	}
}

// TestNoModelIsShownAnythingOfABarredWorkspace has a model that is never to be asked.
func TestNoModelIsShownAnythingOfABarredWorkspace(t *testing.T) {
	model := llmtest.New(llmtest.Always(llmtest.Answer(`{"score": 0.5, "summary": "partly", "evaluation": "Some was left."}`)))
	cfg, err := config.Parse([]byte("privacy: {no_content_to_models: [quiet]}"), "test", []string{"OPENAI_BASE_URL=" + model.Start(t) + "/v1", "MEMORYD_EVALUATE_JUDGE=llm"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store.Backend, cfg.HTTP.Listen = config.BackendMem, "127.0.0.1:0"
	a, err := newApp(t.Context(), cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a.Start(t.Context())
	messages := `{"role":"user","content":"go"}` + strings.Repeat(`,{"role":"assistant","content":"`+strings.Repeat("word ", 300)+`"},{"role":"user","content":"more"}`, 20)
	for _, workspace := range []string{"quiet", "loud"} {
		for path, body := range map[string]string{
			"/add_tool_call_result": `"tool_name":"t","tool_call_results":[{"output":"The operation ended; some of it might not have been done."}]`,
			"/summary_tool_memory":  `"tool_names":"t"`,
			"/compact_conversation": `"force":true,"max_input_tokens":2000,"messages":[` + messages + `]`,
		} {
			if status, _, answer := asked(t, a, "POST", path, `{"workspace_id":"`+workspace+`",`+body+`}`); status != 200 {
				t.Errorf("%s: %d %s", path, status, answer)
			}
		}
		if n := model.Counts().Requests; (workspace == "quiet") != (n == 0) {
			t.Errorf("%d requests after the work of %s", n, workspace)
		}
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// A suggestion is sent in place of the call: with a placeholder in it, it would be refused.
func TestASuggestionHoldsTheCallersOwnSecret(t *testing.T) {
	oneByOne(t)
	a := testApp(t, config.BackendMem, t.TempDir(), "")
	a.Start(t.Context())
	defer http.DefaultClient.CloseIdleConnections()
	defer func() { _ = a.Stop(context.Background()) }()
	login := func(password, realm string) map[string]any {
		return map[string]any{"user": "ada", "password": password, "realm": realm}
	}
	var calls []any
	for i := range 16 {
		realm, output := "main", `{"session":"open"}`
		if i%2 == 1 {
			realm, output = "adm", "Error: there is no such realm"
		}
		calls = append(calls, map[string]any{
			"input": login("Marmalade!42", realm), "output": output, "success": i%2 == 0,
			"metadata": map[string]any{"trajectory_id": fmt.Sprint(i)},
		})
	}
	asked(t, a, "POST", "/add_tool_call_result", quotedText(t, map[string]any{"tool_name": "login", "tool_call_results": calls}))
	_, _, answer := asked(t, a, "POST", "/preflight_tool_call", quotedText(t, map[string]any{"tool_name": "login", "input": login("velvet umbrella nine", "adm")}))
	var forecast struct {
		Metadata struct {
			Suggestion map[string]any `json:"suggestion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(answer), &forecast); err != nil {
		t.Fatal(err)
	}
	if want := login("velvet umbrella nine", "main"); !maps.Equal(forecast.Metadata.Suggestion, want) {
		t.Errorf("%v, not %v", forecast.Metadata.Suggestion, want)
	}
}
