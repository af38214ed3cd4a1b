// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

// TestADeploymentInTroubleSaysSo deploys a stack without room for its instances, and one that starts.
func TestADeploymentInTroubleSaysSo(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		large := stackJob("db", "2.1.0")
		large.Groups[0].Tasks[0].Resources.MemoryMB = ptr(1_000_000)
		db := c.deploy(large)[0]
		c.untilStack(db, api.StackDeploying, time.Minute)
		c.pass(time.Second)
		shop := c.deploy(stackJob("shop", "1.0.0"))[0]
		c.untilStack(shop, api.StackReady, time.Minute)
		list, _ := server.Stacks(c.Store().Snapshot(), server.StackFilter{Namespace: "*"})
		trouble := make(map[string]string)
		for _, s := range list {
			trouble[s.Name] = s.Trouble
		}
		if !strings.HasPrefix(trouble[db], large.Groups[0].Name+"-0") || !strings.Contains(trouble[db], "memory") || len([]rune(trouble[db])) > 123 {
			t.Errorf("the stack without room: %q, want its instance and the cause, in one short phrase", trouble[db])
		}
		if trouble[shop] != "" {
			t.Errorf("the ready stack: %q, want no trouble", trouble[shop])
		}
	})
}
