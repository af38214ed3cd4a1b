// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// asServer makes the test's binary a web server that is asked, so that its work
// is not counted as the agent's.
const asServer = "REEVE_TEST_CHECKED_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "fine") }))
		fmt.Println(web.Listener.Addr())
		io.Copy(io.Discard, os.Stdin) // until whoever started it ends
		return
	}
	goleak.VerifyTestMain(m)
}

// serve starts the server and returns its address.
func serve(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// BenchmarkTenThousandChecks runs 10,000 checks at 10 s for b.N seconds and
// reports how much of a core that takes, once all have passed.
func BenchmarkTenThousandChecks(b *testing.B) {
	for _, kind := range []string{api.CheckHTTP, api.CheckTCP} {
		b.Run(kind, func(b *testing.B) {
			address := serve(b)
			s := New()
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() { defer close(done); s.Run(ctx) }()
			defer func() { cancel(); <-done }()
			const n = 10000
			var passing, lost atomic.Int64
			all := make(chan struct{})
			changed := func(_, status string) {
				switch {
				case status != api.CheckStatusSuccess:
					lost.Add(1)
				case passing.Add(1) == n:
					close(all)
				}
			}
			c := &api.Check{Name: "c", Type: kind, Path: "/", Interval: 10 * time.Second, Timeout: 5 * time.Second}
			for i := range n {
				s.Add(fmt.Sprint("allocation-", i), &Target{ID: "1", Check: c, Address: address, Changed: changed})
			}
			<-all
			wait.Pass(b.Context(), 12*time.Second) // until the second round has spread them out
			lost.Store(0)
			before, begun := processorTime(b), time.Now()
			b.ResetTimer()
			wait.Pass(b.Context(), time.Duration(b.N)*time.Second)
			b.StopTimer()
			b.ReportMetric((processorTime(b)-before).Seconds()/time.Since(begun).Seconds(), "cores")
			b.ReportMetric(float64(lost.Load()), "failed")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
