package replicas

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
)

// programPath is that of a Qdrant program that tests may start, or "".
func programPath() string { return os.Getenv("MEMORYD_TEST_QDRANT_BINARY") }

// program is a Qdrant server of the test's own, which can be killed and started
// again on its data.
type program struct {
	t       *testing.T
	path    string
	dir     string
	http    string
	address string // of its gRPC
	cmd     *exec.Cmd
	log     *os.File
}

// startProgram runs a server with its data in a folder of the test.
func startProgram(t *testing.T, path string) *program {
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
	p.start()
	return p
}

// freePort gives a port that nobody listens on.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// start runs the server and waits until it answers.
func (p *program) start() {
	p.t.Helper()
	_, port, err := net.SplitHostPort(p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.Command(p.path)
	p.cmd.Dir = p.dir
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(os.Environ(), "QDRANT__TELEMETRY_DISABLED=true", "QDRANT__CLUSTER__ENABLED=false",
		"QDRANT__SERVICE__HOST=127.0.0.1", "QDRANT__SERVICE__HTTP_PORT="+p.http, "QDRANT__SERVICE__GRPC_PORT="+port,
		"QDRANT__STORAGE__STORAGE_PATH="+filepath.Join(p.dir, "storage"), "QDRANT__STORAGE__SNAPSHOTS_PATH="+filepath.Join(p.dir, "snapshots"))
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	eventually(p.t, func() string {
		if err := p.greet(port); err != nil {
			return fmt.Sprintf("the server does not answer: %v", err)
		}
		return ""
	})
}

func (p *program) greet(port string) error {
	conn, err := net.DialTimeout("tcp", p.address, time.Second)
	if err != nil {
		return err
	}
	_ = conn.Close()
	var number int
	if _, err := fmt.Sscan(port, &number); err != nil {
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
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
