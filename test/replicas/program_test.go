package replicas

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
)

// programPath is that of a Qdrant program that tests may start, or "".
func programPath() string { return os.Getenv("MEMORYD_TEST_QDRANT_BINARY") }

// newerPath is that of the program that a server which is started again is upgraded to, or "".
func newerPath() string { return os.Getenv("MEMORYD_TEST_QDRANT_NEWER") }

// program is a Qdrant server of the test's own, which can be killed and started
// again on its data.
type program struct {
	t       *testing.T
	path    string
	args    []string
	env     []string
	dir     string
	http    string
	address string // of its gRPC
	cmd     *exec.Cmd
	log     *os.File
}

// startProgram runs a server that stands alone, with its data in a folder of the
// test.
func startProgram(t *testing.T, path string) *program {
	p := newProgram(t, path)
	p.env = []string{"QDRANT__CLUSTER__ENABLED=false"}
	p.start()
	return p
}

// newProgram prepares a server; it does not run yet.
func newProgram(t *testing.T, path string) *program {
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, path: path, dir: dir, http: freePort(t), address: "127.0.0.1:" + freePort(t), log: log}
	t.Cleanup(func() {
		p.kill()
		_ = log.Close()
	})
	return p
}

// freePort gives a port that nobody listens on. It lies below those that the
// system gives to clients (from 32768 on): none of them takes it while its server
// is dead.
func freePort(t *testing.T) string {
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}

// start runs the server and waits until it answers.
func (p *program) start() {
	p.t.Helper()
	p.launch()
	eventually(p.t, func() string {
		if err := p.greet(); err != nil {
			return fmt.Sprintf("the server does not answer: %v", err)
		}
		return ""
	})
}

// port is that of its gRPC.
func (p *program) port() string {
	_, port, err := net.SplitHostPort(p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	return port
}

// launch runs the server and does not wait for it.
func (p *program) launch() {
	p.t.Helper()
	if p.cmd != nil {
		p.path = cmp.Or(newerPath(), p.path)
	}
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Dir = p.dir
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(os.Environ(), "QDRANT__TELEMETRY_DISABLED=true",
		"QDRANT__SERVICE__HOST=127.0.0.1", "QDRANT__SERVICE__HTTP_PORT="+p.http, "QDRANT__SERVICE__GRPC_PORT="+p.port(),
		"QDRANT__STORAGE__STORAGE_PATH="+filepath.Join(p.dir, "storage"), "QDRANT__STORAGE__SNAPSHOTS_PATH="+filepath.Join(p.dir, "snapshots"))
	p.cmd.Env = append(p.cmd.Env, p.env...)
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *program) greet() error {
	conn, err := net.DialTimeout("tcp", p.address, time.Second)
	if err != nil {
		return err
	}
	_ = conn.Close()
	var number int
	if _, err := fmt.Sscan(p.port(), &number); err != nil {
		return err
	}
	c, err := qd.NewClient(&qd.Config{Host: "127.0.0.1", Port: number, SkipCompatibilityCheck: true, PoolSize: 1})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Second)
	defer cancel()
	_, err = c.HealthCheck(ctx)
	return err
}

// kill ends the server's process as it stands.
func (p *program) kill() {
	if p.cmd == nil {
		return // never started
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// tail is the end of what the server wrote.
func (p *program) tail() string {
	b, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-4000):])
}
