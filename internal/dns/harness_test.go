// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// harness is a name server on real sockets, fed by a stream that tests write.
type harness struct {
	*Server
	t       testing.TB
	updates chan *api.CatalogUpdate
	index   uint64
}

func newHarness(t testing.TB, c Config) *harness {
	t.Helper()
	h := &harness{t: t, updates: make(chan *api.CatalogUpdate), index: 1}
	stream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		for {
			select {
			case u := <-h.updates:
				json.NewEncoder(w).Encode(u)
				http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	cl, err := client.New(client.Config{Address: stream.URL})
	if err != nil {
		t.Fatal(err)
	}
	c.Client = cl
	if c.Address == "" {
		c.Address = "127.0.0.1:0"
	}
	if h.Server, err = Listen(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		cl.Close()
		stream.CloseClientConnections()
		stream.Close()
	})
	return h
}

// send tells the server of entries, and waits until it knows them.
func (h *harness) send(u *api.CatalogUpdate) {
	h.t.Helper()
	h.index++
	u.Index = h.index
	h.updates <- u
	h.updates <- &api.CatalogUpdate{} // taken once the update is read; then it is soon known
	for {
		h.zone.mu.RLock()
		index := h.zone.index
		h.zone.mu.RUnlock()
		if index == h.index {
			return
		}
		if h.t.Context().Err() != nil {
			h.t.Fatal("the server never took the update")
		}
		runtime.Gosched()
	}
}

// entry is an instance that offers services, each "name+tag@address:port".
func entry(job string, index int, services ...string) *api.CatalogEntry {
	e := &api.CatalogEntry{AllocID: fmt.Sprintf("%s-%d", job, index), Namespace: "default", JobID: job, Group: "web", Instance: index}
	for _, s := range services {
		what, where, _ := strings.Cut(s, "@")
		name, tags, _ := strings.Cut(what, "+")
		at := strings.LastIndexByte(where, ':')
		var port int
		fmt.Sscan(where[at+1:], &port)
		e.Services = append(e.Services, &api.ServiceRegistration{
			ID: e.AllocID + s, ServiceName: name, Namespace: "default", AllocID: e.AllocID, JobID: job,
			Tags: strings.FieldsFunc(tags, func(r rune) bool { return r == '+' }), Address: strings.Trim(where[:at], "[]"), Port: port,
		})
	}
	return e
}

// ask sends a question over UDP.
func (h *harness) ask(name string, kind uint16) *dns.Msg {
	h.t.Helper()
	return h.askOver("udp", name, kind, nil)
}

func (h *harness) askOver(network, name string, kind uint16, change func(*dns.Msg)) *dns.Msg {
	h.t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, kind)
	if change != nil {
		change(m)
	}
	c := &dns.Client{Net: network, UDPSize: dns.MaxMsgSize}
	answer, _, err := c.ExchangeContext(h.t.Context(), m, h.Addr())
	if err != nil {
		h.t.Fatalf("%s %s over %s: %v", dns.TypeToString[kind], name, network, err)
	}
	return answer
}

// said is an answer in words: its code, then what it lists, sorted.
func said(m *dns.Msg) string {
	words := []string{}
	for _, rr := range m.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			words = append(words, rr.A.String())
		case *dns.AAAA:
			words = append(words, rr.AAAA.String())
		case *dns.SRV:
			words = append(words, fmt.Sprintf("%s:%d", rr.Target, rr.Port))
		default:
			words = append(words, strings.Join(strings.Fields(strings.TrimPrefix(rr.String(), rr.Header().String())), " "))
		}
	}
	sortStrings(words)
	return strings.TrimSpace(dns.RcodeToString[m.Rcode] + " " + strings.Join(words, " "))
}
