// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serve starts a service with an environment, and returns its address and its log.
func serve(t *testing.T, name string, env map[string]string) (string, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	h, err := Shop(name, func(key string) string { return env[key] }, log, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, log
}

// ask sends a request, and returns the response's status, text and request id.
func ask(t *testing.T, method, url, id string) (int, string, string) {
	t.Helper()
	q, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id != "" {
		q.Header.Set(requestID, id)
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), resp.Header.Get(requestID)
}

func TestServicesCallEachOther(t *testing.T) {
	ledger, ledgerLog := serve(t, "ledger", nil)
	payments, _ := serve(t, "payments", map[string]string{"LEDGER_URL": ledger + "/", "VERSION": "3.1.0"})
	cart, _ := serve(t, "cart", map[string]string{"LATENCY": "1ms"})
	mail, _ := serve(t, "mail", nil)
	checkout, log := serve(t, "checkout", map[string]string{"CART_URL": cart, "PAYMENTS_URL": payments, "MAIL_URL": mail})
	status, text, id := ask(t, "POST", checkout+"/orders", "abc-1")
	want := "checkout 1.0.0, instance 0\ncart 1.0.0, instance 0\npayments 3.1.0, instance 0\nledger 1.0.0, instance 0\nmail 1.0.0, instance 0\n"
	if status != 200 || text != want || id != "abc-1" {
		t.Errorf("%d %q, request id %q; want 200 %q with the request's id", status, text, id, want)
	}
	for _, l := range []string{log.String(), ledgerLog.String()} {
		if !strings.Contains(l, "request=abc-1\n") {
			t.Errorf("log %q does not show the request's id", l)
		}
	}
	if status, _, _ := ask(t, "GET", checkout+"/orders", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("GET /orders: status %d", status)
	}
	if status, _, _ := ask(t, "GET", cart+"/healthz", ""); status != 200 {
		t.Errorf("GET /healthz: status %d", status)
	}
}

func TestServicesReportErrorsOfOthers(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	broke, _ := serve(t, "payments", map[string]string{"LEDGER_URL": gone.URL, "ERRORS": "100"})
	cart, _ := serve(t, "cart", nil)
	for name, c := range map[string]struct {
		payments string
		status   int
		text     string
	}{
		"declined":    {broke, 402, "payments: the bank declined the card\n"},
		"no answer":   {gone.URL, 502, "connection refused"},
		"no endpoint": {cart, 404, "payments: 404"},
	} {
		checkout, log := serve(t, "checkout", map[string]string{"CART_URL": cart, "PAYMENTS_URL": c.payments, "MAIL_URL": gone.URL})
		status, text, _ := ask(t, "POST", checkout+"/orders", "")
		if status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %q, want %d %q", name, status, text, c.status, c.text)
		}
		if !strings.Contains(log.String(), " error POST /orders ") || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%s: log %q, want one line with level error", name, log.String())
		}
	}
}

func TestRequestIDsOfClientsAreNotTrusted(t *testing.T) {
	cart, log := serve(t, "cart", nil)
	for _, id := range []string{strings.Repeat("a", 37), "a b", `a"`, "A\tlevel=error"} {
		if _, _, got := ask(t, "GET", cart+"/items", id); got == id || got == "" {
			t.Errorf("request id %q: the response has %q", id, got)
		}
		if strings.Contains(log.String(), id) {
			t.Errorf("the log shows the request id %q", id)
		}
	}
}

func TestShopRejectsAnEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		service string
		env     map[string]string
		want    string
	}{
		"unknown service": {"shop", nil, `no service "shop": name one of cart, `},
		"no address":      {"newsletter", nil, "MAIL_URL is not set to the address of mail"},
		"no host":         {"newsletter", map[string]string{"MAIL_URL": "mail"}, "MAIL_URL is not set"},
		"not a URL":       {"newsletter", map[string]string{"MAIL_URL": "http://%zz"}, "MAIL_URL is not set"},
		"percentage":      {"cart", map[string]string{"ERRORS": "101"}, `ERRORS "101"`},
		"words":           {"cart", map[string]string{"ERRORS": "some"}, `ERRORS "some"`},
		"latency":         {"cart", map[string]string{"LATENCY": "-1s"}, `LATENCY "-1s"`},
		"long latency":    {"cart", map[string]string{"LATENCY": "1h"}, `LATENCY "1h"`},
	} {
		_, err := Shop(c.service, func(key string) string { return c.env[key] }, io.Discard, time.Now)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
