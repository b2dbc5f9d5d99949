//go:build unix

package e2e

import (
	"bufio"
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
			if strings.Contains(lines.Text(), "lines of the log were dropped") {
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
