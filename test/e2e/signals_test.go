//go:build unix

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The reader of a log that went away, or a terminal that closed, ended the server
// (defect O2).
func TestNoSignalEndsTheServerThatIsNoOrderToEnd(t *testing.T) {
	cmd := exec.Command(string(binary), "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--config", configFile(t, "log: {level: debug}\n"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout // as in: memoryd 2>&1 | head
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url := readyURL(t, bufio.NewReader(out))
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			post(t, url, `{"tool_name":"t","tool_call_results":[{"output":"o"}]}`)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("SIGTERM afterwards: %v", err)
	}
}

// A pipe that nobody reads stopped all requests once it was full (defect O2).
func TestALogThatNobodyReadsStopsNoRequest(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(string(binary), "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--config", configFile(t, "log: {level: debug}\n"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url := readyURL(t, bufio.NewReader(out))
	for range 2000 { // each writes a line or more; a pipe holds some four hundred
		post(t, url, `{"tool_name":"t","tool_call_results":[{"output":"o"}],"include_history":false}`)
	}
	told := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if strings.Contains(lines.Text(), "dropped log lines") {
				told <- lines.Text()
				return
			}
		}
		told <- ""
	}()
	for range 6000 { // more than waits for a reader
		post(t, url, `{"tool_name":"t","tool_call_results":[]}`)
	}
	select {
	case line := <-told:
		t.Log(line)
	case <-time.After(time.Second): // everything found room
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// readyURL reads lines until the one that says where the server is.
func readyURL(t *testing.T, lines *bufio.Reader) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if url := regexp.MustCompile(`ready on (http://[0-9.:]+)`).FindStringSubmatch(line); url != nil {
			return url[1]
		}
		if err != nil {
			t.Fatalf("no ready line: %v", err)
		}
	}
}

// post adds a call, within ten seconds.
func post(t *testing.T, url, body string) {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Post(url+"/add_tool_call_result", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(fmt.Errorf("status %d", resp.StatusCode))
	}
}

// SIGHUP takes over what can be without a new start and names what cannot.
func TestSIGHUPTakesOverTheLogsLevelAndNamesWhatWaits(t *testing.T) {
	config := configFile(t, "log: {level: info}\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a line that does not come ends the server, and so the reading of its log
	defer cancel()
	cmd := exec.CommandContext(ctx, string(binary), "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--config", config)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url, lines := readyURL(t, bufio.NewReader(out)), bufio.NewScanner(log)
	until := func(text string) (before string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return before
			}
			before += lines.Text() + "\n"
		}
		t.Fatalf("the log does not say %q:\n%s", text, before)
		return ""
	}
	again := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	const body = `{"tool_name":"t","tool_call_results":[{"output":"o"}]}`
	post(t, url, body)
	again("log: {level: debug}\nhttp: {max_items: 7}\nquotas: {tools: 9}\n")
	if before := until("reloaded certificate, keys and log level"); strings.Contains(before, "add_tool_call_result") {
		t.Errorf("requests are told of before:\n%s", before)
	}
	until("sections=\"[http quotas]\"")
	post(t, url, body)
	until("add_tool_call_result")
	again("log: {level: nonsense}\n")
	until("cannot read the configuration; the old one stays in use")
	post(t, url, body)
	until("add_tool_call_result")
}

// Bodies were admitted as if there were always memory for them: with less than that the
// runtime ended the process (defect O6).
func TestAServerOfLittleAddressSpaceAnswersAllLargeBodies(t *testing.T) {
	cmd := exec.Command("sh", "-c", `ulimit -v 2700000; exec "$@"`, "sh", string(binary), "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url := readyURL(t, bufio.NewReader(out))
	body := `{"tool_name":"t","tool_call_results":[` + strings.TrimSuffix(strings.Repeat(`{"output":"`+strings.Repeat("x", 900_000)+`"},`, 15), ",") + `]}`
	post := func() int {
		resp, err := (&http.Client{Timeout: time.Minute}).Post(url+"/add_tool_call_result", "application/json", strings.NewReader(body))
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := post(); got != http.StatusOK {
		t.Errorf("one large body alone is answered %d", got)
	}
	statuses := make(chan int)
	const at, rounds = 24, 2
	for range at {
		go func() {
			for range rounds {
				statuses <- post()
			}
		}()
	}
	counts := map[int]int{}
	for range at * rounds {
		counts[<-statuses]++
	}
	t.Log(counts)
	if counts[http.StatusOK]+counts[http.StatusTooManyRequests]+counts[http.StatusServiceUnavailable] != at*rounds {
		t.Errorf("answers by status: %v", counts)
	}
	resp, err := http.Get(url + "/livez")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("afterwards: %v, %v", resp, err)
	}
	_ = resp.Body.Close()
}
