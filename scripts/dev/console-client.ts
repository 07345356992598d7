import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

/** The part of the console's REST interface that the first start needs. */
export interface ConsoleClient {
  createWallet(name: string): Promise<DevWallet>
  /** @returns the oldest wallet of that name, or null */
  findWallet(name: string): Promise<DevWallet | null>
  issueKey(request: KeyRequest): Promise<DevKey>
}

/** The console answered with an error. */
export class ConsoleRefusal extends Error {
  override readonly name = 'ConsoleRefusal'
  /** The error code of the catalogue; null when the answer has none. */
  readonly code: string | null

  constructor(message: string, code: string | null) {
    super(message)
    this.code = code
  }
}

export interface DevWallet {
  readonly sub_wallet_id: string
  readonly address: string
}

export interface DevKey {
  readonly key_id: string
  readonly secret: string
}

export interface KeyRequest {
  readonly name: string
  readonly sub_wallet_id: string
  readonly permission: 'read' | 'trade'
  readonly daily_limit_usd: string
  readonly monthly_limit_usd: string
  readonly allowed_chains: readonly number[]
}

const REQUEST_TIMEOUT_MS = 30_000
const RETRY_MS = 100
/** Enough for any home: the wallets of one developer. */
const WALLETS_LISTED = 100

const wallet = z.object({
  sub_wallet_id: z.string(),
  name: z.string(),
  addresses: z.object({ evm: z.string() }),
})
const walletList = z.object({ wallets: z.array(wallet) })
const errorAnswer = z.object({ error: z.object({ code: z.string() }) })
const issuedKey = z.object({ key_id: z.string(), secret: z.string() })

/** @param token a console token */
export function consoleClient(baseUrl: string, token: string): ConsoleClient {
  const send = (method: string, path: string, body: unknown) =>
    fetch(`${baseUrl}/api/v1/agent${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
  const call = async <T>(method: string, path: string, schema: z.ZodType<T>, body?: unknown) => {
    const deadlineMs = Date.now() + REQUEST_TIMEOUT_MS
    for (;;) {
      const response = await send(method, path, body)
      const text = await response.text()
      if (response.ok) return schema.parse(JSON.parse(text))
      // A service that has just started issues no key before it has seen a block.
      if (!text.includes('"WRITES_STOPPED"') || Date.now() > deadlineMs) {
        // An error answer contains no secret.
        const { data } = errorAnswer.safeParse(parsedOrNull(text))
        const message = `${method} ${path}: HTTP ${response.status} ${text}`
        throw new ConsoleRefusal(message, data?.error.code ?? null)
      }
      await delay(RETRY_MS)
    }
  }
  const toDevWallet = ({ sub_wallet_id, addresses }: z.infer<typeof wallet>): DevWallet => ({
    sub_wallet_id,
    address: addresses.evm,
  })
  return {
    async createWallet(name) {
      return toDevWallet(await call('POST', '/wallets', wallet, { name }))
    },
    async findWallet(name) {
      const { wallets } = await call('GET', `/wallets?limit=${WALLETS_LISTED}`, walletList)
      const found = wallets.findLast((candidate) => candidate.name === name)
      return found === undefined ? null : toDevWallet(found)
    },
    issueKey: (request) => call('POST', '/keys', issuedKey, request),
  }
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
