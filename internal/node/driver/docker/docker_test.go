// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

func TestTasksThatNeedADaemonAreRejectedWithTheReason(t *testing.T) {
	ports := []api.PortMapping{{Label: "http", Value: 8080, To: 80}, {Label: "admin", Value: 9000, To: 9000}}
	for name, c := range map[string]struct {
		config  map[string]any
		network *driver.Network
		want    string // beginning; "": accepted
	}{
		"ports with equal numbers": {config: map[string]any{"ports": []any{"admin"}}},
		"a mapped port":            {config: map[string]any{"ports": []any{"http"}}, want: `port "http" leads to 80 in the container`},
		"a mapped port in bridge":  {config: map[string]any{"ports": []any{"http"}, "network_mode": "bridge"}, network: &driver.Network{}},
		"an unknown port":          {config: map[string]any{"ports": []any{"htp"}}, want: `config ports has "htp"`},
		"a terminal":               {config: map[string]any{"tty": "true"}, want: "config tty needs a Docker daemon"},
		"a network of Docker":      {config: map[string]any{"network_mode": "shop"}, network: &driver.Network{}, want: `config network_mode "shop" needs a Docker daemon`},
		"a typing error":           {config: map[string]any{"imagee": "x"}, want: `config driver docker has no key "imagee"`},
	} {
		c.config["image"] = "web:1"
		task := &driver.Task{Config: c.config, Ports: ports, Network: c.network}
		config, err := parse(task)
		if err == nil {
			err = withoutDaemon(task, config)
		}
		if got := errorText(err); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestModesAreNamed(t *testing.T) {
	for mode, want := range map[string]bool{"": true, "auto": true, "container": true, "off": true, "Off": false, "podman": false} {
		if IsMode(mode) != want {
			t.Errorf("IsMode(%q) is %v", mode, !want)
		}
	}
}
