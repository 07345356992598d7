import type { TransactionView } from '../../src/api/transaction.js'
import type { ChainView } from '../e2e/chain.js'
import { type Stack, transactionsOf } from '../e2e/stack.js'
import type { ChainHistory, MinedTransaction } from './chain-history.js'
import { type Bounds, type ChainWorth, same, sentBy } from './chain-worth.js'
import {
  type Agent,
  type Asked,
  GIVEN_NATIVE_WEI,
  GIVEN_USDC,
  type Line,
  type MixChain,
} from './service-agents.js'

/**
 * Judges by the chains and by what the API lists and answers, with nothing of the service's own
 * code; sentences, none when all is well.
 */
export interface Evidence {
  readonly chain: MixChain
  readonly history: ChainHistory
  readonly worth: ChainWorth
}

export interface Verdict {
  readonly wrong: readonly string[]
  readonly transactions: readonly TransactionView[]
  /** Lines of keys whose counters were compared with the chains. */
  readonly linesCounted: number
}

const FINAL = new Set(['confirmed', 'failed', 'dropped'])
/** An intent lives for three minutes. */
const HELD_MS_MAX = 300_000
/** Right for a key only whose line was revoked. */
const DENIED = new Set(['INVALID_KEY', 'PERMISSION_DENIED', 'UNAUTHENTICATED'])

export async function auditAgent(
  { owner }: Stack,
  agent: Agent,
  evidence: ReadonlyMap<number, Evidence>,
): Promise<Verdict> {
  const wrong: string[] = []
  const listed = new Map<Line, TransactionView[]>()
  for (const line of agent.lines) {
    const ofLine: TransactionView[] = []
    for (const { keyId } of line.keys) ofLine.push(...(await transactionsOf(owner, keyId)))
    listed.set(line, ofLine)
  }
  const all = [...listed.values()].flat()
  const byId = new Map(all.map((tx) => [tx.tx_id, tx]))
  if (byId.size !== all.length) wrong.push('an id is listed twice')
  for (const asked of agent.asked) wrong.push(...judgeAsked(asked, byId, evidence))
  wrong.push(...judgeAcknowledgements(agent, all))
  const worth = new Map<string, Bounds>()
  for (const tx of all) {
    const place = evidence.get(tx.chain_id)
    if (place === undefined) wrong.push(`${tx.tx_id} is on a chain that nobody used`)
    else wrong.push(...judgeTransaction(tx, place, worth))
  }
  for (const place of evidence.values()) {
    wrong.push(...(await judgeAccount(place, agent, all)))
  }
  let linesCounted = 0
  for (const [line, ofLine] of listed) {
    wrong.push(...judgeCaps(line, ofLine, worth))
    if (line.revoked !== 'no') continue
    linesCounted++
    wrong.push(...(await judgeCounters(line, ofLine, worth)))
  }
  return {
    wrong: wrong.map((what) => `${agent.subWalletId}: ${what}`),
    transactions: all,
    linesCounted,
  }
}

/** What a caller was told is what the chain shows. */
function judgeAsked(
  { what, chainId, recipient, amount, line, answers, afterRevocation, idempotencyKey }: Asked,
  byId: ReadonlyMap<string, TransactionView>,
  evidence: ReadonlyMap<number, Evidence>,
): string[] {
  const wrong: string[] = []
  const name = `${what} to ${recipient} (${answers.map((it) => Object.values(it)).join('; ')})`
  const ids = new Set(answers.flatMap((it) => (it.kind === 'acknowledged' ? [it.txId] : [])))
  if (ids.size > 1) wrong.push(`${name}: one request by key ${idempotencyKey}, several ids`)
  if (afterRevocation && ids.size > 0) wrong.push(`${name}: signed after its key was revoked`)
  for (const answer of answers) {
    const isDenied = answer.kind === 'refused' && DENIED.has(answer.code)
    if (isDenied && line.revoked === 'no') wrong.push(`${name}: denied, and never revoked`)
  }
  const [txId] = ids
  const tx = txId === undefined ? undefined : byId.get(txId)
  if (txId !== undefined && tx === undefined) wrong.push(`${name}: ${txId} is not listed`)
  const history = evidence.get(chainId)?.history
  if (recipient === null || history === undefined) return wrong
  const received = [...history.byHash.values()].filter(
    ({ to, value, succeeded }) => succeeded && same(to, recipient) && value > 0n,
  )
  if (received.some(({ value }) => value !== amount)) wrong.push(`${name}: another amount landed`)
  if (received.length > 1) wrong.push(`${name}: landed ${received.length} times`)
  const landed = received.length > 0
  if (landed && answers.every(({ kind }) => kind === 'refused')) {
    wrong.push(`${name}: was refused and executed`)
  }
  if (landed && afterRevocation) wrong.push(`${name}: executed for a revoked key`)
  if (tx !== undefined && landed !== (tx.status === 'confirmed')) {
    wrong.push(`${name}: ${tx.status}, and landed ${received.length} times`)
  }
  return wrong
}

/** Each listed transaction was asked for: acknowledged, refused by its name, or left open. */
function judgeAcknowledgements({ asked }: Agent, all: readonly TransactionView[]): string[] {
  const wrong: string[] = []
  const acknowledged = asked.flatMap(({ answers }) => {
    const ids = answers.flatMap((it) => (it.kind === 'acknowledged' ? [it.txId] : []))
    return ids.slice(0, 1)
  })
  if (new Set(acknowledged).size !== acknowledged.length) {
    wrong.push('two requests were acknowledged as one transaction')
  }
  const open = asked.filter(({ answers }) => {
    const kinds = answers.map(({ kind }) => kind)
    return !kinds.includes('acknowledged') && kinds.includes('unknown')
  })
  const refused = asked.flatMap(({ answers }) =>
    answers.flatMap((it) => (it.kind === 'refused' && it.txId !== undefined ? [it.txId] : [])),
  )
  for (const tx of all) {
    if (tx.status === 'dropped' || !refused.includes(tx.tx_id)) continue
    if (acknowledged.includes(tx.tx_id)) continue
    wrong.push(`${tx.tx_id} was refused by its name, and is ${tx.status}`)
  }
  const told = new Set([...acknowledged, ...refused])
  const untold = all.filter(({ tx_id }) => !told.has(tx_id))
  if (untold.length > open.length) {
    const which = untold.map(
      ({ tx_id, kind, chain_id, nonce, status, error, created_at }) =>
        `${tx_id} ${kind} ${chain_id}:${nonce} ${status} ${JSON.stringify(error)} of ${created_at}`,
    )
    wrong.push(
      `${untold.length} transactions that nobody was told of, ${open.length} unanswered: ${which.join('; ')}`,
    )
  }
  return wrong
}

/** Its status, what it moved and what it counts are what the chain shows. */
function judgeTransaction(
  tx: TransactionView,
  { history, worth }: Evidence,
  counted: Map<string, Bounds>,
): string[] {
  const wrong: string[] = []
  const name = `${tx.tx_id} (${tx.kind}, ${tx.chain_id}:${tx.nonce}, ${tx.status})`
  if (!FINAL.has(tx.status)) wrong.push(`${name}: not final`)
  const mined = [tx.tx_hash, ...tx.replaced_hashes].flatMap((hash) => {
    const found = history.byHash.get(hash?.toLowerCase() ?? '')
    return found === undefined ? [] : [found]
  })
  if (!isAsItSays(tx, mined)) {
    const seen = mined.map(({ hash, succeeded }) => `${hash} ${succeeded}`).join(', ')
    wrong.push(`${name}: the chain has ${mined.length} of it: ${seen}`)
  }
  const said = microsOf(tx.spend_usd)
  const bounds = isHeld(tx) ? { least: said, most: said } : worth.of(tx, mined[0])
  counted.set(tx.tx_id, bounds)
  if (said < bounds.least || said > bounds.most) {
    wrong.push(`${name}: counts ${said}, the chain shows ${bounds.least} to ${bounds.most}`)
  }
  return wrong
}

/** The Router would still take its intent, so its spend stays reserved. */
function isHeld({ kind, status, created_at: createdAt }: TransactionView): boolean {
  const failed = status === 'failed' || status === 'dropped'
  return kind !== 'send' && failed && Date.now() - Date.parse(createdAt) < HELD_MS_MAX
}

function isAsItSays(tx: TransactionView, mined: readonly MinedTransaction[]): boolean {
  const [only] = mined
  if (mined.length > 1) return false
  switch (tx.status) {
    case 'confirmed': {
      if (only?.succeeded !== true) return false
      if (tx.kind !== 'send') return true
      const asListed = same(only.to, tx.to) && only.value === BigInt(tx.value)
      return asListed && same(only.from, tx.from) && only.nonce === tx.nonce
    }
    case 'failed':
      return only === undefined ? tx.kind !== 'send' : !only.succeeded
    case 'dropped':
      return only === undefined || (same(only.to, only.from) && only.value === 0n)
    default:
      return false
  }
}

/** Nothing left it but by transactions that are listed, and all of them are paid for by it. */
async function judgeAccount(
  { chain, history }: Evidence,
  { address }: Agent,
  all: readonly TransactionView[],
): Promise<string[]> {
  const { view, vault, halfUsdc, halfShares } = chain
  const wrong: string[] = []
  const known = new Map<string, TransactionView>()
  for (const tx of all.filter(({ chain_id: id }) => id === view.chainId)) {
    for (const hash of [tx.tx_hash, ...tx.replaced_hashes]) {
      if (hash !== null) known.set(hash.toLowerCase(), tx)
    }
  }
  let nonces = 0
  let paidWei = 0n
  const delegates = new Set<string>()
  for (const mined of history.byHash.values()) {
    const tx = known.get(mined.hash)
    // As a chain does it: the sender's nonce first, then those of the authorizations that fit.
    if (same(mined.from, address)) nonces++
    for (const { authority, nonce, delegate } of mined.authorizations) {
      if (!same(authority, address) || nonce !== nonces) continue
      nonces++
      delegates.add(delegate)
    }
    if (same(mined.from, address)) {
      paidWei += mined.feeWei + (mined.succeeded && !same(mined.to, address) ? mined.value : 0n)
      if (tx?.kind !== 'send') wrong.push(`chain ${view.chainId}: ${mined.hash} is nobody's`)
    }
    const moves = tx?.status === 'confirmed' ? tx.kind : null
    for (const [token, half, kinds] of [
      [view.usdc, halfUsdc, ['swap', 'defi_deposit']],
      [vault, halfShares, ['defi_withdraw']],
    ] as const) {
      const due = kinds.some((kind) => kind === moves) ? half : 0n
      const sent = sentBy(address, token, mined)
      if (sent === due) continue
      wrong.push(`chain ${view.chainId}: ${mined.hash} moved ${sent} of ${token}, not ${due}`)
    }
  }
  wrong.push(...(await judgeBalances(view, vault, address, history)))
  const left = await view.nativeBalance(address)
  if (left !== GIVEN_NATIVE_WEI - paidWei) {
    wrong.push(`chain ${view.chainId}: ${left} wei left, ${paidWei} accounted for`)
  }
  const code = String(await view.call('eth_getCode', [address, 'latest']))
  const [delegate = null] = delegates
  if (delegates.size > 1 || code !== (delegate === null ? '0x' : `0xef0100${delegate.slice(2)}`)) {
    wrong.push(`chain ${view.chainId}: code ${code}, ${[...delegates].join(', ')} authorized`)
  }
  const nonce = await view.nonceOf(address)
  if (nonce !== nonces) wrong.push(`chain ${view.chainId}: nonce ${nonce}, ${nonces} accounted for`)
  return wrong
}

/** The transfers that were read are all there were: balances agree with them. */
async function judgeBalances(
  view: ChainView,
  vault: string,
  address: string,
  history: ChainHistory,
): Promise<string[]> {
  const left = await view.usdcBalance(address)
  let sent = 0n
  for (const mined of history.byHash.values()) sent += sentBy(address, view.usdc, mined)
  const given = GIVEN_USDC * 10n ** BigInt(view.usdcDecimals)
  // Withdrawals bring some back.
  if (left < given - sent) {
    return [`chain ${view.chainId}: ${left} USDC units left of ${given}, ${sent} sent`]
  }
  let redeemed = 0n
  for (const mined of history.byHash.values()) {
    if (sentBy(address, vault, mined) > 0n) {
      redeemed += mined.redemptions.reduce((sum, { assets }) => sum + assets, 0n)
    }
  }
  if (left !== given - sent + redeemed) {
    return [`chain ${view.chainId}: ${left} USDC units left, ${sent} sent, ${redeemed} redeemed`]
  }
  return []
}

/** Not even by what the chains show: none of its caps was ever larger. */
function judgeCaps(
  { capMaxMicros: cap, keys }: Line,
  all: readonly TransactionView[],
  worth: ReadonlyMap<string, Bounds>,
): string[] {
  const wrong: string[] = []
  for (const [day, micros] of sums(all, worth, (at) => at.slice(0, 10))) {
    if (micros.least <= cap) continue
    wrong.push(`${keys[0]?.keyId}: ${micros.least} spent on ${day} under a cap of ${cap}`)
  }
  return wrong
}

/** Of a line that may still be asked: used is what the chains show, and nothing more is reserved. */
async function judgeCounters(
  { keys }: Line,
  all: readonly TransactionView[],
  worth: ReadonlyMap<string, Bounds>,
): Promise<string[]> {
  const answer = await keys.at(-1)?.api.get('/api/limits')
  if (answer?.status !== 200) return [`no limits: ${answer?.text}`]
  const { json, text } = answer
  const wrong: string[] = []
  const held = all.filter(isHeld).reduce((sum, tx) => sum + microsOf(tx.spend_usd), 0n)
  if (microsOf(String(json.reserved_usd)) !== held) wrong.push(`reserved, ${held} held: ${text}`)
  const resetsAt = Date.parse(String(json.daily_resets_at))
  const today = new Date(resetsAt - 1).toISOString()
  for (const [used, chars] of [
    [json.daily_used_usd, 'yyyy-mm-dd'.length],
    [json.monthly_used_usd, 'yyyy-mm'.length],
  ] as const) {
    const window = today.slice(0, chars)
    const shown = sums(all, worth, (at) => at.slice(0, chars)).get(window) ?? NOTHING
    const micros = microsOf(String(used))
    if (micros >= shown.least && micros <= shown.most) continue
    const sum = `${shown.least} to ${shown.most}`
    wrong.push(`${keys[0]?.keyId}: ${micros} used in ${window}, the chains show ${sum}`)
  }
  return wrong
}

const NOTHING: Bounds = { least: 0n, most: 0n }

function sums(
  all: readonly TransactionView[],
  worth: ReadonlyMap<string, Bounds>,
  windowOf: (createdAt: string) => string,
): Map<string, Bounds> {
  const byWindow = new Map<string, Bounds>()
  for (const tx of all) {
    const window = windowOf(tx.created_at)
    const { least, most } = byWindow.get(window) ?? NOTHING
    const own = worth.get(tx.tx_id) ?? NOTHING
    byWindow.set(window, { least: least + own.least, most: most + own.most })
  }
  return byWindow
}

/** Micro-USD of "12.345678"; below zero when it is no such text. */
function microsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  if (!/^-?\d+$/.test(whole) || !/^\d{0,6}$/.test(fraction)) return -1n
  return BigInt(whole + fraction.padEnd(6, '0'))
}
