// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var serviceSchema = &schema[api.Service]{
	noun: "service",
	oneOf: map[string][]string{
		"address_mode": {"auto", "alloc", "driver", "host"},
		"on_update":    {"require_healthy", "ignore_warnings", "ignore"},
		"provider":     {"nomad", "reeve", "consul"},
	},
	attrs: attrs[api.Service]{
		"name":                func(s *api.Service) any { return &s.Name },
		"tags":                func(s *api.Service) any { return &s.Tags },
		"canary_tags":         func(s *api.Service) any { return &s.CanaryTags },
		"enable_tag_override": func(s *api.Service) any { return &s.EnableTagOverride },
		"port":                func(s *api.Service) any { return &s.PortLabel },
		"address_mode":        func(s *api.Service) any { return &s.AddressMode },
		"address":             func(s *api.Service) any { return &s.Address },
		"task":                func(s *api.Service) any { return &s.TaskName },
		"on_update":           func(s *api.Service) any { return &s.OnUpdate },
		"provider":            func(s *api.Service) any { return &s.Provider },
		"cluster":             func(s *api.Service) any { return &s.Cluster },
		"kind":                func(s *api.Service) any { return &s.Kind },
	},
	blocks: blocks[api.Service]{
		"check":            many(checkSchema, func(s *api.Service) *[]*api.Check { return &s.Checks }),
		"check_restart":    one(checkRestartSchema, func(s *api.Service) **api.CheckRestart { return &s.CheckRestart }),
		"connect":          {single: true, block: readConnect},
		"meta":             texts(func(s *api.Service) *map[string]string { return &s.Meta }),
		"canary_meta":      texts(func(s *api.Service) *map[string]string { return &s.CanaryMeta }),
		"tagged_addresses": texts(func(s *api.Service) *map[string]string { return &s.TaggedAddresses }),
		"identity":         one(identitySchema, func(s *api.Service) **api.Identity { return &s.Identity }),
		"weights":          one(weightsSchema, func(s *api.Service) **api.ServiceWeights { return &s.Weights }),
	},
}

var checkSchema = &schema[api.Check]{
	noun: "check",
	oneOf: map[string][]string{
		"type":           {api.CheckHTTP, api.CheckTCP, api.CheckGRPC, api.CheckScript},
		"protocol":       {"http", "https"},
		"address_mode":   {"alloc", "driver", "host"},
		"initial_status": {"passing", "warning", "critical"},
		"on_update":      {"require_healthy", "ignore_warnings", "ignore"},
		"kind":           {api.CheckKindLiveness, api.CheckKindReadiness},
	},
	attrs: attrs[api.Check]{
		"name":                     func(c *api.Check) any { return &c.Name },
		"type":                     func(c *api.Check) any { return &c.Type },
		"command":                  func(c *api.Check) any { return &c.Command },
		"args":                     func(c *api.Check) any { return &c.Args },
		"path":                     func(c *api.Check) any { return &c.Path },
		"protocol":                 func(c *api.Check) any { return &c.Protocol },
		"port":                     func(c *api.Check) any { return &c.PortLabel },
		"expose":                   func(c *api.Check) any { return &c.Expose },
		"address_mode":             func(c *api.Check) any { return &c.AddressMode },
		"advertise":                func(c *api.Check) any { return &c.Advertise },
		"interval":                 func(c *api.Check) any { return &c.Interval },
		"timeout":                  func(c *api.Check) any { return &c.Timeout },
		"initial_status":           func(c *api.Check) any { return &c.InitialStatus },
		"notes":                    func(c *api.Check) any { return &c.Notes },
		"tls_server_name":          func(c *api.Check) any { return &c.TLSServerName },
		"tls_skip_verify":          func(c *api.Check) any { return &c.TLSSkipVerify },
		"method":                   func(c *api.Check) any { return &c.Method },
		"grpc_service":             func(c *api.Check) any { return &c.GRPCService },
		"grpc_use_tls":             func(c *api.Check) any { return &c.GRPCUseTLS },
		"task":                     func(c *api.Check) any { return &c.TaskName },
		"success_before_passing":   func(c *api.Check) any { return &c.SuccessBeforePassing },
		"failures_before_critical": func(c *api.Check) any { return &c.FailuresBeforeCritical },
		"failures_before_warning":  func(c *api.Check) any { return &c.FailuresBeforeWarning },
		"body":                     func(c *api.Check) any { return &c.Body },
		"on_update":                func(c *api.Check) any { return &c.OnUpdate },
		"kind":                     func(c *api.Check) any { return &c.Kind },
		"initial_delay":            func(c *api.Check) any { return &c.InitialDelay },
		"start_timeout":            func(c *api.Check) any { return &c.StartTimeout },
	},
	blocks: blocks[api.Check]{
		"header":        textLists(func(c *api.Check) *map[string][]string { return &c.Header }),
		"check_restart": one(checkRestartSchema, func(c *api.Check) **api.CheckRestart { return &c.CheckRestart }),
	},
}

var checkRestartSchema = &schema[api.CheckRestart]{
	noun: "check_restart",
	attrs: attrs[api.CheckRestart]{
		"limit":           func(c *api.CheckRestart) any { return &c.Limit },
		"grace":           func(c *api.CheckRestart) any { return &c.Grace },
		"ignore_warnings": func(c *api.CheckRestart) any { return &c.IgnoreWarnings },
	},
}

var weightsSchema = &schema[api.ServiceWeights]{
	noun: "weights",
	attrs: attrs[api.ServiceWeights]{
		"passing": func(w *api.ServiceWeights) any { return &w.Passing },
		"warning": func(w *api.ServiceWeights) any { return &w.Warning },
	},
}
