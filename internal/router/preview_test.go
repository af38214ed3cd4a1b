// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func asks(values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header["Reeve-Stack"] = values }
}

// previewed adds hosts of the unit inventory: shop.test with previews for trusted proxies, open.test
// with public ones, and shut.test with none. Version 1.1.0 has the tag canary, 1.2.0 warms up with the tag
// next, and 1.3.0 allows no preview. Unit search has the tag blue.
func (w *world) previewed() {
	for _, text := range []string{"1.0.0 ready", "1.1.0 ready", "1.2.0 warming", "1.3.0 ready"} {
		set := []func(*api.StackShare){}
		share := 0.0
		switch text[:5] {
		case "1.0.0":
			share, set = 1, append(set, isTarget)
		case "1.1.0":
			set = append(set, tagged("canary"))
		case "1.2.0":
			set = append(set, tagged("next"))
		}
		stack := w.stack("dev inventory "+text, share, set...)
		for name, preview := range map[string]string{"shop.test": api.PreviewTrusted, "open.test": api.PreviewPublic, "shut.test": ""} {
			if text[:5] == "1.3.0" {
				preview = ""
			}
			w.exposed(stack, api.StackExposure{Host: name, Preview: preview})
		}
	}
	w.stack("dev search 1.0.0 ready", 1, isTarget, tagged("blue"))
	w.u.Entries = append(w.u.Entries, &api.CatalogEntry{AllocID: "web", Namespace: "dev", JobID: "web", Endpoints: []*api.Endpoint{
		{Route: route(host("plain.test")), Address: serve(w.t, func(rw http.ResponseWriter, r *http.Request) {
			fmt.Fprint(rw, "plain ", strings.Join(r.Header["Reeve-Stack"], " "))
		})},
	}})
	w.apply()
}

func TestPreviews(t *testing.T) {
	const next, canary, current = "inventory--1-2-0--aaaaaaaa", "inventory--1-1-0--aaaaaaaa", "inventory--1-0-0--aaaaaaaa"
	const possible = "; these can be previewed: " + canary + ", " + current
	type wants map[string]string
	for trusted, cases := range map[bool]map[string]wants{
		true: {
			"shop.test": {
				"1.1.0": "200 1.1.0 " + canary, canary: "200 1.1.0 " + canary, "canary": "200 1.1.0 canary", "1.0.0": "200 1.0.0 " + current,
				"1.2.0":                        "404 stack " + next + " is warming: only ready stacks can be previewed" + possible,
				"next":                         "404 stack " + next + " is warming: only ready stacks can be previewed" + possible,
				"1.3.0":                        "404 stack inventory--1-3-0--aaaaaaaa does not allow this preview: its expose block needs preview = true",
				"9.9.9":                        `404 no stack of host "shop.test" has the version 9.9.9` + possible,
				"inventory--1-1-0--bbbbbbbb":   `404 no stack of host "shop.test" has the name inventory--1-1-0--bbbbbbbb` + possible,
				"cnary":                        `404 no stack of host "shop.test" has the tag cnary` + possible,
				"blue":                         "200 1.0.0 blue", // for another unit of the chain
				"search--1-0-0--aaaaaaaa":      "200 1.0.0 search--1-0-0--aaaaaaaa",
				"1.1":                          `404 Reeve-Stack "1.1": must be a version such as 1.2.0, the name of a stack, or a tag`,
				"":                             `404 Reeve-Stack "": must be`,
				"1.1.0, 1.0.0":                 `404 Reeve-Stack "1.1.0, 1.0.0": must be`,
				"../../etc/passwd":             `404 Reeve-Stack "../../etc/passwd": must be`,
				strings.Repeat("a", 20_000):    `404 Reeve-Stack "` + strings.Repeat("a", 10),
				"99999999999999999999.0.0":     "404 Reeve-Stack",
				"canary\x00":                   "400 ",
				"--":                           "404 Reeve-Stack",
				"inventory--1-1-0--../../../.": "404 ", // the hash of a name has eight characters
			},
			"open.test":            {"1.1.0": "200 1.1.0 " + canary, "9.9.9": "404 "},
			"shut.test":            {"1.1.0": "200 1.0.0", "canary": "200 1.0.0 canary", "nonsense!": "200 1.0.0"},
			"plain.test":           {"1.1.0": "200 plain ", "canary": "200 plain canary", canary: "200 plain " + canary},
			"canary--shop.test":    {"none": "200 1.1.0 canary"},
			"next--shop.test":      {"none": "404 stack " + next + " is warming"},
			"blue--shop.test":      {"none": `404 no stack of host "shop.test" has the tag blue`},
			"canary--open.test":    {"none": "200 1.1.0 canary"},
			"canary--shut.test":    {"none": "404 no route leads from host"},
			"canary--plain.test":   {"none": "404 no route leads from host"},
			"Canary--Shop.test":    {"none": "200 1.1.0 canary"},
			"1-1-0--shop.test":     {"none": "404 no route leads from host"},
			"--shop.test":          {"none": "404 no route leads from host"},
			"canary--a--shop.test": {"none": "404 no route leads from host"},
		},
		false: {
			"shop.test": {"1.1.0": "200 1.0.0", canary: "200 1.0.0", "canary": "200 1.0.0", "nonsense!": "200 1.0.0"},
			"open.test": {
				"1.1.0": "200 1.1.0 " + canary, canary: "200 1.1.0 " + canary, "canary": "200 1.1.0 canary", "blue": "404 no stack", "9.9.9": "404 no stack",
				"search--1-0-0--aaaaaaaa": "404 no stack", "1.3.0": "404 stack inventory--1-3-0--aaaaaaaa does not allow",
			},
			"shut.test":         {"canary": "200 1.0.0"},
			"plain.test":        {"canary": "200 plain "},
			"canary--shop.test": {"none": "404 no route leads from host"},
			"canary--open.test": {"none": "200 1.1.0 canary"},
		},
	} {
		onEachEngine(t, func(t *testing.T, on engine) {
			config := Config{}
			if trusted {
				config.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			}
			w := newWorld(t, on, config)
			w.previewed()
			for name, values := range cases {
				for value, want := range values {
					change := asks(value)
					if value == "none" {
						change = func(*http.Request) {}
					}
					if strings.ContainsRune(value, 0) {
						continue // no client of this test can send it; the parser's own tests do
					}
					r := w.do(http.MethodGet, name+"/", nil, change)
					got := fmt.Sprintf("%d %s", r.status, strings.TrimPrefix(r.body, fmt.Sprintf("%d %s: ", r.status, http.StatusText(r.status))))
					if !strings.HasPrefix(got, want) || strings.HasPrefix(want, "200") && got != want {
						t.Errorf("trusted %v, %s, Reeve-Stack %.60q: %.300s\nwant %s", trusted, name, value, got, want)
					}
				}
			}
		})
	}
}

// A cache in front of the router must not serve a preview to other clients.
func TestAPreviewVariesByItsField(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		w.previewed()
		for value, want := range map[string]string{"1.1.0": "Reeve-Stack", "1.0.0": "Reeve-Stack"} {
			if got := w.do(http.MethodGet, "shop.test/", nil, asks(value)).header.Get("Vary"); got != want {
				t.Errorf("%s: Vary %q, want %q", value, got, want)
			}
		}
		if got := w.do(http.MethodGet, "shop.test/", nil).header.Get("Vary"); got != "" {
			t.Errorf("without a preview: Vary %q", got)
		}
		if r := w.do(http.MethodGet, "shop.test/", nil, asks("1.1.0", "1.0.0")); r.status != 404 || !strings.Contains(r.body, "Reeve-Stack occurs more than once") {
			t.Errorf("two fields: %d %s", r.status, r.body)
		}
	})
}

// Fields that a program may mistake for Reeve-Stack do not reach the instance.
func TestLookalikesOfReeveStackAreRemoved(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{})
		w.add("a", serve(t, func(rw http.ResponseWriter, r *http.Request) {
			for name := range r.Header {
				if strings.EqualFold(strings.ReplaceAll(name, "_", "-"), stackField) {
					fmt.Fprintln(rw, name)
				}
			}
		}), route(host("a.test")))
		l := w.dial()
		l.send("GET / HTTP/1.1\r\nHost: a.test\r\nReeve_Stack: canary\r\nreeve_stack: canary\r\nREEVE-STACK: canary\r\n\r\n")
		if r := l.read(http.MethodGet); r.status != 200 || r.body != "" {
			t.Errorf("%d, and the instance received %s", r.status, r.body)
		}
	})
}

// The field chooses among the stacks that satisfy a name, for the chain of services that a previewed
// request takes.
func TestPreviewsOfNames(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		w := newWorld(t, on, Config{})
		w.inventory()
		w.apply()
		for _, c := range []struct{ name, value, want string }{
			{"1.inventory.dev", "1.1.0", "200 1.1.0 inventory--1-1-0--aaaaaaaa"},
			{"1.inventory.dev", "inventory--1-1-0--aaaaaaaa", "200 1.1.0 inventory--1-1-0--aaaaaaaa"},
			{"1.inventory.sandbox.dev", "canary", "200 1.1.0 canary"},
			{"1.inventory.dev", "search--1-4-0--aaaaaaaa", "200 1.0.0 search--1-4-0--aaaaaaaa"},
			{"1.inventory.dev", "blue", "200 1.0.0 blue"}, // the tag of another unit
			{"1.inventory.dev", "next", "404 stack inventory--1-2-0--aaaaaaaa is warming: only ready stacks can be previewed"},
			{"1.inventory.dev", "1.2.0", "404 stack inventory--1-2-0--aaaaaaaa is warming"},
			{"1.inventory.dev", "2.0.0", `404 stack inventory--2-0-0--aaaaaaaa does not satisfy version 1.0, which "1.inventory.dev.stack.reeve" wants`},
			{"2.inventory.dev", "canary", "503 no instance of unit inventory"},
			{"1-1.inventory.dev", "1.0.0", "404 stack inventory--1-0-0--aaaaaaaa does not satisfy version 1.1"},
			{"1.inventory.dev", "7.0.0", `404 no stack of unit inventory that serves "1.inventory.dev.stack.reeve" has the version 7.0.0`},
			{"1.inventory.dev", "?", "404 Reeve-Stack"},
			{"1-0-0.inventory.dev", "1.1.0", "200 1.0.0"}, // an exact name is no choice
			{"canary.inventory.dev", "blue", "200 1.1.0 blue"},
			{"2.inventory.dev", "2.0.0", "503 stack inventory--2-0-0--aaaaaaaa has no instance"},
		} {
			status, body := w.get(c.name+".stack.reeve/", asks(c.value))
			got := fmt.Sprintf("%d %s", status, strings.TrimPrefix(body, fmt.Sprintf("%d %s: ", status, http.StatusText(status))))
			if !strings.HasPrefix(got, c.want) || strings.HasPrefix(c.want, "200") && got != c.want {
				t.Errorf("%s, Reeve-Stack %q: %s\nwant %s", c.name, c.value, got, c.want)
			}
		}
	})
}
