// How long a server takes to be ready, how much memory it has then, and how many control planes envtest starts in a second.
// `check --starts` copies this file into a package of controller-runtime.
package starts

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const rounds = 15

// port is one that nothing listens on.
func port(t *testing.T) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// started starts a program and waits until the URL answers 200, asking every half millisecond.
func started(t *testing.T, url string, arguments ...string) (time.Duration, *exec.Cmd) {
	program := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), arguments[0]), arguments[1:]...)
	began := time.Now()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for time.Since(began) < time.Minute {
		if answer, err := client.Get(url); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return time.Since(began), program
			}
		}
		time.Sleep(500 * time.Microsecond)
	}
	t.Fatalf("%s is not ready", arguments[0])
	return 0, nil
}

// memory is the resident memory of a process and the most that it has had, in MiB.
func memory(t *testing.T, program *exec.Cmd) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", program.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var figures []string
	for _, name := range []string{"VmRSS:", "VmHWM:"} {
		_, rest, _ := strings.Cut(string(status), name)
		var kib float64
		fmt.Sscan(rest, &kib)
		figures = append(figures, fmt.Sprintf("%.1f", kib/1024))
	}
	return strings.Join(figures, " MiB resident, at most ") + " MiB"
}

func stop(program *exec.Cmd) time.Duration {
	began := time.Now()
	// kube-apiserver waits for its clients.
	time.AfterFunc(5*time.Second, func() { _ = program.Process.Kill() })
	_ = program.Process.Signal(syscall.SIGTERM)
	_ = program.Wait()
	return time.Since(began)
}

func spread(times []time.Duration) string {
	slices.Sort(times)
	shown := func(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()*1000) }
	return fmt.Sprintf("%s ms (%s-%s)", shown(times[len(times)/2]), shown(times[0]), shown(times[len(times)-1]))
}

func TestStarts(t *testing.T) {
	names := []string{"etcd", "kube-apiserver"}
	ready, ends, sizes := map[string][]time.Duration{}, map[string][]time.Duration{}, map[string]string{}
	for range rounds {
		etcd, peers, secure := port(t), port(t), port(t)
		keep := func(name string, took time.Duration, program *exec.Cmd) func() {
			ready[name] = append(ready[name], took)
			sizes[name] = memory(t, program)
			return func() { ends[name] = append(ends[name], stop(program)) }
		}
		store := fmt.Sprintf("http://127.0.0.1:%d", etcd)
		took, program := started(t, store+"/health", "etcd", "--data-dir="+t.TempDir(), "--unsafe-no-fsync",
			"--listen-client-urls="+store, "--advertise-client-urls="+store, fmt.Sprintf("--listen-peer-urls=http://127.0.0.1:%d", peers))
		stopEtcd := keep("etcd", took, program)
		took, program = started(t, fmt.Sprintf("https://127.0.0.1:%d/readyz", secure), "kube-apiserver", "--etcd-servers="+store,
			"--cert-dir="+t.TempDir(), fmt.Sprintf("--secure-port=%d", secure), "--bind-address=127.0.0.1",
			"--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
			"--service-account-issuer=https://127.0.0.1/", "--service-account-key-file="+key(t)+".pub",
			"--service-account-signing-key-file="+key(t))
		keep("kube-apiserver", took, program)()
		stopEtcd()
	}
	for _, name := range names {
		t.Logf("%s of %s: ready after %s, %s, stopped after %s", name, os.Getenv("KUBEBUILDER_ASSETS"), spread(ready[name]),
			sizes[name], spread(ends[name]))
	}
}

// key is the path of a private key, whose public half is beside it.
func key(t *testing.T) string {
	path := filepath.Join(os.TempDir(), "kubewright-starts.key")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	for _, arguments := range [][]string{{"genrsa", "-out", path, "2048"}, {"rsa", "-in", path, "-pubout", "-out", path + ".pub"}} {
		if out, err := exec.Command("openssl", arguments...).CombinedOutput(); err != nil {
			t.Skipf("there is no openssl to make keys: %s", out)
		}
	}
	return path
}

func TestEnvtest(t *testing.T) {
	log.SetLogger(logr.Discard())
	var starts, stops []time.Duration
	for range rounds {
		environment := &envtest.Environment{}
		began := time.Now()
		if _, err := environment.Start(); err != nil {
			t.Fatal(err)
		}
		starts = append(starts, time.Since(began))
		began = time.Now()
		if err := environment.Stop(); err != nil {
			t.Fatal(err)
		}
		stops = append(stops, time.Since(began))
	}
	var all time.Duration
	for _, took := range append(slices.Clone(starts), stops...) {
		all += took
	}
	t.Logf("envtest with %s: Start %s, Stop %s, %.2f starts a second", os.Getenv("KUBEBUILDER_ASSETS"), spread(starts), spread(stops),
		rounds/all.Seconds())
}
