import type { ApiKey } from '../../../src/domain/api-key.js'
import type { Exchange } from '../../../src/domain/exchange.js'
import type { Exposure, Spend } from '../../../src/domain/exposure.js'
import type { QuoteName } from '../../../src/domain/idempotency.js'
import type { KeyId, TxId } from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { Reservation, SpendCounters } from '../../../src/domain/spend.js'
import type { IntentTerms } from '../../../src/domain/sponsored-terms.js'
import type { Transaction, Valuation } from '../../../src/domain/transaction.js'
import type { Fault, Result } from '../../../src/errors/fault.js'
import type { ApprovalAsked } from '../../../src/policy/approval-asked.js'
import type { CountedCall } from '../../../src/policy/policy-ledger.js'
import type { QuoteBasis } from '../../../src/valuation/quoter.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type { CapNode } from './caps-above.js'
import type { PreparedSend, RefusedCall } from './messages.js'

/** An identical call within this time is treated as a retry (CONTRACT.md, "Duplicates"). */
export const DUPLICATE_WINDOW_MS = 10_000

/** A call that moves value, in the form that the gates of `lifecycle.ts` check. */
export interface CallAtGates {
  readonly keyId: KeyId
  readonly chainId: number
  readonly nowMs: number
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  readonly first: PreparedSend['first']
  /**
   * The quote to execute and the transaction that already executed it; null when the call executes
   * no quote.
   */
  readonly quoted: { readonly name: QuoteName; readonly executed: Transaction | null } | null
  readonly quote:
    | {
        readonly ok: true
        readonly valuation: Valuation
        readonly exposure?: Exposure | null
        readonly unpriced: boolean
        /** With `fees`, of a send: what its gas may cost at worst. */
        readonly gasLimit?: bigint
        readonly fees?: { readonly maxFeePerGas: bigint }
        readonly basis?: Pick<QuoteBasis, 'after'>
        /** Set for a sponsored call; null when one side has no price. */
        readonly exchange?: Exchange | null
        /** Set for a sponsored call: the terms to be signed. */
        readonly terms?: Result<IntentTerms>
      }
    | { readonly ok: false; readonly fault: Fault }
  /** The daily sponsored gas that the call holds; null when the caller pays for gas. */
  readonly sponsoredGasMicros: UsdMicros | null
  /** Set when screening refused the long calldata before the call was valued. */
  readonly screened: PreparedSend['screened'] | null
  /** The effect of a sponsored call; null for a send and for a call that is known to fail. */
  readonly intent: IntentTerms | null
  /** False when a send can have no nonce: its lane has not started and no node answered. */
  readonly hasNonce: boolean
  /** Whether an identical recent call is refused even when the key's duplicate guard is off. */
  readonly guardsDuplicates: boolean
  /** Recorded in the audit trail. */
  readonly request: RefusedCall
  readonly token: ReplyToken | null
  /** Finds an identical call that is recent and not final. */
  readonly findDuplicate: () => TxId | null
  /** Set by the gate `key`. */
  key: ApiKey | null
  /** Set once the call is priced. */
  priced: Priced | null
  /** Set by the gate `policy` when the policy counts the call. */
  counted: CountedCall | undefined
  /** Set by the gate `policy` when the policy requires an approval or a delay. */
  asks: ApprovalAsked | undefined
  /** Set by the gate `caps`. */
  admitted: Admitted | null
}

/** The micro-USD that a call counts now, after what its lineage has already paid for. */
export interface Priced {
  readonly counters: SpendCounters
  /** The caps of the keys above; empty for most keys. */
  readonly above: readonly CapNode[]
  readonly valuation: Valuation
  /** Null when the call touches no allowance. */
  readonly paid: Spend | null
  readonly micros: UsdMicros
}

interface Admitted {
  readonly key: ApiKey
  readonly reservation: Reservation
  readonly valuation: Valuation
  /** Null when the call touches no allowance. */
  readonly paid: Spend | null
}

/**
 * Returns the key, which every gate after `key` can rely on.
 * @throws when the gate `key` has not run
 */
export function keyOf({ key, keyId }: CallAtGates): ApiKey {
  if (key === null) throw new Error(`${keyId} was not looked up`)
  return key
}
