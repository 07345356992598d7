/**
 * Samples of the proxy in front that ends TLS. Bodies and times are bounded slightly above what the
 * service itself accepts, so that its own answers reach clients.
 */
interface ProxyHosts {
  readonly serviceHost: string
  readonly servicePort: string
  readonly identityHost: string
  readonly identityPort: string
}

export function caddyfile(hosts: ProxyHosts): string {
  return `# Caddy 2. Sets X-Forwarded-For, -Proto and -Host itself, and takes none from clients.
${hosts.serviceHost} {
	request_body {
		# The service takes 256 KiB and answers what is longer itself.
		max_size 512KB
	}
	reverse_proxy 127.0.0.1:${hosts.servicePort} {
		# MCP streams events.
		flush_interval -1
		transport http {
			response_header_timeout 60s
			keepalive 30s
		}
	}
}

${hosts.identityHost} {
	request_body {
		max_size 64KB
	}
	reverse_proxy 127.0.0.1:${hosts.identityPort} {
		transport http {
			response_header_timeout 30s
			keepalive 3s
		}
	}
}
`
}

export function nginxConfig(hosts: ProxyHosts): string {
  return `# nginx 1.25 or later, in http {}. Certificates are yours to name.
limit_conn_zone $binary_remote_addr zone=countersign:10m;

server {
    listen 443 ssl;
    http2 on;
    server_name ${hosts.serviceHost};
    ssl_certificate     /etc/ssl/countersign/${hosts.serviceHost}.pem;
    ssl_certificate_key /etc/ssl/countersign/${hosts.serviceHost}.key;
    ssl_protocols TLSv1.2 TLSv1.3;

    # The service takes 256 KiB and answers what is longer itself.
    client_max_body_size 512k;
    client_body_timeout 15s;
    client_header_timeout 15s;
    limit_conn countersign 256;

    location / {
        proxy_pass http://127.0.0.1:${hosts.servicePort};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
        # The service counts failed tokens and keys by this address (COUNTERSIGN_TRUSTED_PROXIES).
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto https;
        # MCP streams events.
        proxy_buffering off;
        proxy_read_timeout 60s;
        # A send that was not answered may have happened: nobody but the caller repeats it.
        proxy_next_upstream off;
    }
}

server {
    listen 443 ssl;
    http2 on;
    server_name ${hosts.identityHost};
    ssl_certificate     /etc/ssl/countersign/${hosts.identityHost}.pem;
    ssl_certificate_key /etc/ssl/countersign/${hosts.identityHost}.key;
    ssl_protocols TLSv1.2 TLSv1.3;

    client_max_body_size 64k;
    # A grant with a large policy is confirmed at an address that holds all of it.
    large_client_header_buffers 4 32k;
    client_body_timeout 15s;
    client_header_timeout 15s;
    limit_conn countersign 32;

    location / {
        proxy_pass http://127.0.0.1:${hosts.identityPort};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
        # The login counts wrong passwords by this address.
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto https;
        proxy_set_header X-Forwarded-Host $host;
        proxy_read_timeout 30s;
    }
}
`
}
