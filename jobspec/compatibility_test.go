// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

var blockInPage = regexp.MustCompile("^\\| `(\\w+)` \\| (works|differs|refused|own) \\|")

// blocksInPage are the blocks that docs/compatibility.md has, with what it says of
// each.
func blocksInPage(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Blocks of job files\n")
	if !found {
		t.Fatal("the page has no section of blocks")
	}
	said := map[string]string{}
	for line := range strings.Lines(section) {
		if m := blockInPage.FindStringSubmatch(line); m != nil {
			said[m[1]] = m[2]
		}
	}
	return said
}

func TestCompatibilityPageHasTheBlocksThatThereAre(t *testing.T) {
	said, there := blocksInPage(t), map[string]bool{}
	seen := map[string]bool{}
	var walk func(k *keys)
	walk = func(k *keys) {
		if seen[k.noun] {
			return
		}
		seen[k.noun] = true
		for _, block := range k.blocks {
			there[block] = true
			if n := k.nested[block]; n != nil {
				walk(n)
			}
		}
	}
	walk(jobSchema.keys())
	for block := range there {
		if said[block] == "" {
			t.Errorf("the page does not have the block %s", block)
		}
	}
	for block := range said {
		if !there[block] {
			t.Errorf("the page has the block %s, which a job file cannot have", block)
		}
	}
}

// What the page calls refused is refused, and what is refused it says is.
func TestCompatibilityPageSaysWhatIsRefused(t *testing.T) {
	job := &api.Job{Region: "global", Multiregion: &api.Multiregion{}, Groups: []*api.Group{{
		Name: "g", Volumes: map[string]*api.VolumeRequest{"v": {}}, Consul: &api.Consul{},
		Networks: []*api.Network{{Mode: "cni/shop", DNS: &api.DNS{}, CNI: &api.CNI{}}},
		Services: []*api.Service{{Name: "s", Connect: map[string]any{}, Identity: &api.Identity{}}},
		Tasks: []*api.Task{{
			Name: "t", Artifacts: []*api.Artifact{{}}, Templates: []*api.Template{{}}, Vault: &api.Vault{}, VolumeMounts: []*api.VolumeMount{{}},
			CSIPlugin: &api.CSIPlugin{}, Secrets: []*api.Secret{{}}, Actions: []*api.Action{{}}, Schedule: &api.TaskSchedule{},
			Resources: &api.Resources{NUMA: &api.NUMA{}},
		}},
	}}}
	text := strings.Join(api.Unsupported(job), "\n")
	var refused []string
	for _, m := range regexp.MustCompile(`the (?:network's )?(\w+) block`).FindAllStringSubmatch(text, -1) {
		refused = append(refused, m[1])
	}
	for block, verdict := range blocksInPage(t) {
		if is := slices.Contains(refused, block); is != (verdict == "refused") {
			t.Errorf("the page says that %s is %s; refused: %v", block, verdict, is)
		}
	}
}
