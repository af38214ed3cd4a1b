// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"
)

var callOfShop = regexp.MustCompile(`^Hello from shop--\S+, instance 0, version shop 2\.4\.0
Hello from inventory--\S+, instance \d, version (\S+)
$`)

// TestATaskCallsItsDependencyDuringAShift deploys the examples: shop asks inventory by REEVE_DEP_INVENTORY_URL for each
// request, also while the traffic of inventory shifts to another version.
func TestATaskCallsItsDependencyDuringAShift(t *testing.T) {
	e := newEntrance(t)
	const examples = "../../examples/stacks/"
	e.reeve("stack", "deploy", "-until", "ready", examples+"shop.hcl", examples+"inventory.hcl")
	// versions waits until exactly these versions of inventory answer shop.
	versions := func(want ...string) {
		t.Helper()
		e.eventually(fmt.Sprintf("%v answer shop", want), func(context.Context) error {
			var found []string
			for range 40 {
				text, err := textFor(http.DefaultClient, e.router, "shop.localhost")
				if err != nil {
					return err
				}
				m := callOfShop.FindStringSubmatch(text)
				if m == nil {
					return fmt.Errorf("shop answers %q", text)
				}
				if !slices.Contains(found, m[1]) {
					found = append(found, m[1])
				}
			}
			if slices.Sort(found); !slices.Equal(found, want) {
				return fmt.Errorf("%v answer", found)
			}
			return nil
		})
	}
	versions("1.0.0")
	shop := e.pidsOf("reeve", "-call")

	var mu sync.Mutex
	counts := make(map[string]int)
	h := hammerWith(t, 4, func(client *http.Client) error {
		text, err := textFor(client, e.router, "shop.localhost")
		if err != nil {
			return err
		}
		m := callOfShop.FindStringSubmatch(text)
		if m == nil {
			return fmt.Errorf("shop answers %q", text)
		}
		mu.Lock()
		counts[m[1]]++
		mu.Unlock()
		return nil
	})
	e.reeve("stack", "deploy", "-until", "ready", "-var", "version=1.1.0", examples+"inventory.hcl")
	e.reeve("stack", "shift", "inventory", "set", "50%")
	versions("1.0.0", "1.1.0")
	e.reeve("stack", "shift", "inventory", "finish")
	versions("1.1.0")
	h.stop()
	if lost := h.lost.Load(); lost > 0 {
		t.Errorf("%d of %d requests were lost, the first: %s", lost, h.sent.Load(), h.first)
	}
	if counts["1.0.0"] == 0 || counts["1.1.0"] == 0 {
		t.Errorf("answers by version: %v, want some of both", counts)
	}
	if now := e.pidsOf("reeve", "-call"); len(shop) != 1 || !slices.Equal(now, shop) {
		t.Errorf("the process of shop is %v, and was %v", now, shop)
	}
}
