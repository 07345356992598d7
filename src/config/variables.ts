import type { ServiceVariable } from './env.js'

/**
 * Every variable of the environment that a process or the command line reads, in words: what
 * OPERATIONS.md lists. What a value may be is judged where it is read.
 */
export type Reader = 'service' | 'identity provider' | 'quorum signer' | 'command line'

interface Said {
  /** As one would write it; in words where it is computed; null: nothing. */
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
    meaning: 'directory of all data; the same for all three',
  },
  COUNTERSIGN_MODE: {
    readers: [...PROCESSES, 'command line'],
    usual: 'live',
    meaning:
      '`live` or `dev`: keys of the other one are refused, and `dev` takes keys from files, a list of its own and webhooks to this machine',
  },
  COUNTERSIGN_ALLOW_FILE_KEYS: {
    readers: PROCESSES,
    usual: null,
    meaning:
      '`1`: P-256 keys and wrapping keys may lie in files in live mode; they can be copied, so for a trial',
  },
  COUNTERSIGN_DISK_FREE_MIN_MIB: {
    readers: ['service', 'identity provider'],
    usual: '256',
    meaning: 'MiB free on the disk below which nothing new is written or approved',
  },
  CONSOLE_AUDIENCE: {
    readers: ['service', 'identity provider'],
    usual: 'urn:countersign:console',
    meaning: 'expected in `aud` of console tokens; the same for both',
  },
  PORT: {
    usual: '8080',
    meaning: 'of the API; 0 picks a free one',
  },
  HOST: {
    usual: '127.0.0.1',
    meaning: 'address that the API and metrics listen on',
  },
  METRICS_PORT: {
    usual: null,
    meaning: 'of Prometheus metrics, on an address that no proxy serves',
  },
  COUNTERSIGN_MCP_SUB_KEYS: {
    usual: 'off',
    meaning: '`on`: agents with `may_delegate` have a tool to make keys, beside REST',
  },
  COUNTERSIGN_PUBLIC_HOSTS: {
    usual: null,
    meaning:
      'host names by which MCP clients may reach the service, separated by commas; unset: loopback alone',
  },
  COUNTERSIGN_TRUSTED_PROXIES: {
    readers: ['service', 'identity provider'],
    usual: null,
    meaning:
      'addresses and networks (`192.0.2.0/24`) of proxies whose `X-Forwarded-For` says who calls, separated by commas; unset: nobody, and all callers of a proxy share its limits by address (the login believes loopback all the same where it is public)',
  },
  IDENTITY_ISSUER: {
    usual: null,
    meaning: 'issuer of console tokens; unset: every console token is refused',
  },
  IDENTITY_JWKS_URL: {
    usual: { computed: '`/jwks` below the issuer' },
    meaning: 'where the keys of that issuer are, where this machine reaches them another way',
  },
  COUNTERSIGN_LOG_LEVEL: {
    usual: 'info',
    meaning:
      '`fatal`, `error`, `warn`, `info` (a line for each step of each transaction), `debug`, `trace` or `silent`',
  },
  COUNTERSIGN_HTTP_ADAPTER: {
    usual: 'auto',
    meaning: '`native` (uWebSockets.js), `node` (`node:http`), or what there is',
  },
  COUNTERSIGN_WORKERS: {
    usual: { computed: 'cores less 3, 1 to 16' },
    meaning: 'threads that run the wallets',
  },
  COUNTERSIGN_RATE_PER_SECOND: {
    usual: '200',
    meaning: 'requests a second of each key with those made below it, and of each console user',
  },
  COUNTERSIGN_RATE_BURST: {
    usual: '1000',
    meaning: 'requests at once of each key with those made below it, and of each console user',
  },
  COUNTERSIGN_IN_FLIGHT_MAX: {
    usual: '10000',
    meaning: 'requests at work; more are answered `OVERLOADED`',
  },
  COUNTERSIGN_WRITES_IN_FLIGHT_MAX: {
    usual: '1024',
    meaning:
      'calls that move value, at work or waiting, shared out among users; more are answered `OVERLOADED`',
  },
  COUNTERSIGN_EVENTS_PER_SECOND: {
    usual: '1000',
    meaning: "events that a user's webhooks are told of a second, by each thread",
  },
  COUNTERSIGN_RETAIN_DELIVERIES_DAYS: {
    usual: '30',
    meaning: 'days that finished deliveries of webhooks are kept, or `forever`',
  },
  COUNTERSIGN_RETAIN_EVENTS_DAYS: {
    usual: 'forever',
    meaning: 'days that events are kept, or `forever`',
  },
  COUNTERSIGN_RETAIN_AUDIT_DAYS: {
    usual: 'forever',
    meaning: 'days that the audit trail is kept, or `forever`',
  },
  COUNTERSIGN_RETENTION_MINUTES: {
    usual: '60',
    meaning: 'between two passes that remove what is kept no longer',
  },
  COUNTERSIGN_UNDELEGATE_HOURS: {
    usual: 'never',
    meaning:
      'hours without a sponsored call after which an account ends its delegation, so that it may send several transactions at a time again',
  },
  COUNTERSIGN_OTEL_ENDPOINT: {
    usual: null,
    meaning:
      'collector that traces are sent to, by OTLP/HTTP, without `/v1/traces`; unset: there are none',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    usual: null,
    meaning: 'the same, where that is unset',
  },
  COUNTERSIGN_SMTP_FILE: {
    usual: null,
    meaning: 'file that says by which mail server people are told of events; unset: no mail',
  },
  COUNTERSIGN_IDENTITY_LINK_FILE: {
    readers: ['service', 'command line'],
    usual: null,
    meaning:
      'file that says how the identity provider of another machine is reached, by TLS with certificates of both sides; unset: by its socket in the home',
  },
  COUNTERSIGN_JOURNAL_FILE: {
    readers: ['service', 'command line'],
    usual: null,
    meaning:
      'file that says which Postgres or Restate commits are stored in before they count, so that a lost store comes back; unset: none',
  },
  COUNTERSIGN_JOURNAL_ROLE: {
    usual: 'owner',
    meaning:
      'of a service with a journal: `owner` takes it at its start; `standby` follows it and takes it over when its owner is silent or ends',
  },
  COUNTERSIGN_NODE_LINK_FILE: {
    usual: null,
    meaning:
      'file that says how the nodes of a journal reach each other, by TLS with certificates of both sides: a standby then passes requests on to the owner; unset: a standby answers `/healthz` and `/readyz` alone',
  },
  COUNTERSIGN_JOURNAL_TAIL_MIB: {
    usual: '256',
    meaning:
      'of entries that a journal has after the last snapshot of the store: with more, and half of what the snapshot has, the next is made and those before it are removed',
  },
  COUNTERSIGN_QUOTA_WALLETS: {
    usual: '10000',
    meaning: 'sub-wallets of a user',
  },
  COUNTERSIGN_QUOTA_KEYS: {
    usual: '20000',
    meaning: 'keys of a user that are in use',
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
    meaning: 'of the login, on loopback; 0 picks a free one',
  },
  IDENTITY_METRICS_PORT: {
    readers: ['identity provider'],
    usual: null,
    meaning: 'of its `/metrics`, on loopback; unset: none are served',
  },
  IDENTITY_LINK_FILE: {
    readers: ['identity provider'],
    usual: null,
    meaning:
      'file that says at which address, and with which certificate, wallet services on other machines are served; unset: those by its socket alone',
  },
  IDENTITY_JOURNAL_FILE: {
    readers: ['identity provider', 'command line'],
    usual: null,
    meaning:
      'file that says in which Postgres or Restate, of its own, the identity provider stores all it decides before anybody hears of it, so that a standby can go on; unset: none',
  },
  IDENTITY_JOURNAL_ROLE: {
    readers: ['identity provider'],
    usual: 'owner',
    meaning:
      'of an identity provider with a journal: `owner` takes it at its start; `standby` follows it and takes it over when its owner is silent or ends',
  },
  IDENTITY_PUBLIC_ISSUER: {
    readers: ['identity provider'],
    usual: { computed: 'its own address' },
    meaning: 'address by which browsers reach the login through a proxy',
  },
  CONSOLE_REDIRECT_URIS: {
    readers: ['identity provider'],
    usual: { computed: 'loopback, any port' },
    meaning: 'https addresses to which the login sends a browser back, separated by commas',
  },
  CONSOLE_ISSUER: {
    readers: ['identity provider'],
    usual: null,
    meaning: "an OIDC provider of the operator's that signs users in; with CONSOLE_JWKS_FILE",
  },
  CONSOLE_JWKS_FILE: {
    readers: ['identity provider'],
    usual: null,
    meaning:
      'public keys of that provider: pinned, so that whoever answers for its address decides nothing',
  },
  COUNTERSIGN_URL: {
    readers: ['command line'],
    usual: { computed: 'what `login` kept' },
    meaning: 'address of the service',
  },
  COUNTERSIGN_API_KEY: {
    readers: ['command line'],
    usual: null,
    meaning: "an agent's API key, a secret",
  },
  COUNTERSIGN_TOKEN: {
    readers: ['command line'],
    usual: { computed: 'what `login` kept' },
    meaning: 'a console token, a secret',
  },
  COUNTERSIGN_ISSUER: {
    readers: ['command line'],
    usual: { computed: 'what `login` kept' },
    meaning: 'address of the login',
  },
  COUNTERSIGN_AUTHORIZER_PASSPHRASE: {
    readers: ['command line'],
    usual: null,
    meaning: "seals the authorizer's key on the user's machine, a secret",
  },
  COUNTERSIGN_CHANNEL_URL: {
    readers: ['command line'],
    usual: null,
    meaning: 'address of a channel that people are told by, a secret',
  },
  COUNTERSIGN_CHANNEL_TOKEN: {
    readers: ['command line'],
    usual: null,
    meaning: 'token of such a channel, a secret',
  },
  XDG_CONFIG_HOME: {
    readers: ['command line'],
    usual: { computed: '`.config` below HOME' },
    meaning: 'where logins and the keys of authorizers are kept',
  },
  HOME: {
    readers: ['command line'],
    usual: null,
    meaning: 'where that is when XDG_CONFIG_HOME is not set',
  },
}

export const VARIABLES: readonly Variable[] = [
  ...Object.entries(OF_SERVICE).map(([name, said]) => ({
    ...{ name, readers: ['service'] as const },
    ...said,
  })),
  ...Object.entries(OF_OTHERS).map(([name, said]) => ({ name, ...said })),
]
