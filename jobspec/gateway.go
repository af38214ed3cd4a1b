// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

// gatewayShape is the schema of connect.gateway, which is parsed only to be rejected by name.
var gatewayShape = &shape{
	noun: "gateway",
	one: map[string]part{
		"proxy": {"Proxy", &shape{
			noun:     "proxy",
			attrs:    pascal("envoy_gateway_bind_tagged_addresses", "envoy_gateway_no_default_bind", "envoy_dns_discovery_type"),
			times:    pascal("connect_timeout"),
			texts:    pascal("config"),
			labelled: map[string]part{"envoy_gateway_bind_addresses": {"EnvoyGatewayBindAddresses", &shape{noun: "envoy_gateway_bind_addresses", attrs: pascal("address", "port")}}},
		}},
		"ingress": {"Ingress", &shape{
			noun: "ingress",
			one:  map[string]part{"tls": {"TLS", gatewayTLSShape}},
			many: map[string]part{"listener": {"Listeners", &shape{
				noun:  "listener",
				attrs: pascal("port", "protocol"),
				many:  map[string]part{"service": {"Services", ingressServiceShape}},
			}}},
		}},
		"terminating": {"Terminating", &shape{
			noun: "terminating",
			many: map[string]part{"service": {"Services", &shape{noun: "service", attrs: map[string]string{
				"name": "Name", "ca_file": "CAFile", "cert_file": "CertFile", "key_file": "KeyFile", "sni": "SNI"}}}},
		}},
		"mesh": {"Mesh", &shape{noun: "mesh"}},
	},
}

var gatewayTLSShape = &shape{
	noun:  "tls",
	attrs: pascal("enabled", "tls_min_version", "tls_max_version", "cipher_suites"),
	one:   map[string]part{"sds": {"SDS", &shape{noun: "sds", attrs: pascal("cluster_name", "cert_resource")}}},
}

var ingressServiceShape = &shape{
	noun:  "service",
	attrs: pascal("name", "hosts", "max_connections", "max_pending_requests", "max_concurrent_requests"),
	one: map[string]part{
		"tls":              {"TLS", gatewayTLSShape},
		"request_headers":  {"RequestHeaders", headerModifiersShape},
		"response_headers": {"ResponseHeaders", headerModifiersShape},
	},
}

var headerModifiersShape = &shape{noun: "headers", attrs: pascal("remove"), texts: pascal("add", "set")}
