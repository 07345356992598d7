import type { PricedAllowanceKind } from './allowance.js'
import type { Address } from './ids.js'
import { amountWithin, type UsdMicros } from './money.js'
import { type UnitPrice, worthOf } from './unit-price.js'

/**
 * What a call opens up and moves, token by token, before it is known who paid for which allowance.
 * The quoter makes it, since it asks nodes; what it comes to is decided where the ledger is, in the
 * actor, in the step that reserves it.
 */
export interface Exposure {
  /** Native currency, and what third parties hand to others. */
  readonly otherMicros: UsdMicros
  /** What the words of the call claim by themselves: it is worth no less. */
  readonly claimedMicros: UsdMicros
  /** Native currency, on top of which the claims come. */
  readonly nativeMicros: UsdMicros
  readonly tokens: readonly TokenExposure[]
}

/** Smallest units of one priced token. */
export interface TokenExposure {
  readonly token: Address
  readonly unit: UnitPrice
  /** Nobody can take more than there is. */
  readonly supply: bigint
  readonly balance: bigint
  /** What the function that `to` runs says it moves. */
  readonly ordered: bigint
  /** What left when it was run. */
  readonly ran: bigint
  /** New approvals, but for those of Permit2 itself. */
  readonly approvals: readonly AllowanceAmount[]
  /** Newly approved to Permit2, which hands it to those alone who are approved within it. */
  readonly toPermit2: bigint
  /** What contracts that the call touches may take already. */
  readonly standing: readonly AllowanceAmount[]
  /** The one spender whose pull a credit may explain; null where the wallet moves it itself. */
  readonly puller: Address | null
  /** What leaves for 10,000 that are pulled, of tokens with a fee on top; absent is 10,000. */
  readonly pullTakesBps?: bigint
  /** What others approved of theirs on this call's word, less what left them in it. */
  readonly openedByOthers: bigint
}

export interface AllowanceAmount {
  readonly spender: Address
  readonly kind: PricedAllowanceKind
  readonly amount: bigint
}

/** What the asking key's lineage has paid for; amounts in smallest units. */
export interface Credits {
  /** Null when another lineage paid for the allowance, or nobody knows who did. */
  of(token: Address, spender: Address, kind: PricedAllowanceKind): Credit | null
  /** What other lineages, or nobody knows who, approved within Permit2; null when not known. */
  withinPermit2(token: Address): bigint | null
}

export interface Credit {
  /** Paid for in this window and not used up. */
  readonly left: bigint
  /** Used by calls whose end the chain does not show yet: the allowance still counts it. */
  readonly held: bigint
}

/** One use of a credit, or the making of one. */
export interface CreditAmount extends AllowanceAmount {
  readonly token: Address
}

export interface Spend {
  readonly valueMicros: UsdMicros
  readonly uses: readonly CreditAmount[]
  /** What of each new approval others can still be called upon for. */
  readonly made: readonly CreditAmount[]
}

/**
 * What a call counts.
 *
 * - New approvals count in full. A key without any cap counts no more than there is of the token,
 *   so that its counters stay readable.
 * - Standing allowances that another lineage paid for, or nobody knows who, count in full.
 * - Those of the own lineage count as far as they are not credited, and by the balance: what may
 *   come in later was paid for when they were made.
 * - What leaves by none of these counts as it is.
 *
 * Which of several spenders pulls is not known before it happens. So credits are used only by what
 * all uncredited allowances together cannot explain, and only those of the contract that the wallet
 * calls: a transfer to somebody who might have pulled it instead would use up his credit, and he
 * could pull as much again.
 *
 * @param credits null where there is no ledger: the most that the call can count
 */
export function spendOf(exposure: Exposure, credits: Credits | null, isCapped: boolean): Spend {
  const uses: CreditAmount[] = []
  const made: CreditAmount[] = []
  let seen = exposure.otherMicros
  let said = exposure.nativeMicros + exposure.claimedMicros
  for (const it of exposure.tokens) {
    seen += worthOf(countedOf(it, credits, isCapped, uses, made), it.unit)
    said += worthOf(it.ordered, it.unit)
  }
  return { valueMicros: max(seen, said), uses, made }
}

function countedOf(
  exposed: TokenExposure,
  credits: Credits | null,
  isCapped: boolean,
  uses: CreditAmount[],
  made: CreditAmount[],
): bigint {
  const { token, supply, balance, ordered, ran, approvals, toPermit2, standing, puller } = exposed
  const gross = (amount: bigint) => withFee(amount, exposed.pullTakesBps)
  const counted = (amount: bigint) => (isCapped ? gross(amount) : min(gross(amount), supply))
  let pulled = ran > ordered ? ran - ordered : 0n
  let total = ordered + counted(exposed.openedByOthers)
  for (const approval of approvals) {
    const amount = counted(approval.amount)
    total += amount
    // What is pulled at once by a new approval is paid for with it.
    const used = min(pulled, amount)
    pulled -= used
    made.push({ ...approval, token, amount: min(amount - used, approval.amount) })
  }
  if (toPermit2 > 0n) {
    total += counted(min(toPermit2, credits?.withinPermit2(token) ?? toPermit2))
  }
  let explained = 0n
  let own = 0n
  let unpaid = 0n
  let credited = 0n
  const usable: CreditAmount[] = []
  for (const allowance of standing) {
    const credit = credits?.of(token, allowance.spender, allowance.kind) ?? null
    if (credit === null) {
      explained += gross(allowance.amount)
      total += counted(allowance.amount)
      continue
    }
    own += allowance.amount
    const free = allowance.amount > credit.held ? allowance.amount - credit.held : 0n
    const amount = min(credit.left, free)
    unpaid += free - amount
    if (allowance.spender !== puller) {
      explained += gross(free - amount)
      continue
    }
    explained += gross(allowance.amount)
    credited += amount
    if (amount > 0n) usable.push({ ...allowance, token, amount })
  }
  total += min(max(pulled, min(balance, gross(own))), gross(unpaid))
  if (pulled > explained) total += pulled - explained
  let rest = min(pulled, credited)
  for (const use of usable) {
    const amount = min(use.amount, rest)
    rest -= amount
    if (amount > 0n) uses.push({ ...use, amount })
  }
  return total
}

/**
 * What would fit of a call whose approval is too large.
 * @param excessMicros by how much the call as it is passes a cap
 * @returns null when the call approves nothing or more than one thing, or nothing would fit
 */
export function approvalThatFits(
  { tokens }: Exposure,
  excessMicros: UsdMicros,
): CreditAmount | null {
  const approving = tokens.filter(({ approvals }) => approvals.length > 0)
  const [only, ...more] = approving
  const [approval, ...others] = only?.approvals ?? []
  if (only === undefined || approval === undefined || more.length + others.length > 0) return null
  const { price, priceDecimals, decimals } = only.unit
  const bps = only.pullTakesBps ?? WITHOUT_FEE_BPS
  const micros = worthOf(withFee(approval.amount, bps), only.unit) - excessMicros
  const amount = (amountWithin(micros, decimals, price, priceDecimals) * WITHOUT_FEE_BPS) / bps
  return amount > 0n ? { ...approval, token: only.token, amount } : null
}

export const WITHOUT_FEE_BPS = 10_000n

/** Rounded up. */
function withFee(amount: bigint, takesBps = WITHOUT_FEE_BPS): bigint {
  return (amount * takesBps + WITHOUT_FEE_BPS - 1n) / WITHOUT_FEE_BPS
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
