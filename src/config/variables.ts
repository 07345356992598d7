import type { ServiceVariable } from './env.js'

/**
 * Lists every environment variable that a process or the command line reads; OPERATIONS.md shows the list.
 * Values are validated where they are read.
 */
export type Reader = 'service' | 'identity provider' | 'quorum signer' | 'command line'

interface Said {
  /** The default as written in an environment, a description when it is computed, or null. */
  readonly usual: string | { readonly computed: string } | null
  readonly meaning: string
}

export interface Variable extends Said {
  readonly name: string
  readonly readers: readonly Reader[]
}

const PROCESSES: readonly Reader[] = ['service', 'identity provider', 'quorum signer']

/** The service alone, unless it says otherwise; then those of the others. */
const OF_SERVICE: Readonly<
  Record<ServiceVariable, Said & { readonly readers?: readonly Reader[] }>
> = {
  COUNTERSIGN_HOME: {
    readers: [...PROCESSES, 'command line'],
    usual: './.countersign',
    meaning: 'directory of all data, the same for all three',
  },
  COUNTERSIGN_MODE: {
    readers: [...PROCESSES, 'command line'],
    usual: 'live',
    meaning:
      "`live` or `dev`: each refuses the other's keys; `dev` allows keys in files, its own list and webhooks to this machine",
  },
  COUNTERSIGN_ALLOW_FILE_KEYS: {
    readers: PROCESSES,
    usual: null,
    meaning:
      '`1` allows P-256 and wrapping keys in files in live mode; files can be copied, so only for a trial',
  },
  COUNTERSIGN_DISK_FREE_MIN_MIB: {
    readers: ['service', 'identity provider'],
    usual: '256',
    meaning: 'MiB of free disk below which nothing new is written or approved',
  },
  PORT: {
    usual: '8080',
    meaning: 'port of the API; 0 picks a free one',
  },
  HOST: {
    usual: '127.0.0.1',
    meaning: 'address that the API and metrics listen on',
  },
  METRICS_PORT: {
    usual: null,
    meaning: 'port of Prometheus metrics; no proxy may serve it; unset: no metrics',
  },
  COUNTERSIGN_MCP_SUB_KEYS: {
    usual: 'off',
    meaning: '`on` gives agents with `may_delegate` an MCP tool that makes keys',
  },
  COUNTERSIGN_PUBLIC_HOSTS: {
    usual: null,
    meaning:
      'host names by which MCP clients may reach the service, separated by commas; unset: only loopback',
  },
  COUNTERSIGN_TRUSTED_PROXIES: {
    readers: ['service', 'identity provider'],
    usual: null,
    meaning:
      'addresses and networks (`192.0.2.0/24`) of proxies whose `X-Forwarded-For` counts, separated by commas; unset: none, except loopback for a login with a public address',
  },
  IDENTITY_ISSUER: {
    usual: null,
    meaning: 'issuer of console tokens; unset: every console token is refused',
  },
  IDENTITY_JWKS_URL: {
    usual: { computed: '`/jwks` below the issuer' },
    meaning: "address of that issuer's keys, if this machine needs another one",
  },
  COUNTERSIGN_LOG_LEVEL: {
    usual: 'info',
    meaning:
      '`fatal`, `error`, `warn`, `info` (one line per step of a transaction), `debug`, `trace` or `silent`',
  },
  COUNTERSIGN_WORKERS: {
    usual: { computed: 'cores − 3, 1 to 16' },
    meaning: 'threads that run the wallets',
  },
  COUNTERSIGN_RATE_PER_SECOND: {
    usual: '200',
    meaning:
      'requests per second of a key with its sub-keys, and of a console user; five times as many at once',
  },
  COUNTERSIGN_EVENTS_PER_SECOND: {
    usual: '1000',
    meaning: "events per second that each thread delivers to a user's webhooks",
  },
  COUNTERSIGN_RETAIN_DELIVERIES_DAYS: {
    usual: '30',
    meaning: 'days to keep finished webhook deliveries, or `forever`',
  },
  COUNTERSIGN_RETAIN_EVENTS_DAYS: {
    usual: 'forever',
    meaning: 'days to keep events, or `forever`',
  },
  COUNTERSIGN_RETAIN_AUDIT_DAYS: {
    usual: 'forever',
    meaning: 'days to keep the audit trail, or `forever`',
  },
  COUNTERSIGN_UNDELEGATE_HOURS: {
    usual: 'never',
    meaning: 'hours without a sponsored call after which an account ends its delegation',
  },
  COUNTERSIGN_GAS_WALLET_DAY_USD: {
    usual: '250',
    meaning: 'most US dollars of gas that the service pays for one sub-wallet in a UTC day',
  },
  COUNTERSIGN_GAS_USER_DAY_USD: {
    usual: '1000',
    meaning: 'the same for all sub-wallets of a user',
  },
  COUNTERSIGN_OTEL_ENDPOINT: {
    usual: null,
    meaning: 'OTLP/HTTP collector for traces, without `/v1/traces`; unset: no traces',
  },
  COUNTERSIGN_SMTP_FILE: {
    usual: null,
    meaning: 'file with the mail server that sends people their alerts; unset: no mail',
  },
  COUNTERSIGN_IDENTITY_LINK_FILE: {
    readers: ['service', 'command line'],
    usual: null,
    meaning:
      'file with the TLS link to an identity provider on another machine; unset: its socket in the home',
  },
  COUNTERSIGN_JOURNAL_FILE: {
    readers: ['service', 'command line'],
    usual: null,
    meaning:
      'file with the Postgres or Restate that stores each commit before it counts; unset: no journal',
  },
  COUNTERSIGN_JOURNAL_ROLE: {
    usual: 'owner',
    meaning:
      '`owner` becomes the leader at its start; `standby` follows, and takes over when the leader is silent or ends',
  },
  COUNTERSIGN_NODE_LINK_FILE: {
    usual: null,
    meaning:
      'file with the TLS link between nodes; unset: a standby answers only `/healthz` and `/readyz`',
  },
  COUNTERSIGN_JOURNAL_TAIL_MIB: {
    usual: '256',
    meaning:
      'MiB of entries, if also half of the last snapshot, after which the next one is made and older entries are removed',
  },
  COUNTERSIGN_QUOTA_WALLETS: {
    usual: '10000',
    meaning: 'sub-wallets of a user',
  },
  COUNTERSIGN_QUOTA_KEYS: {
    usual: '20000',
    meaning: 'keys in use of a user',
  },
  COUNTERSIGN_QUOTA_WEBHOOKS: {
    usual: '100',
    meaning: 'webhook endpoints of a user',
  },
  COUNTERSIGN_QUOTA_ADDRESS_RULES: {
    usual: '1000',
    meaning: 'address rules of a user',
  },
}

const OF_OTHERS: Readonly<Record<string, Omit<Variable, 'name'>>> = {
  COUNTERSIGN_SOCKET_GROUP: {
    readers: ['identity provider', 'quorum signer'],
    usual: null,
    meaning: 'group, by name or number, that may connect to this socket besides its owner',
  },
  IDENTITY_PORT: {
    readers: ['identity provider'],
    usual: '3100',
    meaning: 'port of the login, on loopback; 0 picks a free one',
  },
  IDENTITY_METRICS_PORT: {
    readers: ['identity provider'],
    usual: null,
    meaning: 'port of its `/metrics`, on loopback; unset: no metrics',
  },
  IDENTITY_LINK_FILE: {
    readers: ['identity provider'],
    usual: null,
    meaning:
      'file with the address and certificate for wallet services on other machines; unset: only its socket',
  },
  IDENTITY_JOURNAL_FILE: {
    readers: ['identity provider', 'command line'],
    usual: null,
    meaning:
      "file with the identity provider's own Postgres or Restate, which lets a standby take over; unset: no journal",
  },
  IDENTITY_JOURNAL_ROLE: {
    readers: ['identity provider'],
    usual: 'owner',
    meaning: 'as COUNTERSIGN_JOURNAL_ROLE',
  },
  IDENTITY_PUBLIC_ISSUER: {
    readers: ['identity provider'],
    usual: { computed: 'its own address' },
    meaning: 'address of the login for browsers behind a proxy',
  },
  CONSOLE_REDIRECT_URIS: {
    readers: ['identity provider'],
    usual: { computed: 'loopback, any port' },
    meaning: 'https addresses to which the login returns a browser, separated by commas',
  },
  CONSOLE_ISSUER: {
    readers: ['identity provider'],
    usual: null,
    meaning: 'your own OIDC provider that signs users in; with CONSOLE_JWKS_FILE',
  },
  CONSOLE_JWKS_FILE: {
    readers: ['identity provider'],
    usual: null,
    meaning: "file with that provider's public keys, which are pinned",
  },
  COUNTERSIGN_URL: {
    readers: ['command line'],
    usual: { computed: 'from `login`' },
    meaning: 'address of the service',
  },
  COUNTERSIGN_API_KEY: {
    readers: ['command line'],
    usual: null,
    meaning: "an agent's API key, a secret",
  },
  COUNTERSIGN_TOKEN: {
    readers: ['command line'],
    usual: { computed: 'from `login`' },
    meaning: 'a console token, a secret',
  },
  COUNTERSIGN_ISSUER: {
    readers: ['command line'],
    usual: { computed: 'from `login`' },
    meaning: 'address of the login',
  },
  COUNTERSIGN_AUTHORIZER_PASSPHRASE: {
    readers: ['command line'],
    usual: null,
    meaning: "seals the approver's key on the user's machine, a secret",
  },
  COUNTERSIGN_CHANNEL_URL: {
    readers: ['command line'],
    usual: null,
    meaning: 'address of an alert channel, a secret',
  },
  COUNTERSIGN_CHANNEL_TOKEN: {
    readers: ['command line'],
    usual: null,
    meaning: 'token of an alert channel, a secret',
  },
  XDG_CONFIG_HOME: {
    readers: ['command line'],
    usual: { computed: '`$HOME/.config`' },
    meaning: "where logins and approvers' keys are kept",
  },
  HOME: {
    readers: ['command line'],
    usual: null,
    meaning: 'used if XDG_CONFIG_HOME is unset',
  },
}

export const VARIABLES: readonly Variable[] = [
  ...Object.entries(OF_SERVICE).map(([name, said]) => ({
    ...{ name, readers: ['service'] as const },
    ...said,
  })),
  ...Object.entries(OF_OTHERS).map(([name, said]) => ({ name, ...said })),
]
