package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var shownKey = regexp.MustCompile(`mrd_[a-z0-9]+_[0-9a-f]{64}`)

// TestTheServerRefusesToStandOpen: an address that others reach needs keys, and
// something that encrypts; the image has such an address.
func TestTheServerRefusesToStandOpen(t *testing.T) {
	image := regexp.MustCompile(`MEMORYD_LISTEN=(\S+)`).FindStringSubmatch(rootFile(t, "Dockerfile"))
	if image == nil || !strings.HasPrefix(image[1], "0.0.0.0:") {
		t.Fatalf("the image listens on %v", image)
	}
	for name, tc := range map[string]struct {
		env  []string
		args []string
		says string
	}{
		"the image as it is":    {nil, []string{"--listen", "0.0.0.0:0"}, "MEMORYD_HTTP_BEHIND_PROXY"},
		"without keys":          {[]string{"MEMORYD_HTTP_KEYS=off", "MEMORYD_HTTP_BEHIND_PROXY=true"}, []string{"--listen", "0.0.0.0:0"}, "http.keys"},
		"all of IPv6":           {nil, []string{"--listen", "[::]:0"}, "unencrypted"},
		"no host at all":        {nil, []string{"--listen", ":0"}, "unencrypted"},
		"half of a certificate": {[]string{"MEMORYD_HTTP_TLS_CERT_FILE=x"}, nil, "key_file"},
		"no such certificate":   {[]string{"MEMORYD_HTTP_TLS_CERT_FILE=/x", "MEMORYD_HTTP_TLS_KEY_FILE=/y"}, nil, "tls.cert_file"},
		"a key that is none":    {[]string{"MEMORYD_ADMIN_KEY=hunter2"}, nil, "MEMORYD_ADMIN_KEY: must be mrd_"},
	} {
		t.Run(name, func(t *testing.T) {
			p := binary.Try(t, t.TempDir(), tc.env, tc.args...)
			if p.Ready != "" || p.ExitCode() != 1 || !strings.Contains(p.Log(), tc.says) {
				t.Errorf("ready %q, log %s", p.Ready, p.Log())
			}
			if strings.Contains(p.Log(), "hunter2") {
				t.Errorf("the log holds the key: %s", p.Log())
			}
		})
	}
}

// port is where a server on all addresses is reached from here.
func port(t *testing.T, ready string) string {
	t.Helper()
	m := regexp.MustCompile(`:(\d+) \(store`).FindStringSubmatch(ready)
	if m == nil {
		t.Fatalf("no port in %q", ready)
	}
	return m[1]
}

func fetch(t *testing.T, client *http.Client, method, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestTheFirstStartShowsAKeyOnce, and from it come all others.
func TestTheFirstStartShowsAKeyOnce(t *testing.T) {
	dir := t.TempDir()
	env := []string{"MEMORYD_HTTP_BEHIND_PROXY=true", "MEMORYD_HTTP_HEALTH_LISTEN=127.0.0.1:0"}
	p := binary.Start(t, dir, env, "--listen", "0.0.0.0:0")
	root := ""
	for until := time.Now().Add(patience); root == "" && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		root = shownKey.FindString(p.Log()) // another pipe than the one that says ready
	}
	if root == "" {
		t.Fatalf("no key was shown: %s", p.Log())
	}
	server := "http://127.0.0.1:" + port(t, p.Ready)
	if status, body := fetch(t, http.DefaultClient, "GET", server+"/v1/workspaces", "", ""); status != 401 {
		t.Errorf("without a key: %d %s", status, body)
	}
	if status, body := fetch(t, http.DefaultClient, "GET", server+"/metrics", "", ""); status != 404 {
		t.Errorf("metrics have an address of their own: %d %s", status, body)
	}
	asAdmin := []string{"--url", server, "--key", root}
	code, token, said := memoryd(t, "", append([]string{"keys", "create", "--name", "agent", "--role", "record,read", "--workspaces", "a"}, asAdmin...)...)
	token = strings.TrimSpace(token)
	if code != 0 || !shownKey.MatchString(token) || !strings.Contains(said, "not shown again") {
		t.Fatalf("%d %q %s", code, token, said)
	}
	if code, out, said := memoryd(t, "", "add", "search", "--output", "found", "--workspace", "a", "--url", server, "--key", token); code != 0 {
		t.Errorf("add: %d %s %s", code, out, said)
	}
	if code, _, said := memoryd(t, "", "add", "search", "--output", "found", "--workspace", "b", "--url", server, "--key", token); code == 0 || !strings.Contains(said, "no such workspace") {
		t.Errorf("add to a foreign workspace: %d %s", code, said)
	}
	const mcp = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memoryd_search","arguments":{"query":"search","workspace":"a"}}}`
	for key, want := range map[string]string{token: "search", "": "401"} {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", server+"/mcp", strings.NewReader(mcp))
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-API-Key", key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if got := fmt.Sprint(resp.StatusCode, " ", string(body)); !strings.Contains(got, want) || key != "" && strings.Contains(got, "isError\":true") {
			t.Errorf("MCP with the key %q: %s", key, got)
		}
	}
	if code, out, said := memoryd(t, "", append([]string{"keys", "list"}, asAdmin...)...); code != 0 || !strings.Contains(out, "record,read") || !strings.Contains(out, "first") {
		t.Errorf("%d %s %s", code, out, said)
	}
	p.Stop()
	p = binary.Start(t, dir, env, "--listen", "0.0.0.0:0")
	if again := shownKey.FindString(p.Log()); again != "" {
		t.Error("the second start shows a key")
	}
	server = "http://127.0.0.1:" + port(t, p.Ready)
	if status, body := fetch(t, http.DefaultClient, "GET", server+"/v1/session", token, ""); status != 200 {
		t.Errorf("after a restart: %d %s", status, body)
	}
	id := strings.Split(token, "_")[1]
	if code, out, said := memoryd(t, "", "keys", "revoke", id, "--url", server, "--key", root); code != 0 {
		t.Errorf("%d %s %s", code, out, said)
	}
	if status, body := fetch(t, http.DefaultClient, "GET", server+"/v1/session", token, ""); status != 401 {
		t.Errorf("revoked: %d %s", status, body)
	}
	if code, out, said := memoryd(t, "", "audit", "--verify", "--url", server, "--key", root); code != 0 || !strings.Contains(out, "chain is intact") {
		t.Errorf("%d %s %s", code, out, said)
	}
	// Neither the folder nor the log holds a key.
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range []string{root, token} {
			if strings.Contains(string(text), strings.Split(secret, "_")[2]) {
				t.Errorf("%s holds a key", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// certify writes a certificate for this machine with a serial number.
func certify(t *testing.T, dir string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestACertificateIsReadAgain after SIGHUP; one that cannot be used leaves the old.
func TestACertificateIsReadAgain(t *testing.T) {
	files := t.TempDir()
	certify(t, files, 1)
	p := binary.Start(t, t.TempDir(), []string{
		"MEMORYD_HTTP_TLS_CERT_FILE=" + filepath.Join(files, "cert.pem"), "MEMORYD_HTTP_TLS_KEY_FILE=" + filepath.Join(files, "key.pem"),
	})
	if !strings.HasPrefix(p.URL, "https://") {
		t.Fatalf("ready: %q", p.Ready)
	}
	serial := func() int64 {
		conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.URL, "https://")) //nolint:gosec // the number is what is looked at
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		c, _ := conn.(*tls.Conn)
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	become := func(want int64, change func()) {
		t.Helper()
		change()
		if err := p.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); serial() != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("certificate %d, want %d\n%s", serial(), want, p.Log())
			}
		}
	}
	become(2, func() { certify(t, files, 2) })
	become(2, func() {
		if err := os.WriteFile(filepath.Join(files, "key.pem"), []byte("no key"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	become(3, func() { certify(t, files, 3) })
	if code := p.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
