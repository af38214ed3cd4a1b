// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/reeve-run/reeve/api"
)

// serveHealth runs gRPC's own server with its health service, unless that is
// left out, and returns its address.
func serveHealth(t *testing.T, statuses map[string]grpc_health_v1.HealthCheckResponse_ServingStatus, options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(options...)
	if statuses != nil {
		h := health.NewServer()
		for service, status := range statuses {
			h.SetServingStatus(service, status)
		}
		grpc_health_v1.RegisterHealthServer(s, h)
	}
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return l.Addr().String()
}

func TestGRPC(t *testing.T) {
	type status = grpc_health_v1.HealthCheckResponse_ServingStatus
	const well, ill = grpc_health_v1.HealthCheckResponse_SERVING, grpc_health_v1.HealthCheckResponse_NOT_SERVING
	plain := serveHealth(t, map[string]status{"": well, "shop.Cart": ill, "shop.Search": well})
	without := serveHealth(t, nil)
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer web.Close()
	certificates := httptest.NewTLSServer(http.NotFoundHandler())
	defer certificates.Close()
	secure := serveHealth(t, map[string]status{"": well}, grpc.Creds(credentials.NewServerTLSFromCert(&certificates.TLS.Certificates[0])))
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	nobody := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}()
	p := newProber()
	for _, c := range []struct {
		name    string
		check   api.Check
		address string
		ok      bool
		code    int
		output  string // up to how long it took
	}{
		{"the whole server", api.Check{}, plain, true, 1, "grpc: health of " + plain + ": SERVING in "},
		{"a service that is well", api.Check{GRPCService: "shop.Search"}, plain, true, 1, `grpc: health of "shop.Search" at ` + plain + ": SERVING in "},
		{"a service that is not", api.Check{GRPCService: "shop.Cart"}, plain, false, 2, `grpc: health of "shop.Cart" at ` + plain + ": NOT_SERVING in "},
		{"a service that there is not", api.Check{GRPCService: "shop.Till"}, plain, false, 0, `grpc: health of "shop.Till" at ` + plain + ": code 5 (not found) unknown service in "},
		{"no health service", api.Check{}, without, false, 0, "grpc: health of " + without + ": code 12 (unimplemented: it has no health service) unknown service grpc.health.v1.Health in "},
		{"TLS", api.Check{GRPCUseTLS: true, TLSSkipVerify: true}, secure, true, 1, "grpc: health of " + secure + ": SERVING in "},
		{"TLS with a name in the certificate", api.Check{GRPCUseTLS: true, TLSServerName: "example.com"}, secure, false, 0, "grpc: health of " + secure + ": tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		{"not gRPC", api.Check{}, web.Listener.Addr().String(), false, 0, "grpc: health of " + web.Listener.Addr().String() + ": "},
		{"refused", api.Check{}, nobody, false, 0, "grpc: health of " + nobody + ": connection refused"},
		{"silent", api.Check{Timeout: 50 * time.Millisecond}, silent.Addr().String(), false, 0, "grpc: health of " + silent.Addr().String() + ": no answer within 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.check.Type = api.CheckGRPC
			if c.check.Timeout == 0 {
				c.check.Timeout = 10 * time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.check.Timeout)
			defer cancel()
			r := p.probe(ctx, &Target{Check: &c.check, Address: c.address})
			if r.ok != c.ok || r.code != c.code || !strings.HasPrefix(r.output, c.output) {
				t.Errorf("got %+v; want ok=%t code=%d output beginning with %q", r, c.ok, c.code, c.output)
			}
		})
	}
}

func TestBrokenHealthAnswers(t *testing.T) {
	trailer := http.Header{"Grpc-Status": {"0"}}
	for name, body := range map[string][]byte{
		"empty":             {},
		"short frame":       {0, 0, 0, 0},
		"compressed":        {1, 0, 0, 0, 0},
		"longer than said":  {0, 0, 0, 0, 1, 8, 1},
		"shorter than said": {0, 0, 0, 0, 9, 8, 1},
		"no value":          {0, 0, 0, 0, 1, 8},
		"a string":          {0, 0, 0, 0, 3, 10, 1, 'x'},
		"absurd":            {0, 0, 0, 0, 6, 8, 0xff, 0xff, 0xff, 0xff, 0x7f},
	} {
		if status, err := healthAnswer(&http.Response{StatusCode: 200, Trailer: trailer}, body); err == nil {
			t.Errorf("%s: taken for status %d", name, status)
		}
	}
}
