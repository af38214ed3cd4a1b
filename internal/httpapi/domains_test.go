// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestDomains(t *testing.T) {
	h := newHarness(t)
	domains := h.client.Domains()
	fresh := func(all bool) (names []string) {
		list := domains.List
		if all {
			list = domains.ListAll
		}
		got, _, err := list(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got {
			names = append(names, "<"+d.Name+">")
		}
		return names
	}
	if got := fresh(false); !slices.Equal(got, []string{"<>"}) {
		t.Errorf("of a new cluster %v is fresh", got)
	}
	if _, err := domains.Mark(t.Context(), "cf", &api.DomainRequest{TTL: "20s"}); err != nil {
		t.Fatal(err)
	}
	d, _, err := domains.Get(t.Context(), "cf", nil)
	if err != nil || d.FreshUntil.IsZero() {
		t.Errorf("the domain is %+v: %v", d, err)
	}
	if _, err := domains.Mark(t.Context(), "cf", &api.DomainRequest{}); err != nil {
		t.Fatal(err)
	}
	if d, _, _ = domains.Get(t.Context(), "cf", nil); !d.FreshUntil.IsZero() || d.Stale {
		t.Errorf("marked for ever, the domain is %+v", d)
	}
	if _, err := domains.End(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got, all := fresh(false), fresh(true); !slices.Equal(got, []string{"<cf>"}) || !slices.Equal(all, []string{"<>", "<cf>"}) {
		t.Errorf("fresh are %v of %v", got, all)
	}
	if _, err := domains.End(t.Context(), "nobody"); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("ending what never was: %v", err)
	}
}

func TestBadDomainsAreRefusedWithAllThatIsWrong(t *testing.T) {
	h := newHarness(t)
	for ttl, want := range map[string]string{
		"-5s":                    "must not be negative",
		"soon":                   "neither a duration",
		"4294967296":             "more than 100 years",
		"99999999999999999999":   "more than 100 years",
		"9999999999999999h":      "neither a duration",
		"876001h":                "more than 100 years",
		"18446744073709551615":   "more than 100 years",
		"-99999999999999999999s": "neither a duration",
	} {
		got := h.do(http.MethodPut, "/v1/domain/a%20b", `{"TTL": "`+ttl+`"}`)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, want) || !strings.Contains(got.body, "white space") {
			t.Errorf("TTL %q of domain \"a b\": %d %s", ttl, got.status, got.body)
		}
	}
	if got := h.do(http.MethodPut, "/v1/domain/ok", `{"TTL": 5}`); got.status != http.StatusBadRequest {
		t.Errorf("a TTL that is no text: %d %s", got.status, got.body)
	}
}
