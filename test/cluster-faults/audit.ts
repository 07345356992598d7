import type { TransactionView } from '../../src/api/transaction.js'
import type { Asked, Purse } from './callers.js'
import type { LoggedEvent } from './followers.js'

/**
 * Judges what a world came to by what the chain took and callers were told, with nothing of the service's
 * own code; sentences, none when nothing was lost, doubled, passed or left out.
 */
export interface Found {
  readonly asked: readonly Asked[]
  readonly purses: readonly Purse[]
  /** All that the service lists, of all users. */
  readonly listed: readonly TransactionView[]
  /** All that the chain took, in the order in which it came. */
  readonly landed: readonly Landed[]
  readonly limits: ReadonlyMap<Purse, Limits>
  readonly told: readonly Told[]
}

export interface Landed {
  readonly hash: string
  /** Lower case, as `to`. */
  readonly from: string
  readonly to: string
  readonly nonce: number
  readonly value: bigint
}

export interface Limits {
  readonly usedMicros: bigint
  readonly reservedMicros: bigint
}

/** Of one user. */
export interface Told {
  readonly log: readonly LoggedEvent[]
  readonly streamed: readonly LoggedEvent[]
  /** Ids of events in the order in which a webhook had them. */
  readonly hooked: readonly string[]
}

/** As the sink has it: 21,000 gas at its base fee, at 3,000 USD. */
const FEE_WEI = 21_000n * 1_000_000n
const USD = 3_000n
const WEI = 10n ** 18n
const MICROS = 1_000_000n
/** Each is rounded up. */
const ROUNDED_MICROS = 2n

export function judge(found: Found): string[] {
  return [
    ...judgeSends(found),
    ...judgeChain(found),
    ...judgeCaps(found),
    ...judgePlaces(found.told.map(({ log }) => log)),
    ...judgeEnds(found),
    ...found.told.flatMap((told) => judgeTold(told, found.listed)),
  ]
}

/**
 * Who was acknowledged is listed and landed once, and hears of no refusal afterwards; who was refused did not
 * land. Asked again by its key, what was refused may be carried out: of a cap, others that held a part of it
 * have come to nothing meanwhile.
 */
function judgeSends({ asked, listed, landed }: Found): string[] {
  const wrong: string[] = []
  const byId = new Map(listed.map((tx) => [tx.tx_id, tx]))
  if (byId.size !== listed.length) wrong.push('an id is listed twice')
  const byRecipient = grouped(landed, ({ to }) => to)
  const leaders = new Map<string, string>()
  for (const { purse, to, value, idempotencyKey, tries } of asked) {
    const name = `${idempotencyKey} (${tries.map(({ said }) => said).join(', ')})`
    const ids = new Set(tries.filter(({ kind }) => kind === 'acknowledged').map((it) => it.said))
    const there = byRecipient.get(to) ?? []
    const nonces = new Set(there.map(({ nonce }) => nonce))
    const definite = tries.filter(({ kind }) => kind !== 'open')
    const isRefused = definite.at(-1)?.kind === 'refused'
    if (ids.size > 1) wrong.push(`${name}: one key, several ids`)
    if (isRefused && ids.size > 0) wrong.push(`${name}: acknowledged and refused`)
    if (isRefused && there.length > 0) wrong.push(`${name}: refused and landed`)
    if (!isRefused && ids.size === 0) wrong.push(`${name}: never answered`)
    if (nonces.size > 1) wrong.push(`${name}: doubled, by nonces ${[...nonces].join(', ')}`)
    const [id] = ids
    if (id === undefined) continue
    if (leaders.has(id)) wrong.push(`${name}: ${id} is of ${leaders.get(id)} as well`)
    leaders.set(id, idempotencyKey)
    const tx = byId.get(id)
    const last = there.at(-1)
    if (tx === undefined) wrong.push(`${name}: lost, ${id} is not listed`)
    else if (tx.status !== 'confirmed') wrong.push(`${name}: ${id} is ${tx.status}`)
    if (last === undefined) wrong.push(`${name}: lost, ${id} never landed`)
    else if (last.value !== value) wrong.push(`${name}: another amount landed`)
    else if (last.from !== purse.address) wrong.push(`${name}: landed from another wallet`)
    else if (tx !== undefined && !there.some(({ hash }) => hash === tx.tx_hash)) {
      wrong.push(`${name}: ${tx.tx_hash} is not what landed`)
    }
  }
  for (const { tx_id: id, status } of listed) {
    if (!leaders.has(id) && status !== 'dropped') wrong.push(`${id} is ${status}, and of nobody`)
  }
  return wrong
}

/** What landed was asked for, and each wallet's nonces follow one another. */
function judgeChain({ asked, purses, landed }: Found): string[] {
  const wrong: string[] = []
  const wanted = new Set(asked.map(({ to }) => to))
  const bySender = grouped(landed, ({ from }) => from)
  for (const { hash, from, to, value } of landed) {
    const isFill = to === from && value === 0n
    if (!isFill && !wanted.has(to)) wrong.push(`${hash} was asked for by nobody`)
  }
  const wallets = new Set(purses.map(({ address }) => address))
  for (const [from, own] of bySender) {
    if (!wallets.has(from)) wrong.push(`${from} is nobody's wallet`)
    const calls = grouped(own, ({ nonce }) => nonce)
    for (let nonce = 0; nonce < calls.size; nonce++) {
      if (!calls.has(nonce)) wrong.push(`${from} has a gap at nonce ${nonce}`)
    }
    for (const [nonce, same] of calls) {
      const sent = new Set(same.filter(({ to }) => to !== from).map(({ to }) => to))
      if (sent.size > 1) wrong.push(`${from} used nonce ${nonce} for ${sent.size} calls`)
    }
  }
  return wrong
}

/**
 * Of bytes that took each other's place at a nonce a chain mines one, and the sink shows all: that which the
 * service lists, or what is worth most.
 */
function minedOf(own: readonly Landed[], byHash: ReadonlyMap<string, unknown>): Landed[] {
  return [...grouped(own, ({ nonce }) => nonce).values()].map((same) => {
    const worthMost = same.reduce((one, other) => (other.value > one.value ? other : one))
    return same.find(({ hash }) => byHash.has(hash)) ?? worthMost
  })
}

function judgeCaps({ asked, purses, listed, landed, limits }: Found): string[] {
  const wrong: string[] = []
  const recipients = grouped(asked, ({ purse }) => purse)
  const byHash = new Map(listed.map((tx) => [tx.tx_hash ?? '', tx]))
  for (const purse of purses) {
    const { capMicros, address, subWalletId: name } = purse
    const own = minedOf(
      landed.filter(({ from }) => from === address),
      byHash,
    )
    const spent = own.reduce((sum, { value }) => sum + microsOf(value + FEE_WEI), 0n)
    const counted = own.reduce((sum, { hash }) => sum + usdMicros(byHash.get(hash)?.spend_usd), 0n)
    if (capMicros !== null && spent > capMicros) wrong.push(`${name}: ${spent} of ${capMicros}`)
    const said = limits.get(purse)
    if (said === undefined) wrong.push(`${name}: no limits`)
    else if (said.reservedMicros !== 0n) wrong.push(`${name}: ${said.reservedMicros} still held`)
    else if (said.usedMicros !== counted) {
      wrong.push(`${name}: ${said.usedMicros} used, ${counted} by its transactions`)
    }
    if (counted < spent || counted > spent + ROUNDED_MICROS * BigInt(own.length)) {
      wrong.push(`${name}: counts ${counted}, the chain shows ${spent}`)
    }
    // It would prove nothing were it not met.
    const isMet = (recipients.get(purse) ?? []).some(({ tries }) =>
      tries.some(({ kind }) => kind === 'refused'),
    )
    if (!isMet || capMicros === null) continue
    const largest = 3n * 10n ** 13n
    if (spent + 2n * microsOf(largest + FEE_WEI) < capMicros) {
      wrong.push(`${name}: refused at ${spent} of ${capMicros}`)
    }
  }
  return wrong
}

/**
 * Places are counted for a group of users, so that users of one group have each place once between them,
 * and any other all of their own.
 */
function judgePlaces(logs: readonly (readonly LoggedEvent[])[]): string[] {
  const wrong: string[] = []
  for (const log of logs) {
    const at = log.findIndex(({ seq }, index) => seq <= (log[index - 1]?.seq ?? 0))
    if (at >= 0) wrong.push(`a log has ${log[at]?.seq} after ${log[at - 1]?.seq}`)
  }
  const alone = logs.map((log) => gapOf(log.map(({ seq }) => seq)))
  const together = gapOf(logs.flat().map(({ seq }) => seq))
  if (together === null) return wrong
  return [...wrong, ...alone.filter((gap) => gap !== null)]
}

function gapOf(places: readonly number[]): string | null {
  const sorted = places.toSorted((one, other) => one - other)
  const at = sorted.findIndex((seq, index) => seq !== index + 1)
  return at < 0 ? null : `a log has ${sorted[at]} in place ${at + 1}`
}

/** Each send that was confirmed is told of as broadcast and as confirmed, once. */
function judgeEnds({ listed, told }: Found): string[] {
  const wrong: string[] = []
  const events = told.flatMap(({ log }) => log)
  for (const type of ['transaction.broadcast', 'transaction.confirmed']) {
    const own = events.filter((event) => event.type === type)
    const byId = grouped(own, ({ data }) => data.tx_id)
    for (const { tx_id: id, status } of listed) {
      const times = byId.get(id)?.length ?? 0
      if (status === 'confirmed' && times !== 1) wrong.push(`${id} has ${times} events ${type}`)
    }
  }
  return wrong
}

/** The stream had all of the log in order, and the webhook what is of each wallet. */
function judgeTold({ log, streamed, hooked }: Told, listed: readonly TransactionView[]): string[] {
  const wrong: string[] = []
  if (log.length === 0) wrong.push('a log is empty')
  if (streamed.map(({ event_id: id }) => id).join() !== log.map((it) => it.event_id).join()) {
    wrong.push(`the stream had ${streamed.length} of ${log.length} events, or others`)
  }
  const walletOf = new Map(listed.map((tx) => [tx.tx_id, tx.from]))
  const ofTransactions = log.filter(({ type }) => type.startsWith('transaction.'))
  const byId = new Map(ofTransactions.map((event) => [event.event_id, event]))
  const seen = new Set<string>()
  const last = new Map<string, number>()
  for (const id of hooked) {
    const event = byId.get(id)
    if (event === undefined) wrong.push(`the webhook had ${id}, which is not in the log`)
    if (event === undefined || seen.has(id)) continue
    seen.add(id)
    const lane = walletOf.get(event.data.tx_id ?? '')
    if (lane === undefined) wrong.push(`the webhook had ${id}, of no transaction`)
    if (lane === undefined) continue
    const before = last.get(lane) ?? 0
    if (event.seq < before) wrong.push(`the webhook had ${event.seq} after ${before}`)
    last.set(lane, Math.max(before, event.seq))
  }
  const missing = ofTransactions.filter(({ event_id: id }) => !seen.has(id))
  if (missing.length > 0) wrong.push(`the webhook never had ${missing.length} events`)
  return wrong
}

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** Rounded up, as the service counts. */
function microsOf(wei: bigint): bigint {
  return (wei * USD * MICROS + WEI - 1n) / WEI
}

/** Micro-USD of "12.345678". */
export function usdMicros(text: unknown): bigint {
  const [whole = '', fraction = ''] = String(text ?? '0').split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}
