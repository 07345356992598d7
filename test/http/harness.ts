import { createHash, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { pino } from 'pino'
import { inject } from 'vitest'
import { consoleOperations } from '../../src/api/console-operations.js'
import { operations } from '../../src/api/operations.js'
import { type ApiKeyReader, createApiKeyAuthenticator } from '../../src/auth/api-key.js'
import {
  createRateLimiter,
  FAILED_AUTHENTICATION_POLICY,
  KEY_POLICY,
  type RateLimitPolicy,
} from '../../src/auth/rate-limit.js'
import { createUnverifiedTokens } from '../../src/auth/unverified-tokens.js'
import { NO_PROXIES, parseTrustedProxies } from '../../src/config/trusted-proxies.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { KeyId, LineageId, SubWalletId, UserId } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import type { Role } from '../../src/domain/role.js'
import { fault, ok, refuse } from '../../src/errors/fault.js'
import type { FrontDoor } from '../../src/http/front-door.js'
import type { ReadinessPart } from '../../src/http/health-routes.js'
import { createHttpMetrics } from '../../src/http/metrics.js'
import type { ExtraRoute } from '../../src/http/routes.js'
import { createHttpServer, type HttpServer, openFrontDoor } from '../../src/http/server.js'
import type { AdapterChoice } from '../../src/http/uws.js'
import type {
  AgentContext,
  AgentHandlers,
  Answer,
  ConsoleContext,
  ConsoleHandlers,
} from '../../src/operations/context.js'
import type { WriteCaller } from '../../src/operations/write-admission.js'
import { callerAddress } from '../../src/service/caller-address.js'

/** The whole front end on a free port, over small handlers of the test's own. */

declare module 'vitest' {
  interface ProvidedContext {
    /** The adapter that a run of these files is about; not said: the one that serves by default. */
    readonly httpAdapter: AdapterChoice | undefined
  }
}

export const ADAPTER = inject('httpAdapter') ?? 'auto'

export const TRADE_SECRET = `sk_test_${'T'.repeat(32)}`
export const READ_SECRET = `sk_test_${'R'.repeat(32)}`
/** Of a key that the one of `TRADE_SECRET` made. */
export const CHILD_SECRET = `sk_test_${'C'.repeat(32)}`
export const CONSOLE_TOKEN = 'good.console.token'

/** At the end of a console token that verifies. */
const SIGNED = '.signed'

/** @returns a console token that names a user, with a signature that holds or does not */
export function consoleTokenOf(sub: string, isSigned: boolean): string {
  const claims = Buffer.from(JSON.stringify({ sub, jti: randomUUID() })).toString('base64url')
  return `header.${claims}${isSigned ? SIGNED : '.forged'}`
}

type Handler<C> = (context: C, input: never) => Answer<unknown> | Promise<Answer<unknown>>

export interface HarnessOptions {
  readonly agent?: Readonly<Record<string, Handler<AgentContext>>>
  readonly console?: Readonly<Record<string, Handler<ConsoleContext>>>
  readonly extraRoutes?: readonly ExtraRoute[]
  readonly refusesWrite?: (caller: WriteCaller) => boolean
  readonly inFlightMax?: number
  readonly bodyBytesMax?: number
  readonly readableSeq?: () => number
  readonly rowsScanned?: () => number
  /** Whom console tokens are of, in the account `user_1`; default: its owner. */
  readonly consolePerson?: () => { readonly personId: UserId; readonly role: Role }
  /** Whether whoever holds a console token is a member still; default: yes. */
  readonly consoleMember?: () => boolean
  /** Of console tokens; default: never. */
  readonly tokenExpiresAtMs?: () => number
  readonly drainTimeoutMs?: number
  /** What happens at the door before there is a server. */
  readonly before?: (door: FrontDoor) => Promise<void>
  /** Default: a free one. */
  readonly port?: number
  readonly ratePolicy?: RateLimitPolicy
  readonly failurePolicy?: RateLimitPolicy
  /** Of console tokens that name one user. */
  readonly subjectPolicy?: RateLimitPolicy
  readonly readiness?: readonly ReadinessPart[]
  /** As the setting has it; default: none. */
  readonly trustedProxies?: string
}

export interface Harness {
  readonly server: HttpServer
  readonly baseUrl: string
  readonly port: number
  /** Lines the service logged, parsed. */
  readonly logged: readonly Record<string, unknown>[]
  /** What the last handler was given. */
  /** Console tokens that were verified so far, good and bad. */
  verifications(): number
  last(): { readonly context: AgentContext | ConsoleContext; readonly input: unknown } | null
}

export function testKey(secret: string, over: Partial<ApiKey> = {}): ApiKey {
  const id = secret.slice(8, 9)
  return {
    ...INITIAL_POLICY,
    keyId: `key_${id}` as KeyId,
    lineageId: `key_${id}` as LineageId,
    subWalletId: 'sw_1' as SubWalletId,
    userId: 'user_1' as UserId,
    name: id,
    permission: 'trade',
    allowedChains: [1, 8453],
    environment: 'test',
    secretHash: createHash('sha256').update(secret).digest('hex'),
    secretPrefix: secret.slice(0, 12),
    createdAtMs: 0,
    rotatedFrom: null,
    rotatedAtMs: null,
    revokedAtMs: null,
    ...over,
  }
}

export const HARNESS_KEYS: readonly ApiKey[] = [
  testKey(TRADE_SECRET),
  testKey(READ_SECRET, { permission: 'read' }),
  testKey(CHILD_SECRET, { parentLineageId: 'key_T' as LineageId }),
]

export function readerOf(keys: readonly ApiKey[]): ApiKeyReader {
  return {
    byHash: (hashHex) => keys.find((key) => key.secretHash === hashHex) ?? null,
    byId: (id) => keys.find(({ keyId }) => keyId === id) ?? null,
  }
}

export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  let last: { context: AgentContext | ConsoleContext; input: unknown } | null = null
  const logged: Record<string, unknown>[] = []
  const remembered = new Set<string>()
  let verifications = 0
  const echo = <C extends AgentContext | ConsoleContext>(name: string, given?: Handler<C>) => {
    return (context: C, input: never) => {
      last = { context, input }
      return given?.(context, input) ?? { ok: true as const, value: { operation: name } }
    }
  }
  const authenticator = createApiKeyAuthenticator({
    reader: readerOf(HARNESS_KEYS),
    environment: 'test',
    deriveProofKey: () => new Uint8Array(32).fill(7),
    nowMs: Date.now,
  })
  const nowMs = () => performance.now()
  const logger = pino(
    { level: 'info' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  )
  const door = openFrontDoor({ adapter: ADAPTER }, logger)
  await options.before?.(door)
  const server = createHttpServer({
    agent: Object.fromEntries(
      operations.map(({ name }) => [name, echo(name, options.agent?.[name])]),
    ) as unknown as AgentHandlers,
    console: Object.fromEntries(
      consoleOperations.map(({ name }) => [name, echo(name, options.console?.[name])]),
    ) as unknown as ConsoleHandlers,
    authenticate: authenticator.authenticate,
    isMember: () => options.consoleMember?.() ?? true,
    remembersConsole: (header) => remembered.has(header),
    verifyConsole: async (header) => {
      verifications++
      if (header !== `Bearer ${CONSOLE_TOKEN}` && !header.endsWith(SIGNED)) {
        return refuse(fault('INVALID_TOKEN'))
      }
      remembered.add(header)
      const expiresAtMs = options.tokenExpiresAtMs?.() ?? Number.POSITIVE_INFINITY
      const userId = 'user_1' as UserId
      const person = options.consolePerson?.() ?? { personId: userId, role: 'owner' as const }
      return ok({ userId, ...person, email: null, expiresAtMs })
    },
    rateLimit: createRateLimiter({ policy: options.ratePolicy ?? KEY_POLICY, nowMs }),
    failedAuthentications: createRateLimiter({
      policy: options.failurePolicy ?? FAILED_AUTHENTICATION_POLICY,
      nowMs,
    }),
    unverifiedTokens: createUnverifiedTokens({
      ...(options.failurePolicy === undefined ? {} : { policy: options.failurePolicy }),
      ...(options.subjectPolicy === undefined ? {} : { subjectPolicy: options.subjectPolicy }),
      nowMs,
    }),
    logger,
    metrics: createHttpMetrics(),
    extraRoutes: options.extraRoutes ?? [],
    readiness: options.readiness ?? [],
    clientAddress: callerAddress(
      parseTrustedProxies(options.trustedProxies ?? '') ?? NO_PROXIES,
      logger,
    ),
    ...(options.refusesWrite === undefined ? {} : { refusesWrite: options.refusesWrite }),
    ...(options.readableSeq === undefined ? {} : { readableSeq: options.readableSeq }),
    ...(options.rowsScanned === undefined ? {} : { rowsScanned: options.rowsScanned }),
    ...(options.inFlightMax === undefined ? {} : { inFlightMax: options.inFlightMax }),
    ...(options.bodyBytesMax === undefined ? {} : { bodyBytesMax: options.bodyBytesMax }),
    drainTimeoutMs: options.drainTimeoutMs ?? 2_000,
    door,
  })
  const port = await server.listen('127.0.0.1', options.port ?? 0)
  return {
    server,
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    logged,
    last: () => last,
    verifications: () => verifications,
  }
}

export interface WireError {
  readonly code: string
  readonly message: string
  readonly details: { readonly issues?: readonly { path: string; message: string }[] }
  readonly request_id: string
}

/** Asserts nothing; the parsed error body, or null when it is not one. */
export async function readError(response: Response): Promise<WireError | null> {
  const body = (await response.json()) as { error?: WireError }
  return body.error ?? null
}

/**
 * Writes `parts` to a connection of its own, one after the other as they come, and returns what
 * came back when the server closed, or when `until` matched.
 */
export function exchangeRaw(
  port: number,
  parts: Iterable<string | Buffer>,
  until: RegExp,
  timeoutMs = 20_000,
): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1')
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(received)
    }
    const timer = setTimeout(finish, timeoutMs)
    socket.on('connect', () => {
      for (const part of parts) socket.write(part)
    })
    socket.on('data', (data) => {
      received += data.toString('latin1')
      if (until.test(received)) finish()
    })
    socket.on('error', finish)
    socket.on('close', finish)
  })
}
