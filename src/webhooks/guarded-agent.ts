import { isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { type ResolveHost, resolveByDns, resolveBySystem } from './resolve-host.js'
import { isPublicAddress, type WebhookTargets } from './target-address.js'

const CONNECT_TIMEOUT_MS = 4_000
/**
 * The most addresses of one name that are tried in turn, as long as the delivery's own time
 * permits.
 */
const ADDRESSES_MAX = 3
const KEEP_ALIVE_MS = 15_000
const RESPONSE_HEADER_BYTES_MAX = 16 * 1024

/**
 * The target is not an address that deliveries may go to. Its message may be shown to the
 * endpoint's owner.
 */
class TargetRefusedError extends Error {
  readonly code = 'WEBHOOK_TARGET_REFUSED'

  constructor(message: string) {
    super(message)
    this.name = 'TargetRefusedError'
  }
}

export interface GuardedAgentOptions {
  readonly targets: WebhookTargets
  /** Default: DNS for public targets, the system's resolver for any. */
  readonly resolve?: ResolveHost
  /** PEM of the only certificate authority to trust; default: Node's own list. */
  readonly ca?: string
}

type Connector = ReturnType<typeof buildConnector>
type ConnectOptions = Parameters<Connector>[0]
type Connected = Extract<Parameters<Parameters<Connector>[1]>, [null, unknown]>[1]

/**
 * An HTTP agent for URLs that users chose. Each connection resolves the name, refuses when any of
 * its addresses is not permitted, and connects to exactly the checked addresses, so a name that
 * changes its answer between check and use (DNS rebinding) gains nothing. The TLS handshake still
 * verifies the name. Redirects are not followed.
 */
export function createGuardedAgent(options: GuardedAgentOptions): Agent {
  const { targets } = options
  const resolve = options.resolve ?? (targets === 'public' ? resolveByDns() : resolveBySystem)
  const connectTo = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  })
  return new Agent({
    // Unbounded, because endpoints bound the deliveries in flight. A bound per origin would let one
    // hanging receiver hold up all others behind the same name.
    connections: null,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    connect(target, callback) {
      openChecked(target, targets, resolve, connectTo).then(
        (socket) => callback(null, socket),
        (error: unknown) =>
          callback(error instanceof Error ? error : new Error(String(error)), null),
      )
    },
  })
}

async function openChecked(
  target: ConnectOptions,
  targets: WebhookTargets,
  resolve: ResolveHost,
  connectTo: Connector,
): Promise<Connected> {
  if (targets === 'public' && target.protocol !== 'https:') {
    throw new TargetRefusedError('the URL is not https')
  }
  const hostname = target.hostname.replace(/^\[|\]$/g, '')
  const literal = isIP(hostname) !== 0
  const addresses = literal ? [hostname] : (await resolve(hostname)).map(({ address }) => address)
  if (targets === 'public' && !addresses.every(isPublicAddress)) {
    throw new TargetRefusedError('the host resolves to a private or reserved address')
  }
  // The certificate must match the name in the URL, although the socket goes to an address.
  const servername = target.servername ?? (literal ? undefined : hostname)
  let lastError: unknown = new Error('the host has no address')
  for (const address of addresses.slice(0, ADDRESSES_MAX)) {
    try {
      return await connectOnce(connectTo, {
        ...target,
        hostname: address,
        ...(servername === undefined ? {} : { servername }),
      })
    } catch (error) {
      lastError = error
    }
  }
  throw lastError
}

function connectOnce(connectTo: Connector, target: ConnectOptions): Promise<Connected> {
  return new Promise((resolve, reject) => {
    connectTo(target, (error, socket) => {
      if (error === null && socket !== null) resolve(socket)
      else reject(error)
    })
  })
}
