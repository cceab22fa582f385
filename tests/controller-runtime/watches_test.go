// What ten thousand watches on few connections of HTTP/2 cost a server: memory, and time and CPU of an event that all of them get.
package starts

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	watchers = 10000
	// The flag that kube-apiserver has for it; with its default of 100 there would be a hundred connections.
	streams = 1000
	events  = 11
)

// cpu is the processor time that a process has used.
func cpu(t *testing.T, program *exec.Cmd) time.Duration {
	var sum time.Duration
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", program.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		var nanoseconds time.Duration
		fmt.Sscan(string(text), &nanoseconds)
		sum += nanoseconds
	}
	return sum
}

func TestWatches(t *testing.T) {
	etcd, peers, secure := port(t), port(t), port(t)
	store := fmt.Sprintf("http://127.0.0.1:%d", etcd)
	_, storage := started(t, store+"/health", "etcd", "--data-dir="+t.TempDir(), "--unsafe-no-fsync",
		"--listen-client-urls="+store, "--advertise-client-urls="+store, fmt.Sprintf("--listen-peer-urls=http://127.0.0.1:%d", peers))
	defer stop(storage)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("admin,admin,1,\"system:masters\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("https://127.0.0.1:%d", secure)
	_, server := started(t, url+"/readyz", "kube-apiserver", "--etcd-servers="+store, "--cert-dir="+t.TempDir(),
		fmt.Sprintf("--secure-port=%d", secure), "--bind-address=127.0.0.1", "--authorization-mode=RBAC", "--token-auth-file="+tokens,
		"--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
		"--service-account-issuer=https://127.0.0.1/", "--service-account-key-file="+key(t)+".pub",
		"--service-account-signing-key-file="+key(t), fmt.Sprintf("--http2-max-streams-per-connection=%d", streams))
	defer stop(server)

	var connections atomic.Int32
	dialer := &net.Dialer{}
	client := http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			connections.Add(1)
			return dialer.DialContext(ctx, network, address)
		},
	}}
	ask := func(method, path, body string) *http.Response {
		request, err := http.NewRequest(method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer admin")
		request.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode >= 300 {
			t.Fatalf("%s %s: %s", method, path, answer.Status)
		}
		return answer
	}
	const path = "/api/v1/namespaces/default/configmaps"
	ask("GET", path, "").Body.Close()
	time.Sleep(2 * time.Second)
	before := memory(t, server)

	var got sync.WaitGroup
	began := time.Now()
	// One after the other: so each connection has as many watches as it may.
	for range watchers {
		answer := ask("GET", path+"?watch=1&fieldSelector=metadata.name%3Dseen&resourceVersion=0", "")
		go func() {
			defer answer.Body.Close()
			reader := bufio.NewReader(answer.Body)
			for {
				line, err := reader.ReadBytes('\n')
				if err != nil {
					return
				}
				if bytes.Contains(line, []byte(`"seen"`)) {
					got.Done()
				}
			}
		}()
	}
	t.Logf("%d watches of %s on %d connections: opened in %.1f s; %s before, %s with them", watchers, os.Getenv("KUBEBUILDER_ASSETS"),
		connections.Load(), time.Since(began).Seconds(), before, memory(t, server))

	var times, costs []time.Duration
	write := func(method, path, body string) {
		got.Add(watchers)
		used, began := cpu(t, server), time.Now()
		ask(method, path, body).Body.Close()
		got.Wait()
		times = append(times, time.Since(began))
		costs = append(costs, (cpu(t, server)-used)/watchers)
	}
	object := `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "seen"}, "data": {"n": "%d"}}`
	write("POST", path, fmt.Sprintf(object, 0))
	for n := 1; n < events; n++ {
		write("PUT", path+"/seen", fmt.Sprintf(object, n))
	}
	micros := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Nanoseconds())/1000) }
	all := spread(times)
	spread(costs)
	t.Logf("the last of them has an event after %s, CPU of the server %s µs (%s-%s) for each watch; %s afterwards", all,
		micros(costs[events/2]), micros(costs[0]), micros(costs[events-1]), memory(t, server))
	client.CloseIdleConnections()
}
