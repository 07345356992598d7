import { setTimeout as delay } from 'node:timers/promises'
import type { TransactionView } from '../../src/api/transaction.js'
import { parseUsd } from '../../src/domain/money.js'
import type { HttpClient, ReplyBody } from '../support/http-client.js'
import { type Service, startService } from '../support/service.js'
import { withinOneUtcDay } from '../support/utc-day.js'

/** A running service, and its owner's console. */
export interface Stack {
  readonly service: Service
  readonly owner: HttpClient
}

/** A key of the owner's, and the client that holds its secret. */
export interface IssuedKey {
  readonly keyId: string
  readonly secret: string
  readonly api: HttpClient
}

export interface KeyWishes {
  readonly permission?: 'read' | 'trade'
  readonly dailyUsd?: string
  readonly monthlyUsd?: string
  readonly chains?: readonly number[]
  readonly subWalletId?: string
}

const FINAL = new Set(['confirmed', 'failed', 'dropped', 'declined', 'expired', 'withdrawn'])
const FINAL_TIMEOUT_MS = 120_000
const POLL_MS = 200
const PAGE = 100

/** What a file's tests take with a stack, on a busy machine. */
const STACK_MINUTES_MAX = 4

/**
 * @param env of all its processes, besides what they need
 * @param parent its home is made in that directory
 * @param openFilesMax what each of its processes may have open
 */
export async function startStack(
  env: Readonly<Record<string, string>> = {},
  parent?: string,
  openFilesMax: number | null = null,
): Promise<Stack> {
  await withinOneUtcDay(STACK_MINUTES_MAX)
  const service = await startService(env, parent, openFilesMax)
  try {
    return { service, owner: service.console(await service.token()) }
  } catch (error) {
    await service.stop()
    throw error
  }
}

/** A new line of keys, so that its counters start at nothing. */
export async function issueKey(
  { service, owner }: Stack,
  wishes: KeyWishes = {},
): Promise<IssuedKey> {
  const made = await owner.post('/keys', {
    name: 'test',
    sub_wallet_id: wishes.subWalletId ?? service.dev().sub_wallet_id,
    permission: wishes.permission ?? 'trade',
    daily_limit_usd: wishes.dailyUsd ?? '1000000',
    monthly_limit_usd: wishes.monthlyUsd ?? '1000000',
    ...(wishes.chains === undefined ? {} : { allowed_chains: wishes.chains }),
  })
  const { key_id: keyId, secret } = made.json
  if (keyId === undefined || secret === undefined) throw new Error(`no key: ${made.text}`)
  return { keyId, secret, api: service.api(secret) }
}

/** Waits until a transaction is final. @throws Error with the last answer when it is not in time */
export async function finalOf(api: HttpClient, txId: string | undefined): Promise<ReplyBody> {
  const deadlineMs = Date.now() + FINAL_TIMEOUT_MS
  for (;;) {
    const { json, text } = await api.get(`/api/tx/${txId}`)
    if (FINAL.has(String(json.status))) return json
    if (Date.now() > deadlineMs) throw new Error(`${txId} is not final: ${text}`)
    await delay(POLL_MS)
  }
}

/** Every transaction of a key, whatever its status. */
export async function transactionsOf(owner: HttpClient, keyId: string): Promise<TransactionView[]> {
  const all: TransactionView[] = []
  let cursor = ''
  for (;;) {
    const page = await owner.get(`/transactions?key_id=${keyId}&limit=${PAGE}${cursor}`)
    if (page.status !== 200) throw new Error(`no list: ${page.text}`)
    all.push(...(page.json.transactions ?? []))
    if (typeof page.json.next_cursor !== 'string') return all
    cursor = `&cursor=${page.json.next_cursor}`
  }
}

/** Waits until all transactions of a key are final and nothing is reserved any more. */
export async function allFinal(owner: HttpClient, key: IssuedKey): Promise<TransactionView[]> {
  const deadlineMs = Date.now() + FINAL_TIMEOUT_MS
  for (;;) {
    const all = await transactionsOf(owner, key.keyId)
    const open = all.filter(({ status }) => !FINAL.has(status))
    const limits = await key.api.get('/api/limits')
    if (open.length === 0 && limits.json.reserved_usd === '0.00') return all
    if (Date.now() > deadlineMs) {
      throw new Error(`${open.length} open: ${JSON.stringify(open[0])}; ${limits.text}`)
    }
    await delay(POLL_MS)
  }
}

/** What has been used of the day's cap, micro-USD. */
export async function usedToday(api: HttpClient): Promise<bigint> {
  const { json, text } = await api.get('/api/limits')
  const micros = parseUsd(String(json.daily_used_usd))
  if (micros === null) throw new Error(`no limits: ${text}`)
  return micros
}
