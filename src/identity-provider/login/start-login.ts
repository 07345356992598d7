import './accept-runtime.js'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type Provider from 'oidc-provider'
import { type Logger, pino } from 'pino'
import { clientAddress } from '../../auth/client-address.js'
import {
  isTrusted,
  LOOPBACK_PROXIES,
  NO_PROXIES,
  parseAddress,
  parseTrustedProxies,
  type TrustedProxies,
} from '../../config/trusted-proxies.js'
import { writePrivateFile } from '../../custody/domain-keys/private-file.js'
import { holdAnswer, type Settling, turnAway } from '../journal/hold-answers.js'
import type { Memberships } from './account-tokens.js'
import { type Accounts, createAccounts } from './accounts.js'
import { createArtifactStore } from './artifact-adapter.js'
import {
  boundConnections,
  CHECKED_MS,
  LOGIN_PLACES,
  SILENT_MS,
  STALLED_MS,
} from './connection-places.js'
import { createDeviceCookies } from './device-cookie.js'
import { createEnrolmentHandler } from './enrolment.js'
import { createInteractionHandler } from './interactions.js'
import { loadLoginKeys } from './login-keys.js'
import { openLoginStore } from './login-store.js'
import { createLoginThrottle } from './login-throttle.js'
import { createOidcProvider } from './oidc.js'
import { DEFAULT_POLICY } from './pages.js'
import { type PasskeySignIn, servePasskeyScript } from './passkey-sign-in.js'
import { pinHost } from './pinned-host.js'

export interface LoginOptions {
  /** 0 takes a free port. */
  readonly port: number
  readonly host: '127.0.0.1'
  /** The identity provider's data directory; the login keeps its keys, accounts and sessions here. */
  readonly dataDir: string
  /** `aud` of console tokens, a URN or URL. */
  readonly audience: string
  readonly mode: 'dev' | 'live'
  /** URL under which browsers reach this server through a TLS proxy; default: its own address. */
  readonly publicIssuer?: string
  /**
   * Proxies in front of the local one whose `X-Forwarded-For` is trusted; by default there are
   * none.
   */
  readonly trustedProxies?: TrustedProxies
  /** Exact callback URLs of the console; default: loopback, any port (RFC 8252). */
  readonly consoleRedirectUris?: readonly string[]
  /** An account that exists after the start; dev mode only. */
  readonly devUser?: { readonly email: string; readonly password: string }
  /** Null, the default, when there is no journal and answers need not wait. */
  readonly journal?: Settling | null
  readonly log?: Logger
}

export interface Login {
  /** `iss` of console tokens. */
  readonly issuer: string
  /** The URL at which this process itself serves the keys, without a proxy. */
  readonly jwksUrl: string
  /** Adds routes that use the same sign-in. Until then they answer 404. */
  mount(routes: (parts: LoginParts) => RouteHandler): void
  readonly accounts: Pick<Accounts, 'findById' | 'personByEmail'>
  /** From this call on, tokens may be for accounts that people are members of. */
  takeMemberships(memberships: Memberships): void
  /** From this call on, users may sign in with a passkey. */
  takePasskeys(verifier: PasskeySignIn): void
  close(): Promise<void>
}

interface LoginParts {
  readonly provider: Provider
  readonly accounts: Accounts
  readonly log: Logger
}

/** Resolves false when the path is not one of its own. */
type RouteHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

const ON_LOOPBACK = parseTrustedProxies(LOOPBACK_PROXIES) ?? NO_PROXIES
const REQUEST_TIMEOUT_MS = 10_000
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost'])
/** The address of a confirmation with the largest policy takes 24 KiB of it. */
const HEADER_BYTES_MAX = 32 * 1024

/**
 * Starts the identity provider's login and writes `issuer.json` into `dataDir`.
 * @throws Error when the port is taken, the data directory unusable, or the options are unsafe
 */
export async function startLogin(options: LoginOptions): Promise<Login> {
  const log = options.log ?? pino({ name: 'login' })
  if (options.devUser !== undefined && options.mode !== 'dev') {
    throw new Error('a dev user may exist in dev mode only')
  }
  const store = openLoginStore(options.dataDir)
  const keys = loadLoginKeys(options.dataDir)
  const artifacts = createArtifactStore(store)
  const accounts = createAccounts(store, artifacts.endSessionsOf)
  const server = createServer({
    headersTimeout: SILENT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECKED_MS,
    keepAliveTimeout: 5_000,
    maxHeaderSize: HEADER_BYTES_MAX,
  })
  server.setTimeout(STALLED_MS)
  const exposure = isReachedDirectly(options) ? 'direct' : 'tls-proxy'
  // When the server listens only on loopback, browsers reach it through a proxy there.
  const proxies =
    exposure === 'direct' ? NO_PROXIES : [...ON_LOOPBACK, ...(options.trustedProxies ?? [])]
  boundConnections(server, LOGIN_PLACES, ({ remoteAddress = '' }) => {
    const peer = parseAddress(remoteAddress)
    return peer !== null && isTrusted(peer, proxies)
      ? null
      : clientAddress(remoteAddress, '', NO_PROXIES)
  })

  async function release(): Promise<void> {
    artifacts.close()
    await closeServer(server)
    await store.root.close()
  }

  try {
    if (options.devUser !== undefined) {
      const user = await accounts.ensure(options.devUser.email, options.devUser.password)
      log.warn({ userId: user.userId, email: user.email }, 'dev user can sign in; dev mode only')
    }
    const port = await listen(server, options.port, options.host)
    const localOrigin = `http://${options.host}:${port}`
    const issuer = requireIssuer(options.publicIssuer ?? localOrigin)
    let memberships: Memberships | null = null
    const provider = createOidcProvider({
      issuer,
      audience: options.audience,
      keys,
      accounts,
      artifacts,
      memberships: () => memberships,
      consoleRedirectUris: options.consoleRedirectUris ?? [],
      exposure,
    })
    provider.on('server_error', (_ctx, error) => log.error({ err: error }, 'login server error'))
    let passkeys: PasskeySignIn | null = null
    const interactions = createInteractionHandler({
      provider,
      accounts,
      throttle: createLoginThrottle(),
      devices: createDeviceCookies(keys.cookieKeys, exposure === 'direct' ? 'plain' : 'tls'),
      audience: options.audience,
      passkeys: () => passkeys,
      issuer,
      log,
      clientAddress: (request) =>
        clientAddress(
          request.socket.remoteAddress ?? 'unknown',
          String(request.headers['x-forwarded-for'] ?? ''),
          proxies,
        ),
    })
    const enrolment = createEnrolmentHandler({ accounts, log })
    const serveOidc = provider.callback()
    let mounted: RouteHandler = async () => false
    const { journal = null } = options
    server.on('request', (request, response) => {
      setSecurityHeaders(response)
      if (journal !== null) {
        if (!journal.isLeader()) return turnAway(response)
        holdAnswer(response, journal)
      }
      pinHost(request, issuer, exposure)
      interactions(request, response)
        .then((served) => served || servePasskeyScript(request, response))
        .then((served) => served || enrolment(request, response))
        .then((served) => served || mounted(request, response))
        .then((served) => (served ? undefined : serveOidc(request, response)))
        .catch((error: unknown) => {
          log.error({ err: error }, 'login request failed')
          response.destroy()
        })
    })
    const kept = Buffer.from(`${JSON.stringify({ issuer })}\n`)
    writePrivateFile(join(options.dataDir, 'issuer.json'), kept)
    log.info({ issuer, mode: options.mode }, 'login is up')
    return {
      issuer,
      jwksUrl: `${localOrigin}/jwks`,
      accounts,
      mount(routes) {
        mounted = routes({ provider, accounts, log })
      },
      takeMemberships(from) {
        memberships = from
      },
      takePasskeys(verifier) {
        passkeys = verifier
      },
      close: release,
    }
  } catch (error) {
    await release()
    throw error
  }
}

/**
 * In development a front on the same machine may pass connections on, as to one of two identity providers: it ends
 * no TLS and sets no header, so nothing that a proxy would say is believed.
 */
function isReachedDirectly({ mode, publicIssuer }: LoginOptions): boolean {
  if (publicIssuer === undefined) return true
  const url = URL.parse(publicIssuer)
  return mode === 'dev' && url?.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname)
}

/** @throws Error when browsers would send passwords in the clear over a network */
function requireIssuer(issuer: string): string {
  const url = URL.parse(issuer)
  if (url?.protocol !== 'https:' && !LOOPBACK_HOSTS.has(url?.hostname ?? '')) {
    throw new Error('the public issuer must be an https URL')
  }
  return issuer.replace(/\/$/, '')
}

function setSecurityHeaders(response: ServerResponse): void {
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('X-Frame-Options', 'DENY')
  response.setHeader('Content-Security-Policy', DEFAULT_POLICY)
  // The URLs of the flow carry codes and interaction ids.
  response.setHeader('Referrer-Policy', 'no-referrer')
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function closeServer(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
