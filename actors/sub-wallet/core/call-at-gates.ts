import type { ApiKey } from '../../../src/domain/api-key.js'
import type { Exposure, Spend } from '../../../src/domain/exposure.js'
import type { KeyId, TxId } from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { Reservation, SpendCounters } from '../../../src/domain/spend.js'
import type { IntentTerms } from '../../../src/domain/sponsored-terms.js'
import type { Valuation } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { ApprovalAsked } from '../../../src/policy/approval-asked.js'
import type { CountedCall } from '../../../src/policy/policy-ledger.js'
import type { QuoteBasis } from '../../../src/valuation/quoter.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type { CapNode } from './caps-above.js'
import type { PreparedSend, RefusedCall } from './messages.js'

/** The same call again within this time looks like a retry (CONTRACT.md, "Duplicates"). */
export const DUPLICATE_WINDOW_MS = 10_000

/** A call that moves value, as the gates of `lifecycle.ts` see it. */
export interface CallAtGates {
  readonly keyId: KeyId
  readonly chainId: number
  readonly nowMs: number
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  readonly first: PreparedSend['first']
  readonly quote:
    | {
        readonly ok: true
        readonly valuation: Valuation
        readonly exposure?: Exposure | null
        readonly unpriced: boolean
        readonly basis?: Pick<QuoteBasis, 'after'>
      }
    | { readonly ok: false; readonly fault: Fault }
  /** What is held of the gas that the service pays in a day; null where the caller pays. */
  readonly sponsoredGasMicros: UsdMicros | null
  /** Long calldata that screening refuses, known before it was valued. */
  readonly screened: PreparedSend['screened'] | null
  /** What a sponsored call does; null of sends, and of one that is known to fail. */
  readonly intent: IntentTerms | null
  /** False where no nonce is to be had for a send: its lane has not begun and no node answered. */
  readonly hasNonce: boolean
  /** For the audit trail. */
  readonly request: RefusedCall
  readonly token: ReplyToken | null
  /** The same call again, young and not final. */
  readonly findDuplicate: () => TxId | null
  /** Set by the gate `key`. */
  key: ApiKey | null
  /** Set once it was priced. */
  priced: Priced | null
  /** Set by the gate `policy`, where that counts. */
  counted: CountedCall | undefined
  /** Set by the gate `policy`, where that asks for a person or for time. */
  asks: ApprovalAsked | undefined
  /** Set by the gate `caps`. */
  admitted: Admitted | null
}

/** What a call counts now, with what its lineage has paid for already. */
export interface Priced {
  readonly counters: SpendCounters
  /** Of the keys above; of most there are none. */
  readonly above: readonly CapNode[]
  readonly valuation: Valuation
  /** Null where no allowance has to do with it. */
  readonly paid: Spend | null
  readonly micros: UsdMicros
}

export interface Admitted {
  readonly key: ApiKey
  readonly reservation: Reservation
  readonly valuation: Valuation
  /** Null where no allowance has to do with it. */
  readonly paid: Spend | null
}

/** Gates after the first have the key. */
export function keyOf({ key, keyId }: CallAtGates): ApiKey {
  if (key === null) throw new Error(`${keyId} was not looked up`)
  return key
}
