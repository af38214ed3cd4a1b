// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestNomadsClientUsesVariables uses variables, their locks and the keyring with Nomad's client.
func TestNomadsClientUsesVariables(t *testing.T) {
	h := newHarness(t, withUsers(t))
	c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL, SecretID: operatorToken})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	vars := c.Variables()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	created, _, err := vars.CheckedCreate(&nomad.Variable{Path: "shop/db", Items: nomad.VariableItems{"user": "shop", "password": "p"}}, nil)
	must(err)
	if created.ModifyIndex == 0 || created.Items["user"] != "shop" || created.Namespace != "default" {
		t.Errorf("created %+v", created)
	}
	var conflict nomad.ErrCASConflict
	if _, _, err = vars.CheckedCreate(&nomad.Variable{Path: "shop/db", Items: nomad.VariableItems{"a": "b"}}, nil); !errors.As(err, &conflict) ||
		conflict.Conflict.ModifyIndex != created.ModifyIndex || conflict.Conflict.Items["user"] != "shop" {
		t.Errorf("a second creation: %v", err)
	}
	created.Items["port"] = "5432"
	updated, _, err := vars.CheckedUpdate(created, nil)
	must(err)
	if _, _, err = vars.CheckedUpdate(created, nil); !errors.As(err, &conflict) || conflict.Conflict.ModifyIndex != updated.ModifyIndex {
		t.Errorf("an update with an old index: %v", err)
	}
	read, meta, err := vars.Read("shop/db", nil)
	must(err)
	if read.Items["port"] != "5432" || meta.LastIndex != updated.ModifyIndex {
		t.Errorf("read %+v at index %d", read, meta.LastIndex)
	}
	if _, _, err = vars.Read("none", nil); !errors.Is(err, nomad.ErrVariablePathNotFound) {
		t.Errorf("a missing variable: %v", err)
	}
	if none, _, err := vars.Peek("none", nil); none != nil || err != nil {
		t.Errorf("a peek at a missing variable: %v, %v", none, err)
	}
	_, _, err = vars.Create(&nomad.Variable{Path: "other", Items: nomad.VariableItems{"a": "b"}}, nil)
	must(err)
	if list, _, err := vars.List(nil); err != nil || len(list) != 2 {
		t.Errorf("the list is %v, %v", list, err)
	}
	if list, _, err := vars.PrefixList("shop/", nil); err != nil || len(list) != 1 || list[0].Path != "shop/db" || list[0].ModifyTime != read.ModifyTime {
		t.Errorf("the list of a prefix is %v, %v", list, err)
	}

	locked, _, err := vars.AcquireLock(&nomad.Variable{Path: "leader", Items: nomad.VariableItems{"who": "a"}, Lock: &nomad.VariableLock{TTL: "30s", LockDelay: "10s"}}, nil)
	must(err)
	if locked.LockID() == "" || locked.Lock.TTL != "30s" || locked.Items["who"] != "a" {
		t.Errorf("locked %+v", locked)
	}
	if _, _, err = vars.AcquireLock(&nomad.Variable{Path: "leader", Lock: &nomad.VariableLock{TTL: "30s"}}, nil); err == nil || !strings.Contains(err.Error(), "locked already") {
		t.Errorf("a second holder: %v", err)
	}
	renewed, _, err := vars.RenewLock(locked, nil)
	must(err)
	if renewed.Lock == nil || renewed.Lock.ID != locked.LockID() {
		t.Errorf("renewed %+v", renewed)
	}
	locked.Items["who"] = "b"
	_, _, err = vars.Update(locked, nil)
	must(err)
	if _, _, err = vars.Update(&nomad.Variable{Path: "leader", Items: nomad.VariableItems{"who": "c"}}, nil); err == nil {
		t.Error("a write without the lock succeeded")
	}
	locked.Items = nil
	released, _, err := vars.ReleaseLock(locked, nil)
	must(err)
	if released.Lock != nil || released.Items["who"] != "b" {
		t.Errorf("released %+v", released)
	}
	if _, err = vars.CheckedDelete("shop/db", 1, nil); !errors.As(err, &conflict) {
		t.Errorf("a deletion with another index: %v", err)
	}
	_, err = vars.CheckedDelete("shop/db", updated.ModifyIndex, nil)
	must(err)
	_, err = vars.Delete("other", nil)
	must(err)

	keys, _, err := c.Keyring().List(nil)
	must(err)
	if len(keys) != 1 || keys[0].State != nomad.RootKeyStateActive || keys[0].Algorithm != nomad.EncryptionAlgorithmAES256GCM {
		t.Errorf("the keys are %+v", keys)
	}
	next, _, err := c.Keyring().Rotate(&nomad.KeyringRotateOptions{Full: true}, nil)
	must(err)
	wait.Until(t, "the first key encrypts nothing", func() bool {
		k := h.server.Store().Snapshot().RootKey(keys[0].KeyID)
		return k != nil && k.State == "inactive"
	})
	_, err = c.Keyring().Delete(&nomad.KeyringDeleteOptions{KeyID: keys[0].KeyID}, nil)
	must(err)
	if keys, _, err = c.Keyring().List(nil); err != nil || len(keys) != 1 || keys[0].KeyID != next.KeyID {
		t.Errorf("after the rotation: %v, %v", keys, err)
	}
}

// TestVariablesShowOnlyWhatTheCallerMayRead checks what answers contain: items are for readers, and ids
// of locks for writers.
func TestVariablesShowOnlyWhatTheCallerMayRead(t *testing.T) {
	const secret = "canary-77aa"
	h := newHarness(t, withUsers(t))
	manager, _ := h.user()
	h.policy("operators", `operator { policy = "write" }`)
	operator, _ := h.user("operators")
	user := func(capabilities string) peer {
		t.Helper()
		h.policy(strings.ReplaceAll(strings.ReplaceAll(capabilities, `", "`, "-"), `"`, ""), `namespace "default" {
  variables {
    path "shop/*" { capabilities = [`+capabilities+`] }
  }
}`)
		p, _ := h.user(strings.ReplaceAll(strings.ReplaceAll(capabilities, `", "`, "-"), `"`, ""))
		return p
	}
	ask := func(p peer, method, path, body string, want int) string {
		t.Helper()
		got := p.ask(t, h.handler, method, path, body)
		if got.status != want {
			t.Errorf("%s %s: %d, want %d: %s", method, path, got.status, want, got.body)
		}
		return got.body
	}
	ask(manager, http.MethodPut, "/v1/var/shop/db", `{"Items": {"password": "`+secret+`"}}`, 200)
	ask(manager, http.MethodPut, "/v1/var/other", `{"Items": {"password": "`+secret+`"}}`, 200)
	locked := ask(manager, http.MethodPut, "/v1/var/shop/lock?lock-acquire", `{"Items": {"password": "`+secret+`"}}`, 200)
	_, id, _ := strings.Cut(locked, `"ID":"`)
	id, _, _ = strings.Cut(id, `"`)
	first := h.server.Store().Snapshot().ActiveRootKey().KeyID
	ask(operator, http.MethodPut, "/v1/operator/keyring/rotate", "", 200)
	ask(operator, http.MethodDelete, "/v1/operator/keyring/key/"+first, "", 409)
	ask(operator, http.MethodDelete, "/v1/operator/keyring/key/"+first+"?force", "", 403) // it would delete variables
	reader, writer, lister, destroyer := user(`"read"`), user(`"write"`), user(`"list"`), user(`"destroy"`)
	if len(id) != 36 {
		t.Fatalf("the holder sees no id: %s", locked)
	}
	if body := ask(reader, http.MethodGet, "/v1/var/shop/db", "", 200); !strings.Contains(body, secret) {
		t.Errorf("a reader reads %s", body)
	}
	for what, body := range map[string]string{
		"a reader's lock":    ask(reader, http.MethodGet, "/v1/var/shop/lock", "", 200),
		"a reader's list":    ask(reader, http.MethodGet, "/v1/vars", "", 200),
		"a lister's list":    ask(lister, http.MethodGet, "/v1/vars?namespace=*", "", 200),
		"a list elsewhere":   ask(lister, http.MethodGet, "/v1/vars?prefix=other", "", 200),
		"a reader's refusal": ask(reader, http.MethodPut, "/v1/var/shop/lock", `{"Items": {"a": "b"}}`, 403),
	} {
		if strings.Contains(body, id) || strings.Contains(body, `"other"`) {
			t.Errorf("%s shows %s", what, body)
		}
	}
	for what, body := range map[string]string{
		"a writer's conflict": ask(writer, http.MethodPut, "/v1/var/shop/db?cas=1", `{"Items": {"a": "b"}}`, 409),
		"a writer's lock":     ask(writer, http.MethodPut, "/v1/var/shop/lock?lock-renew", `{"Lock": {"ID": "`+id+`"}}`, 200),
		"a writer's release":  ask(writer, http.MethodPut, "/v1/var/shop/lock?lock-release", `{"Lock": {"ID": "`+id+`"}}`, 200),
		"a writer's acquire":  ask(writer, http.MethodPut, "/v1/var/shop/db?lock-acquire", `{}`, 200),
		"a writer's read":     ask(writer, http.MethodGet, "/v1/var/shop/db", "", 403),
		"a lister's read":     ask(lister, http.MethodGet, "/v1/var/shop/db", "", 403),
		"a destroyer's":       ask(destroyer, http.MethodDelete, "/v1/var/shop/db?cas=1", "", 409),
		"an escaped path":     ask(reader, http.MethodGet, "/v1/var/shop%2F..%2Fother", "", 404),
		"a path with dots":    ask(reader, http.MethodGet, "/v1/var/other", "", 403),
		"all namespaces":      ask(reader, http.MethodGet, "/v1/var/shop/db?namespace=*", "", 403),
		"another namespace":   ask(writer, http.MethodPut, "/v1/var/shop/db", `{"Namespace": "dev", "Items": {"a": "b"}}`, 400),
		"another path":        ask(writer, http.MethodPut, "/v1/var/shop/db", `{"Path": "other", "Items": {"a": "b"}}`, 400),
		"two operations":      ask(writer, http.MethodPut, "/v1/var/shop/db?lock-acquire&lock-renew", `{}`, 400),
	} {
		if strings.Contains(body, secret) {
			t.Errorf("%s shows the secret: %s", what, body)
		}
	}
	for what, body := range map[string]string{
		"too large":    `{"Items": {"a": "` + strings.Repeat("x", 64<<10) + `"}}`,
		"no items":     `{"Items": {}}`,
		"an empty key": `{"Items": {"": "x"}}`,
	} {
		if got := ask(manager, http.MethodPut, "/v1/var/hostile", body, 400); len(got) > 1000 {
			t.Errorf("%s: an error of %d bytes", what, len(got))
		}
	}
	ask(manager, http.MethodPut, "/v1/var/hostile", `{"Items": {"a": "`+strings.Repeat(`\u0001`, 64<<10-1)+`"}}`, 200)
	ask(manager, http.MethodPut, "/v1/var/hostile?lock-acquire", `{"Lock": {"TTL": "1s"}}`, 400)
	ask(manager, http.MethodPut, "/v1/var/hostile?lock-acquire", `{"Lock": {"TTL": "-15s"}}`, 400)
	ask(manager, http.MethodPut, "/v1/var/hostile?lock-acquire", `{"Lock": {"LockDelay": "99999h"}}`, 400)
	ask(manager, http.MethodPut, "/v1/var/nomad/secret", `{"Items": {"a": "b"}}`, 400)
	ask(manager, http.MethodPut, "/v1/var/"+strings.Repeat("x", 129), `{"Items": {"a": "b"}}`, 400)
	ask(manager, http.MethodPut, "/v1/var/a%00b", `{"Items": {"a": "b"}}`, 400)
}
