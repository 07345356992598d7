import type { SimulatedApproval, Simulation } from '../chains/simulate/simulation.js'
import type { Address } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import type { Holdings } from './holdings.js'
import type { PriceBook } from './price-book.js'
import type { Approval, Movement, QuotedCall, Recipient } from './quoter.js'
import type { StaticReading } from './static-reading.js'
import { ZERO_ADDRESS } from './well-known.js'

/**
 * What a call can take out of the wallet: the larger of what its words say and what it does when
 * it is run, inflows never netted. A contract can behave differently the second time, so what the
 * contracts it touches could pull by allowances that stand already counts in full beside it.
 */
export interface Outflow {
  /** No bound when `prices` has a gap afterwards. */
  readonly valueMicros: UsdMicros
  readonly unpriced: boolean
  readonly movements: readonly Movement[]
  readonly approvals: readonly Approval[]
  readonly recipients: readonly Recipient[]
}

export interface OutflowInput {
  readonly call: QuotedCall
  readonly reading: StaticReading
  /** Null when no node can run it. */
  readonly simulation: Simulation | null
  /** Balances of priced tokens that are approved or claimed, and standing allowances. */
  readonly holdings: Holdings
  /** Spenders that can take nothing without the wallet's own signature: our Router. */
  readonly isOurs: (spender: Address) => boolean
  readonly prices: PriceBook
}

export function outflowOf(input: OutflowInput): Outflow {
  const { call, reading, simulation, holdings, prices } = input
  const direct = sumByToken(reading.outflows)
  const run = runOf(call.from, simulation)
  const approvals = approvalsOf(input)
  let unpriced = reading.movesItems || run.movesItems
  const worth = (token: string, amount: bigint): UsdMicros => {
    const micros = prices.token(token, amount)
    if (micros === null) unpriced = true
    return micros ?? 0n
  }
  const native = prices.native(max(call.value, run.nativeOut))

  let seen = native
  let said = native
  const exposed = exposureByToken(approvals, run.inflows, holdings)
  for (const token of new Set([
    ...direct.keys(),
    ...run.outflows.keys(),
    ...exposed.keys(),
    ...holdings.allowances.keys(),
  ])) {
    const ordered = amountOf(direct, token)
    const pullable = min(amountOf(holdings.allowances, token), amountOf(holdings.balances, token))
    const moved = max(amountOf(run.outflows, token), ordered + pullable)
    seen += worth(token, moved + amountOf(exposed, token))
    said += worth(token, ordered)
  }
  for (const approval of approvals) if (!hasAmount(approval)) unpriced = true
  for (const claim of reading.claims) {
    if (claim.token !== null) {
      const token = claim.token.toLowerCase()
      said += worth(token, min(claim.amount, holdings.balances.get(token) ?? claim.amount))
    } else said += dearest(claim.amount, holdings, prices)
  }
  return {
    valueMicros: max(seen, said),
    unpriced,
    movements: movementsOf(call.from, simulation, prices),
    approvals: approvals.map((approval) => ({
      ...approval,
      valueMicros: hasAmount(approval)
        ? prices.shown(approval.token.toLowerCase(), withinBalance(approval, holdings))
        : null,
    })),
    recipients: recipientsOf(call.from, simulation),
  }
}

/** A claim on a token that the calldata does not name is one on the token that costs most. */
function dearest(amount: bigint, holdings: Holdings, prices: PriceBook): UsdMicros {
  let highest = 0n
  for (const [token, balance] of holdings.balances) {
    highest = max(highest, prices.token(token, min(amount, balance)) ?? 0n)
  }
  return highest
}

type Amounts = ReadonlyMap<string, bigint>

interface Run {
  readonly nativeOut: bigint
  /** By lower-case token; transfers to the wallet itself leave nothing. */
  readonly outflows: Amounts
  readonly inflows: Amounts
  readonly movesItems: boolean
}

function runOf(wallet: Address, simulation: Simulation | null): Run {
  let nativeOut = 0n
  let movesItems = false
  const outflows: { token: Address; amount: bigint }[] = []
  const inflows: { token: Address; amount: bigint }[] = []
  for (const { token, from, to, amount, kind } of simulation?.transfers ?? []) {
    if (from === to) continue
    if (from === wallet) {
      if (token === null) nativeOut += amount
      else if (kind === 'erc20') outflows.push({ token, amount })
      else movesItems = true
    } else if (to === wallet && token !== null && kind === 'erc20') inflows.push({ token, amount })
  }
  return { nativeOut, outflows: sumByToken(outflows), inflows: sumByToken(inflows), movesItems }
}

/**
 * One per token, spender and kind, the largest of what words and run say: a simulation promises no
 * order, and an approval that is used and taken back within the call was one all the same.
 */
function approvalsOf(input: OutflowInput): UnvaluedApproval[] {
  const { call, reading, simulation, isOurs } = input
  const largest = new Map<string, UnvaluedApproval>()
  const ids = new Map(reading.approvals.map((it) => [`${it.token}${it.spender}`, it.tokenId]))
  for (const approval of [...(simulation?.approvals ?? []), ...reading.approvals]) {
    const { token, owner, spender, amount, kind } = approval
    // Nobody can act as the zero address; approving it is how ERC-721 takes an approval away.
    if (owner !== call.from || amount === 0n || spender === ZERO_ADDRESS) continue
    if (isOurs(spender)) continue
    const key = `${kind}${token}${spender}`
    const before = largest.get(key)
    if (before !== undefined && !exceeds(approval, before)) continue
    const tokenId = kind === 'erc721' ? ids.get(`${token}${spender}`) : undefined
    const item = tokenId === undefined ? {} : { tokenId }
    largest.set(key, { token, owner, spender, amount, kind, ...item })
  }
  const all = [...largest.values()]
  const items = new Set(
    all.filter(({ kind }) => kind === 'erc721').map(({ token, spender }) => `${token}${spender}`),
  )
  // By its words alone an approval of an item reads as one of an amount.
  return all.filter(
    ({ kind, token, spender }) => kind !== 'erc20' || !items.has(`${token}${spender}`),
  )
}

type UnvaluedApproval = Omit<Approval, 'valueMicros'>

function exceeds(a: SimulatedApproval, b: SimulatedApproval): boolean {
  if (b.amount === 'all') return false
  return a.amount === 'all' || a.amount > b.amount
}

interface AmountApproval extends SimulatedApproval {
  readonly amount: bigint
}

/** False for items and collections: what they are worth nobody here knows. */
function hasAmount(approval: SimulatedApproval): approval is AmountApproval {
  return approval.amount !== 'all' && (approval.kind === 'erc20' || approval.kind === 'permit2')
}

function withinBalance({ token, amount }: AmountApproval, { balances }: Holdings): bigint {
  return min(amount, balances.get(token.toLowerCase()) ?? amount)
}

/** What is newly open to others; together never more than the wallet has and is getting. */
function exposureByToken(
  approvals: readonly SimulatedApproval[],
  inflows: Amounts,
  { balances }: Holdings,
): Amounts {
  const open = sumByToken(approvals.filter(hasAmount))
  const bounded = new Map<string, bigint>()
  for (const [token, amount] of open) {
    const balance = balances.get(token)
    const reachable = balance === undefined ? amount : balance + amountOf(inflows, token)
    bounded.set(token, min(amount, reachable))
  }
  return bounded
}

function movementsOf(
  wallet: Address,
  simulation: Simulation | null,
  prices: PriceBook,
): readonly Movement[] {
  const own = (simulation?.transfers ?? []).filter(
    ({ from, to }) => (from === wallet) !== (to === wallet),
  )
  return own.map((transfer) => {
    const { token, kind, amount } = transfer
    const key = token === null ? 'native' : token.toLowerCase()
    const priced = kind === 'native' || kind === 'erc20'
    return { ...transfer, valueMicros: priced ? prices.shown(key, amount) : null }
  })
}

function recipientsOf(wallet: Address, simulation: Simulation | null): readonly Recipient[] {
  const found = new Map<Address, Recipient>()
  const note = (address: Address, path: string) => {
    if (address === wallet || address === ZERO_ADDRESS || found.has(address)) return
    found.set(address, { address, path })
  }
  for (const { to, token } of simulation?.transfers ?? []) {
    note(to, `simulated transfer of ${token ?? 'native currency'}`)
  }
  for (const { spender, token } of simulation?.approvals ?? []) {
    note(spender, `simulated approval of ${token}`)
  }
  return [...found.values()]
}

function sumByToken(entries: readonly { token: Address; amount: bigint }[]): Amounts {
  const sums = new Map<string, bigint>()
  for (const { token, amount } of entries) {
    const key = token.toLowerCase()
    sums.set(key, (sums.get(key) ?? 0n) + amount)
  }
  return sums
}

function amountOf(amounts: Amounts, token: string): bigint {
  return amounts.get(token) ?? 0n
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
