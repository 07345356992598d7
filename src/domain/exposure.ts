import type { PricedAllowanceKind } from './allowance.js'
import type { Address } from './ids.js'
import { amountWithin, type UsdMicros } from './money.js'
import { type UnitPrice, worthOf } from './unit-price.js'

/**
 * What a call moves and permits, token by token, before it is known who paid for which allowance.
 * The quoter makes it, since that needs nodes; the spend is computed where the ledger is, in the
 * actor, in the step that reserves it.
 */
export interface Exposure {
  /** Native currency, and assets that third parties hand to others. */
  readonly otherMicros: UsdMicros
  /** The value that the calldata itself claims to move: the call counts no less. */
  readonly claimedMicros: UsdMicros
  /** Native currency, to which the claims are added. */
  readonly nativeMicros: UsdMicros
  readonly tokens: readonly TokenExposure[]
}

/** Amounts of one priced token, in smallest units. */
export interface TokenExposure {
  readonly token: Address
  readonly unit: UnitPrice
  /** The total supply, which bounds every allowance. */
  readonly supply: bigint
  readonly balance: bigint
  /** The amount that the function at `to` moves according to its arguments. */
  readonly ordered: bigint
  /** The amount that left in the simulation. */
  readonly ran: bigint
  /** New allowances, except those given to Permit2. */
  readonly approvals: readonly AllowanceAmount[]
  /**
   * The new allowance given to Permit2, which lets only the spenders approved within it take
   * tokens.
   */
  readonly toPermit2: bigint
  /** Allowances that contracts touched by the call already have. */
  readonly standing: readonly AllowanceAmount[]
  /**
   * The only spender whose transfer a credit may explain; null when the wallet moves the token
   * itself.
   */
  readonly puller: Address | null
  /**
   * The amount that leaves for 10,000 that are pulled, for tokens with a fee on top; absent means
   * 10,000.
   */
  readonly pullTakesBps?: bigint
  /**
   * The allowances that others gave on their own tokens because of this call, less what they left
   * with it.
   */
  readonly openedByOthers: bigint
}

export interface AllowanceAmount {
  readonly spender: Address
  readonly kind: PricedAllowanceKind
  readonly amount: bigint
}

/** The credits of the calling key's lineage; amounts in smallest units. */
export interface Credits {
  /** Null when another lineage paid for the allowance, or it is unknown who did. */
  of(token: Address, spender: Address, kind: PricedAllowanceKind): Credit | null
  /**
   * The allowances within Permit2 that other lineages gave, or whose giver is unknown; null when
   * not known.
   */
  withinPermit2(token: Address): bigint | null
}

interface Credit {
  /** Paid for in this window and not used. */
  readonly left: bigint
  /** Used by calls whose end the chain does not show yet: the allowance still includes it. */
  readonly held: bigint
}

/** One use of a credit, or the making of one. */
export interface CreditAmount extends AllowanceAmount {
  readonly token: Address
}

export interface Spend {
  readonly valueMicros: UsdMicros
  readonly uses: readonly CreditAmount[]
  /** The part of each new allowance that spenders can still take. */
  readonly made: readonly CreditAmount[]
}

/**
 * Computes what a call counts.
 *
 * - New allowances count in full. For a key without any cap the token's supply bounds what counts,
 *   so that its counters stay readable.
 * - Standing allowances that another lineage paid for, or whose payer is unknown, count in full.
 * - Standing allowances of the own lineage count as far as they are not credited, and up to the
 *   balance: what comes in later was paid for when they were given.
 * - Whatever leaves by other ways counts at its value.
 *
 * Which of several spenders takes tokens is not known in advance. Credits are therefore used only
 * for what all uncredited allowances together cannot explain, and only those of the contract that
 * the wallet calls: a transfer to another spender would use up that spender's credit, although the
 * spender could still take the same amount again.
 *
 * @param credits null without a ledger: the call then counts the most that it can
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
    // What a new allowance is used for at once is paid for with the allowance.
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
 * The largest allowance that fits when the call's allowance is too large.
 * @param excessMicros the micro-USD by which the call passes a cap
 * @returns null when the call gives no allowance or several, or when nothing would fit
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

/** Adds the fee, rounded up. */
function withFee(amount: bigint, takesBps = WITHOUT_FEE_BPS): bigint {
  return (amount * takesBps + WITHOUT_FEE_BPS - 1n) / WITHOUT_FEE_BPS
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
