/**
 * Every variable of the environment that a process or the command line reads, in words: what
 * OPERATIONS.md lists, and what tells a name that is misspelt from one of another process. What a
 * value may be is judged where it is read. Secrets are no variables of the three processes.
 */
export type Reader = 'service' | 'identity provider' | 'quorum signer' | 'command line'

export interface Variable {
  readonly name: string
  readonly readers: readonly Reader[]
  /** As one would write it; in words where it is computed; null: nothing. */
  readonly usual: string | { readonly computed: string } | null
  readonly meaning: string
}

const PROCESSES: readonly Reader[] = ['service', 'identity provider', 'quorum signer']
const SERVICE: readonly Reader[] = ['service']
const IDENTITY: readonly Reader[] = ['identity provider']
const COMMANDS: readonly Reader[] = ['command line']

const of =
  (readers: readonly Reader[]) =>
  (name: string, usual: Variable['usual'], meaning: string): Variable => ({
    ...{ name, readers, usual, meaning },
  })
const service = of(SERVICE)
const identity = of(IDENTITY)
const command = of(COMMANDS)

export const VARIABLES: readonly Variable[] = [
  of([...PROCESSES, 'command line'])(
    'COUNTERSIGN_HOME',
    './.countersign',
    'directory of all data; the same for all three',
  ),
  of([...PROCESSES, 'command line'])(
    'COUNTERSIGN_MODE',
    'live',
    '`live` or `dev`: keys of the other one are refused, and `dev` takes keys from files, a list of its own and webhooks to this machine',
  ),
  of(PROCESSES)(
    'COUNTERSIGN_ALLOW_FILE_KEYS',
    null,
    '`1`: P-256 keys and wrapping keys may lie in files in live mode; they can be copied, so for a trial',
  ),
  of(['identity provider', 'quorum signer'])(
    'COUNTERSIGN_SOCKET_GROUP',
    null,
    'group, by name or number, that may connect to this socket besides its owner',
  ),
  of(['service', 'identity provider'])(
    'COUNTERSIGN_DISK_FREE_MIN_MIB',
    '256',
    'MiB free on the disk below which nothing new is written or approved',
  ),
  of(['service', 'identity provider'])(
    'CONSOLE_AUDIENCE',
    'urn:countersign:console',
    'expected in `aud` of console tokens; the same for both',
  ),

  service('PORT', '8080', 'of the API; 0 picks a free one'),
  service('HOST', '127.0.0.1', 'address that the API and metrics listen on'),
  service('METRICS_PORT', null, 'of Prometheus metrics, on an address that no proxy serves'),
  service(
    'COUNTERSIGN_PUBLIC_HOSTS',
    null,
    'host names by which MCP clients may reach the service, separated by commas; unset: loopback alone',
  ),
  service(
    'IDENTITY_ISSUER',
    null,
    'issuer of console tokens; unset: every console token is refused',
  ),
  service(
    'IDENTITY_JWKS_URL',
    { computed: '`/jwks` below the issuer' },
    'where the keys of that issuer are, where this machine reaches them another way',
  ),
  service(
    'COUNTERSIGN_LOG_LEVEL',
    'info',
    '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
  ),
  service(
    'COUNTERSIGN_HTTP_ADAPTER',
    'auto',
    '`native` (uWebSockets.js), `node` (`node:http`), or what there is',
  ),
  service(
    'COUNTERSIGN_WORKERS',
    { computed: 'cores less 3, 1 to 16' },
    'threads that run the wallets',
  ),
  service('COUNTERSIGN_RATE_PER_SECOND', '200', 'requests a second of each key and console user'),
  service('COUNTERSIGN_RATE_BURST', '1000', 'requests at once of each key and console user'),
  service('COUNTERSIGN_IN_FLIGHT_MAX', '10000', 'requests at work; more are answered `OVERLOADED`'),
  service(
    'COUNTERSIGN_WRITES_IN_FLIGHT_MAX',
    '1024',
    'calls that move value, at work or waiting; more are answered `OVERLOADED`',
  ),
  service(
    'COUNTERSIGN_EVENTS_PER_SECOND',
    '1000',
    "events that a user's webhooks are told of a second, by each thread",
  ),
  service(
    'COUNTERSIGN_RETAIN_DELIVERIES_DAYS',
    '30',
    'days that finished deliveries of webhooks are kept, or `forever`',
  ),
  service('COUNTERSIGN_RETAIN_EVENTS_DAYS', 'forever', 'days that events are kept, or `forever`'),
  service(
    'COUNTERSIGN_RETAIN_AUDIT_DAYS',
    'forever',
    'days that the audit trail is kept, or `forever`',
  ),
  service(
    'COUNTERSIGN_RETENTION_MINUTES',
    '60',
    'between two passes that remove what is kept no longer',
  ),
  service(
    'COUNTERSIGN_SMTP_FILE',
    null,
    'file that says by which mail server people are told of events; unset: no mail',
  ),
  service('COUNTERSIGN_QUOTA_WALLETS', '10000', 'sub-wallets of a user'),
  service('COUNTERSIGN_QUOTA_KEYS', '20000', 'keys of a user that are in use'),
  service('COUNTERSIGN_QUOTA_WEBHOOKS', '100', 'webhook endpoints of a user'),
  service('COUNTERSIGN_QUOTA_ADDRESS_RULES', '1000', 'address rules of a user'),

  identity('IDENTITY_PORT', '3100', 'of the login, on loopback; 0 picks a free one'),
  identity('IDENTITY_METRICS_PORT', null, 'of its `/metrics`, on loopback; unset: none are served'),
  identity(
    'IDENTITY_PUBLIC_ISSUER',
    { computed: 'its own address' },
    'address by which browsers reach the login through a proxy',
  ),
  identity(
    'CONSOLE_REDIRECT_URIS',
    { computed: 'loopback, any port' },
    'https addresses to which the login sends a browser back, separated by commas',
  ),
  identity(
    'CONSOLE_ISSUER',
    null,
    "an OIDC provider of the operator's that signs users in; with CONSOLE_JWKS_FILE",
  ),
  identity(
    'CONSOLE_JWKS_FILE',
    null,
    'public keys of that provider: pinned, so that whoever answers for its address decides nothing',
  ),

  command('COUNTERSIGN_URL', { computed: 'what `login` kept' }, 'address of the service'),
  command('COUNTERSIGN_API_KEY', null, "an agent's API key, a secret"),
  command('COUNTERSIGN_TOKEN', { computed: 'what `login` kept' }, 'a console token, a secret'),
  command('COUNTERSIGN_ISSUER', { computed: 'what `login` kept' }, 'address of the login'),
  command(
    'COUNTERSIGN_AUTHORIZER_PASSPHRASE',
    null,
    "seals the authorizer's key on the user's machine, a secret",
  ),
  command(
    'COUNTERSIGN_CHANNEL_URL',
    null,
    'address of a channel that people are told by, a secret',
  ),
  command('COUNTERSIGN_CHANNEL_TOKEN', null, 'token of such a channel, a secret'),
  command(
    'XDG_CONFIG_HOME',
    { computed: '`.config` below HOME' },
    'where logins and the keys of authorizers are kept',
  ),
  command('HOME', null, 'where that is when XDG_CONFIG_HOME is not set'),
]
