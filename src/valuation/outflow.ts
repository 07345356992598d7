import { getAddress } from 'viem/utils'
import type { SimulatedApproval, Simulation } from '../chains/simulate/simulation.js'
import type { AllowanceAmount, Exposure, TokenExposure } from '../domain/exposure.js'
import { type Address, ZERO_ADDRESS } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import { worthOf } from '../domain/unit-price.js'
import { namedIn } from './calldata.js'
import type { Holdings } from './holdings.js'
import type { PriceBook } from './price-book.js'
import type { Approval, Movement, QuotedCall, Recipient } from './quoter.js'
import type { StaticReading } from './static-reading.js'
import { gainedByOthers } from './third-parties.js'
import { givesAwayUnpriced } from './unpriced-of-others.js'
import { PERMIT2, UINT256_MAX } from './well-known.js'

/**
 * What a call can take out of the wallet: the larger of what its calldata says and what its
 * simulation does, without netting inflows. A contract can behave differently the second time, so
 * what the contracts it reaches could take by existing allowances counts as well.
 */
export interface Outflow {
  /** Not a bound when `prices` has a gap afterwards. */
  readonly exposure: Exposure
  /**
   * The part of the exposure that others receive and may take, and what the wallet itself pays in
   * the simulation.
   */
  readonly others: { readonly countedMicros: UsdMicros; readonly paidMicros: UsdMicros }
  readonly unpriced: boolean
  readonly movements: readonly Movement[]
  readonly approvals: readonly Approval[]
  readonly recipients: readonly Recipient[]
}

export interface OutflowInput {
  readonly call: QuotedCall
  readonly reading: StaticReading
  /** Null when no node can simulate it. */
  readonly simulation: Simulation | null
  /** Balances of priced tokens with new allowances or claims, and standing allowances. */
  readonly holdings: Holdings
  /** Spenders that can take nothing without the wallet's own signature: our Router. */
  readonly isOurs: (spender: Address) => boolean
  readonly prices: PriceBook
  /** The fees on top by lower-case token address; see fees-on-top.ts. */
  readonly pullTakesBps?: ReadonlyMap<string, bigint>
  /** The remaining allowances given by others; see residual-allowances.ts. Absent to rely on the logs. */
  readonly residualAllowanceOf?: ResidualAllowanceOf
}

/**
 * What the spender of a third contract's allowance could still take after the call, in smallest
 * units; null when only logs show it. It is read where some of the token left that contract in the
 * call.
 */
export type ResidualAllowanceOf = (approval: SimulatedApproval) => bigint | null

export function outflowOf(input: OutflowInput): Outflow {
  const { call, reading, simulation, holdings, prices } = input
  const direct = sumByToken(reading.outflows)
  const run = runOf(call.from, simulation)
  const approvals = approvalsOf(input)
  let unpriced = reading.movesItems || run.movesItems || reading.opensToOthers
  const nativeMicros = prices.native(max(call.value, run.nativeOut))
  const approved = byToken(approvals.filter(hasAmount))
  const opened = openedByOthers(call, simulation, input.residualAllowanceOf)
  const transfers = simulation?.transfers ?? []
  if (opened.items || givesAwayUnpriced(call, transfers, prices)) unpriced = true
  const tokens: TokenExposure[] = []
  let countedMicros = gainedByOthers(call.from, transfers, prices)
  let paidMicros = nativeMicros
  const otherMicros = nativeMicros + countedMicros
  for (const key of new Set([
    ...direct.keys(),
    ...run.outflows.keys(),
    ...approved.keys(),
    ...holdings.standing.keys(),
    ...opened.amounts.keys(),
  ])) {
    const [ordered, ran] = [amountOf(direct, key), amountOf(run.outflows, key)]
    const fresh = approved.get(key) ?? []
    const standing = holdings.standing.get(key) ?? []
    const byOthers = amountOf(opened.amounts, key)
    const isOwn = ordered > 0n || ran > 0n || fresh.length > 0 || standing.length > 0
    if (!isOwn && byOthers === 0n) continue
    const unit = prices.unit(key)
    if (unit === null) {
      if (isOwn || opened.held.has(key)) unpriced = true
      continue
    }
    countedMicros += worthOf(byOthers, unit)
    paidMicros += worthOf(ran, unit)
    const balance = amountOf(holdings.balances, key)
    const takes = input.pullTakesBps?.get(key)
    tokens.push({
      token: getAddress(key),
      unit,
      // A token that reports no supply bounds nothing.
      supply: holdings.supplies.get(key) ?? UINT256_MAX,
      ...{ balance, ordered, ran, standing, openedByOthers: byOthers },
      // A token that the wallet calls moves only what the wallet's own call says.
      puller: call.to.toLowerCase() === key ? null : call.to,
      approvals: fresh.filter((it) => !isPermit2Itself(it)),
      toPermit2: fresh.find(isPermit2Itself)?.amount ?? 0n,
      ...(takes === undefined ? {} : { pullTakesBps: takes }),
    })
  }
  for (const approval of approvals) if (!hasAmount(approval)) unpriced = true
  let claimedMicros = 0n
  for (const claim of reading.claims) {
    if (claim.token !== null) {
      const worth = prices.token(claim.token.toLowerCase(), claim.amount)
      if (worth === null) unpriced = true
      claimedMicros += worth ?? 0n
    } else claimedMicros += mostValuable(claim.amount, holdings, prices)
  }
  return {
    exposure: { nativeMicros, otherMicros, claimedMicros, tokens },
    others: { countedMicros, paidMicros },
    unpriced,
    movements: movementsOf(call.from, simulation, prices),
    approvals: approvals.map((approval) => ({
      ...approval,
      valueMicros: hasAmount(approval)
        ? prices.shown(approval.token.toLowerCase(), withinSupply(approval, holdings))
        : null,
    })),
    recipients: recipientsOf(call.from, simulation),
  }
}

/** Permit2 takes nothing for itself: its spenders are approved within it. */
function isPermit2Itself({ kind, spender }: AllowanceAmount): boolean {
  return kind === 'erc20' && spender === PERMIT2
}

/** A claim on a token that the calldata does not name counts as one on the most valuable token. */
function mostValuable(amount: bigint, holdings: Holdings, prices: PriceBook): UsdMicros {
  let highest = 0n
  for (const [token, balance] of holdings.balances) {
    highest = max(highest, prices.token(token, min(amount, balance)) ?? 0n)
  }
  return highest
}

type Amounts = ReadonlyMap<string, bigint>

interface Run {
  readonly nativeOut: bigint
  /** The outflows by lower-case token; transfers to the wallet itself are left out. */
  readonly outflows: Amounts
  readonly movesItems: boolean
}

function runOf(wallet: Address, simulation: Simulation | null): Run {
  let nativeOut = 0n
  let movesItems = false
  const outflows: { token: Address; amount: bigint }[] = []
  for (const { token, from, to, amount, kind } of simulation?.transfers ?? []) {
    if (from === to) continue
    if (from !== wallet) continue
    if (token === null) nativeOut += amount
    else if (kind === 'erc20') outflows.push({ token, amount })
    else movesItems = true
  }
  return { nativeOut, outflows: sumByToken(outflows), movesItems }
}

/**
 * One allowance per token, spender and kind, the largest of calldata and simulation: a simulation
 * promises no order, and an allowance that is used and revoked within the call was still given.
 */
function approvalsOf(input: OutflowInput): UnvaluedApproval[] {
  const { call, reading, simulation, isOurs } = input
  const largest = new Map<string, UnvaluedApproval>()
  const ids = new Map(reading.approvals.map((it) => [`${it.token}${it.spender}`, it.tokenId]))
  for (const approval of [...(simulation?.approvals ?? []), ...reading.approvals]) {
    const { token, owner, spender, amount, kind } = approval
    // No one can act as the zero address; approving it is how ERC-721 removes an approval.
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
  // From the calldata alone, the approval of a token id looks like an allowance of an amount.
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
  readonly kind: AllowanceAmount['kind']
}

/** False for token ids and collections, whose value is unknown. */
function hasAmount<T extends SimulatedApproval>(approval: T): approval is T & AmountApproval {
  return approval.amount !== 'all' && (approval.kind === 'erc20' || approval.kind === 'permit2')
}

interface OpenedByOthers {
  readonly amounts: Amounts
  /**
   * Lower-case tokens that an approving contract held before, because it received none in the call.
   */
  readonly held: ReadonlySet<string>
  /** Whether token ids or a collection were approved. */
  readonly items: boolean
}

/**
 * A contract that holds assets for the wallet may give an allowance to someone. Contracts do this
 * all the time, and old tokens log it with each transfer, so an allowance counts only when the call
 * names or reaches the spender, and when the contract that the wallet calls gives it for something
 * that does not move in this call; what left the approving contract within the call was the use of
 * that allowance, once. This goes by logs: the assets may have left in another way while the
 * allowance remains.
 */
export function openedByOthers(
  { from, to, data }: Pick<QuotedCall, 'from' | 'to' | 'data'>,
  simulation: Pick<Simulation, 'transfers' | 'approvals'> | null,
  residualAllowanceOf: ResidualAllowanceOf = () => null,
): OpenedByOthers {
  const given = (simulation?.approvals ?? []).filter(
    ({ owner, spender, amount }) =>
      owner !== from && amount !== 0n && spender !== ZERO_ADDRESS && spender !== from,
  )
  const named = namedIn(data, new Set(given.map(({ spender }) => spender)))
  const transfers = simulation?.transfers ?? []
  const [left, got] = [movedBy(transfers, 'from'), movedBy(transfers, 'to')]
  const counted = given.filter(({ owner, token, spender }) => {
    if (spender === to || named.has(spender)) return true
    return owner === to && !left.has(`${owner}${token}`) && !got.has(`${owner}${token}`)
  })
  const priced = counted.filter(hasAmount)
  const amounts = new Map<string, bigint>()
  const held = new Set<string>()
  for (const approvals of bySpender(priced.filter((it) => !isPermit2Itself(it)))) {
    const [first] = approvals
    const { owner, token } = first
    const largest = approvals.reduce((most, { amount }) => max(most, amount), 0n)
    let used = min(largest, amountOf(left, `${owner}${token}`))
    const open = used === 0n ? null : residualAllowanceOf(first)
    if (open !== null) used = min(used, max(largest - open, 0n))
    left.set(`${owner}${token}`, amountOf(left, `${owner}${token}`) - used)
    const key = token.toLowerCase()
    for (const { amount } of approvals) {
      if (amount <= used) continue
      amounts.set(key, amountOf(amounts, key) + amount - used)
      if (!got.has(`${owner}${token}`)) held.add(key)
    }
  }
  return { amounts, held, items: priced.length < counted.length }
}

type Several<T> = [T, ...T[]]

/** The allowances by owner, spender and token. */
function bySpender(approvals: readonly AmountApproval[]): Iterable<Several<AmountApproval>> {
  const found = new Map<string, Several<AmountApproval>>()
  for (const approval of approvals) {
    const { owner, token, spender, kind } = approval
    const key = `${owner}${token}${spender}${kind}`
    const known = found.get(key)
    if (known === undefined) found.set(key, [approval])
    else known.push(approval)
  }
  return found.values()
}

/**
 * The amounts that left addresses, or came to them, by address and token in their present spelling.
 */
function movedBy(transfers: Simulation['transfers'], end: 'from' | 'to'): Map<string, bigint> {
  const moved = new Map<string, bigint>()
  for (const { [end]: party, token, amount } of transfers) {
    if (token === null || amount === 0n) continue
    moved.set(`${party}${token}`, amountOf(moved, `${party}${token}`) + amount)
  }
  return moved
}

/** Bounds an allowance for people to read: an unlimited one is worth the token's supply. */
function withinSupply({ token, amount }: AmountApproval, { supplies }: Holdings): bigint {
  return min(amount, supplies.get(token.toLowerCase()) ?? amount)
}

function byToken(approvals: readonly AmountApproval[]): ReadonlyMap<string, AllowanceAmount[]> {
  const found = new Map<string, AllowanceAmount[]>()
  for (const { token, spender, kind, amount } of approvals) {
    const key = token.toLowerCase()
    const known = found.get(key)
    const entry = { spender, kind, amount }
    if (known === undefined) found.set(key, [entry])
    else known.push(entry)
  }
  return found
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
