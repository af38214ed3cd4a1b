listen {{ env "NOMAD_ADDR_http" }}
