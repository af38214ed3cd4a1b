// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeyringBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.hcl")
	load := func(text string) (Config, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadConfig([]string{path})
	}
	c, err := load("keyring \"awskms\" {\n  active     = false\n  kms_key_id = \"alias/reeve\"\n}\nkeyring \"transit\" {\n  key_name = \"reeve\"\n  token    = \"env://VAULT\"\n}\n")
	if err != nil || len(c.Keyring) != 2 || !c.Keyring[0].Inactive || c.Keyring[1].Inactive || c.Keyring[1].Settings["token"] != "env://VAULT" {
		t.Errorf("the blocks: %+v, %v", c.Keyring, err)
	}
	if c, err := LoadConfig([]string{"../../examples/agent-keyring.hcl"}); err != nil || len(c.Keyring) != 1 || c.Keyring[0].Settings["key_name"] != "reeve" {
		t.Errorf("the example: %+v, %v", c.Keyring, err)
	}
	for text, say := range map[string]string{
		"keyring \"transit\" {\n  key_name = [\"a\"]\n}\n":                    `agent.hcl:2,3-19: keyring "transit": key_name: must be a text in quotes`,
		"keyring \"transit\" {\n  key_name = var.x\n}\n":                      `keyring "transit": key_name: must be a text in quotes`,
		"keyring \"gcpckms\" {\n}\n":                                          `keyring "gcpckms": this is no kind of service: it is awskms or transit`,
		"keyring \"transit\" {\n  key_name = \"a\"\n  token = \"s.123\"\n}\n": `token must not be in the configuration`,
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), say) || strings.Contains(err.Error(), "s.123") {
			t.Errorf("%s: %v, want %s", text, err, say)
		}
	}
}
