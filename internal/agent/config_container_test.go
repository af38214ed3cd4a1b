// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/image/store"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

func TestContainerConfiguration(t *testing.T) {
	c, err := LoadConfig([]string{writeConfig(t, "a.hcl", `
client {
  container {
    allow_caps          = ["net_raw"]
    allow_privileged    = true
    volumes             = true
    pids_limit          = 7
    prefetch            = false
    image_dir           = "/srv/images/"
    insecure_registries = ["r:5000"]
    auth {
      helper = "ecr-login"
    }
    user_namespace {
      first_id = 200000
      ids      = 1000
    }
    image_gc {
      max_size_mb = 10
      image_delay = "1h"
    }
  }
}`)})
	want := container.Config{
		AllowCaps: []string{"CAP_NET_RAW"}, AllowPrivileged: true, Volumes: true, MaxProcesses: 7, NoPrefetch: true, ImageDir: "/srv/images", Insecure: []string{"r:5000"},
		AuthHelper: "ecr-login", IDs: oci.IDs{First: 200000, Size: 1000}, Collection: store.Policy{High: 0.85, Low: 0.75, MaxBytes: 10 << 20, Keep: time.Hour},
	}
	if diff := cmp.Diff(want, c.Client.Container); diff != "" || err != nil {
		t.Errorf("%v; -want +got:\n%s", err, diff)
	}
	for text, want := range map[string]string{
		`allow_caps = ["x"]`:                "container: allow_caps: unknown capability \"x\"",
		`image_dir = "x"`:                   "image_dir \"x\": must be an absolute path",
		`user_namespace { first_id = 5 }`:   "the users below 1000 are the system's",
		`user_namespace { ids = -1 }`:       "must be a range of user ids",
		`image_gc { disk_low = 0.9 }`:       "must be parts of the disk",
		`image_gc { image_delay = "soon" }`: "image_delay \"soon\": must be a duration",
		`image_gc { max_size_mb = -1 }`:     "must not be negative",
	} {
		_, err := LoadConfig([]string{writeConfig(t, "a.hcl", "client {\ncontainer {\n"+text+"\n}\n}")})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a.hcl") {
			t.Errorf("%s\n  is refused with %v\n  want %s", text, err, want)
		}
	}
}
