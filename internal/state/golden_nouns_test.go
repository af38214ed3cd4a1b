// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// objectCommands are commands of declared nouns, by the name of the golden file.
func objectCommands() map[string]Command {
	return map[string]Command{
		"PutNamespace": PutNamespace(&api.Namespace{
			Name: "dev", Description: "for developers", Meta: map[string]string{"team": "web"},
			Capabilities: &api.NamespaceCapabilities{EnabledTaskDrivers: []string{"exec"}, DisabledNetworkModes: []string{"host"}},
		}, ptr(uint64(3))),
		"DeleteNamespace": DeleteNamespace("dev", nil),
		"PutAutopilot": PutAutopilot(&api.AutopilotConfig{
			LastContactThreshold: 300 * time.Millisecond, MaxTrailingLogs: 500, MinQuorum: 3, ServerStabilizationTime: time.Minute,
		}, ptr(uint64(4))),
		"PutRenewal":         PutRenewal(goldenRenewal()),
		"DeleteRenewal":      DeleteRenewal("5f3e"),
		"PutACLPolicy":       PutACLPolicy(goldenPolicy()),
		"DeleteACLPolicy":    DeleteACLPolicy("readers"),
		"PutACLRole":         PutACLRole(goldenRole(), ptr(uint64(0))),
		"DeleteACLRole":      DeleteACLRole("77777777-0000-4000-8000-000000000007"),
		"PutACLToken":        PutACLToken(goldenACLToken(), ptr(uint64(0))),
		"DeleteACLToken":     DeleteACLToken("88888888-0000-4000-8000-000000000008"),
		"PutOneTimeToken":    PutOneTimeToken(goldenOneTimeToken()),
		"DeleteOneTimeToken": DeleteOneTimeToken("88888888-0000-4000-8000-000000000008", 9),
		"PutQuota":           PutQuota(goldenQuota(), ptr(uint64(0))),
		"DeleteQuota":        DeleteQuota("team"),
		"PutAuthMethod":      PutAuthMethod(goldenAuthMethod(), ptr(uint64(0))),
		"DeleteAuthMethod":   DeleteAuthMethod("sso"),
		"PutBindingRule":     PutBindingRule(goldenBindingRule(), ptr(uint64(3))),
		"DeleteBindingRule":  DeleteBindingRule("99999999-0000-4000-8000-000000000009"),
		"PutVariable":        PutVariable(goldenVariable(), 0),
		"DeleteVariable":     DeleteVariable("default", "shop/db", 8),
		"PutRootKey":         PutRootKey(goldenRootKey(), 0),
		"DeleteRootKey":      DeleteRootKey("99999999-0000-4000-8000-000000000009", 7),
		"PutRecoveryKey":     PutRecoveryKey(goldenRecoveryKey(), 0),
		"PutIntroduction":    PutIntroduction(goldenIntroduction()),
		"DeleteIntroduction": DeleteIntroduction("5f3e"),
		"PutHostVolume":      PutHostVolume(goldenHostVolume(), 0),
		"DeleteHostVolume":   DeleteHostVolume(goldenHostVolume().ID),
		"DeleteVolumeClaim":  DeleteVolumeClaim("77777777-0000-4000-8000-000000000007"),
		"ReportVolumes":      goldenVolumeReport(),
		"PutImagePin":        &putObject[api.ImagePin]{imagePins, goldenImagePin(), nil},
		"PinImage":           goldenPinImage(),
		"RaiseLevel":         &RaiseLevel{Level: 2, Version: "0.2.0"},
		"PutServer":          PutServer(goldenServer(), ptr(uint64(0))),
		"PutTrust":           PutTrust(goldenTrust(), ptr(uint64(9))),
		"RevokeMember":       &RevokeMember{ID: "0b9c", Member: "db-3", Reason: "removed by an operator", Time: 1_790_000_000_000_000_000},
	}
}

// namespaceStore holds what the format learned to hold with namespaces.
func namespaceStore(t testing.TB) *Store {
	s := New()
	job := testJob("web")
	job.Namespace = "dev/sandbox"
	for i, c := range []Command{
		PutNamespace(&api.Namespace{Name: "default", Description: "changed"}, nil),
		PutNamespace(&api.Namespace{
			Name: "dev", Description: "for developers", Meta: map[string]string{"team": "web"},
			Capabilities: &api.NamespaceCapabilities{EnabledTaskDrivers: []string{"exec"}, DisabledNetworkModes: []string{"host"}},
		}, nil),
		PutNamespace(&api.Namespace{Name: "dev/sandbox"}, ptr(uint64(0))),
		&RegisterJob{Job: job},
	} {
		must(t, s.Apply(uint64(5+i), []Command{c}))
	}
	return s
}

func goldenServer() *api.Server {
	return &api.Server{
		ID: "5f3e", Name: "one", Address: "10.0.0.1:4646", Version: "0.1.0", Region: "global", Datacenter: "dc1",
		Joined: 1_790_000_000_000_000_000, Expires: 1_797_776_000_000_000_000, SealKey: []byte{1, 2}, SealedKey: []byte{3, 4},
	}
}

func goldenTrust() *Trust {
	return &Trust{
		ClusterID: "c1", Roots: "-----BEGIN CERTIFICATE-----", CAKey: []byte{5},
		Tokens: map[string][]byte{"node": {6}, "server": {7}}, Operators: [][]byte{{8}},
	}
}

// membersStore holds what the format learned to hold with servers that trust each other.
func membersStore(t testing.TB) *Store {
	s := New()
	for i, c := range []Command{
		PutTrust(goldenTrust(), ptr(uint64(0))),
		PutServer(goldenServer(), ptr(uint64(0))),
		&RevokeMember{ID: "0b9c", Member: "db-3", Reason: "removed by an operator", Time: 1_790_000_000_000_000_000},
	} {
		must(t, s.Apply(uint64(5+i), []Command{c}))
	}
	return s
}

func goldenRenewal() *Renewal {
	return &Renewal{ID: "5f3e", Root: "18idunfozx", Time: 1_790_000_000_000_000_000}
}

// rotationStore holds what the format learned to hold with rotations of the root.
func rotationStore(t testing.TB) *Store {
	s := New()
	trust := goldenTrust()
	trust.CrossSigned, trust.Rotated = "-----BEGIN CERTIFICATE-----", 1_790_000_000_000_000_000
	must(t, s.Apply(5, []Command{PutTrust(trust, ptr(uint64(0)))}))
	must(t, s.Apply(6, []Command{PutRenewal(goldenRenewal())}))
	return s
}

func goldenIntroduction() *Introduction {
	return &Introduction{
		NodeID: "5f3e", Key: []byte{1, 2}, Once: true,
		NodeIntroduction: api.NodeIntroduction{TokenID: "00ff", NodePool: "edge", NodeName: "edge-7", Time: 1_790_000_000_000_000_000},
	}
}

// introductionStore holds what the format learned to hold with introductions of nodes.
func introductionStore(t testing.TB) *Store {
	s := New()
	must(t, s.Apply(5, []Command{PutIntroduction(goldenIntroduction())}))
	must(t, s.Apply(6, []Command{&RegisterNode{Node: &api.Node{ID: "5f3e", Name: "edge-7", NodePool: "edge"}}}))
	return s
}

// autopilotStore holds what the format learned to hold with autopilot's configuration.
func autopilotStore(t testing.TB) *Store {
	s := New()
	must(t, s.Apply(5, []Command{PutAutopilot(&api.AutopilotConfig{
		LastContactThreshold: 300 * time.Millisecond, MaxTrailingLogs: 500, MinQuorum: 3, ServerStabilizationTime: time.Minute,
	}, nil)}))
	return s
}

// levelStore holds what the format learned to hold with feature levels.
func levelStore(t testing.TB) *Store {
	s := New()
	must(t, s.Apply(5, []Command{&RaiseLevel{Level: 2, Version: "0.2.0"}}))
	return s
}

func goldenPolicy() *api.ACLPolicy {
	return &api.ACLPolicy{Name: "readers", Description: "who may look", Rules: `namespace "*" { policy = "read" }`}
}

func goldenRole() *api.ACLRole {
	return &api.ACLRole{ID: "77777777-0000-4000-8000-000000000007", Name: "support", Description: "on call", Policies: []*api.ACLRolePolicyLink{{Name: "readers"}}}
}

func goldenACLToken() *ACLToken {
	expires := time.Unix(1_790_000_060, 0).UTC()
	return &ACLToken{Hash: []byte{1, 2, 3}, ACLToken: api.ACLToken{
		AccessorID: "88888888-0000-4000-8000-000000000008", Name: "ana", Type: api.ACLTokenClient, Policies: []string{"readers"},
		Roles:      []*api.ACLTokenRoleLink{{ID: "77777777-0000-4000-8000-000000000007", Name: "support"}},
		CreateTime: time.Unix(1_790_000_000, 0).UTC(), ExpirationTime: &expires,
	}}
}

// accessStore holds what the format learned to hold with policies, roles and tokens.
func accessStore(t testing.TB) *Store {
	s := New()
	for i, c := range []Command{PutACLPolicy(goldenPolicy()), PutACLRole(goldenRole(), nil), PutACLToken(goldenACLToken(), nil)} {
		must(t, s.Apply(uint64(5+i), []Command{c}))
	}
	return s
}

func goldenOneTimeToken() *OneTimeToken {
	return &OneTimeToken{Hash: []byte{4, 5, 6}, OneTimeToken: api.OneTimeToken{
		AccessorID: "88888888-0000-4000-8000-000000000008", ExpiresAt: time.Unix(1_790_000_600, 0).UTC(),
	}}
}

// oneTimeStore holds what the format learned to hold with one-time tokens.
func oneTimeStore(t testing.TB) *Store {
	s := accessStore(t)
	token := goldenACLToken()
	token.Further = [][]byte{{7, 8, 9}}
	for i, c := range []Command{PutACLToken(token, nil), PutOneTimeToken(goldenOneTimeToken())} {
		must(t, s.Apply(uint64(8+i), []Command{c}))
	}
	return s
}

func goldenAuthMethod() *AuthMethod {
	return &AuthMethod{Secret: []byte{1, 2, 3}, Method: api.ACLAuthMethod{
		Name: "sso", Type: api.ACLAuthMethodOIDC, TokenLocality: api.ACLTokenLocal, TokenNameFormat: "${value.user}", MaxTokenTTL: time.Hour, Default: true,
		Config: &api.ACLAuthMethodConfig{
			OIDCDiscoveryURL: "https://accounts.example.com", OIDCClientID: "reeve", AllowedRedirectURIs: []string{"http://localhost:4649/oidc/callback"},
			ClockSkewLeeway: time.Minute, ClaimMappings: map[string]string{"email": "user"}, ListClaimMappings: map[string]string{"groups": "groups"},
		},
		CreateTime: time.Unix(1_790_000_000, 0).UTC(), ModifyTime: time.Unix(1_790_000_060, 0).UTC(),
	}}
}

func goldenBindingRule() *api.ACLBindingRule {
	return &api.ACLBindingRule{
		ID: "99999999-0000-4000-8000-000000000009", Description: "on call", AuthMethod: "sso", Selector: `"ops" in list.groups`,
		BindType: api.ACLBindRole, BindName: "support", CreateTime: time.Unix(1_790_000_000, 0).UTC(), ModifyTime: time.Unix(1_790_000_060, 0).UTC(),
	}
}

// loginStore holds what the format learned to hold with auth methods.
func loginStore(t testing.TB) *Store {
	s := New()
	for i, c := range []Command{PutAuthMethod(goldenAuthMethod(), nil), PutBindingRule(goldenBindingRule(), nil)} {
		must(t, s.Apply(uint64(5+i), []Command{c}))
	}
	return s
}
