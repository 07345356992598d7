import { expectBytes, expectList } from '../bytes.js'
import { BATCH_INTENTS_MAX } from '../limits.js'
import { Refusal } from '../refusal.js'
import type { ListCodec } from './codec.js'
import type { Methods } from './method.js'

/** A batch as the service signed it. */
export interface CoSignedBatch {
  readonly header: Uint8Array
  readonly intents: readonly Uint8Array[]
  /** 64 bytes. */
  readonly coSignature: Uint8Array
}

export interface BatchApproval {
  readonly bitmap: number
  /** 64 bytes. */
  readonly approval: Uint8Array
  /** 16 bytes. */
  readonly quorumBoot: Uint8Array
  /** Per intent null when approved, or the refusal: `IntentAnswer`. */
  readonly answers: readonly unknown[]
  /** The sealed shares of the approved intents, in their order; empty without any. */
  readonly shares: Uint8Array
}

/** Written out, because every signature passes it; so is the next. */
const CO_SIGNED_BATCH: ListCodec<CoSignedBatch> = {
  encode: ({ header, intents, coSignature }) => [header, intents, coSignature],
  decode(packed) {
    const given = expectList(packed, Number.MAX_SAFE_INTEGER)
    return {
      header: expectBytes(given[0]),
      intents: expectList(given[1], BATCH_INTENTS_MAX).map((intent) => expectBytes(intent)),
      coSignature: expectBytes(given[2], 64),
    }
  },
}

const BATCH_APPROVAL: ListCodec<BatchApproval> = {
  encode: ({ bitmap, approval, quorumBoot, answers, shares }) => [
    bitmap,
    approval,
    quorumBoot,
    answers,
    shares,
  ],
  decode(packed) {
    const [bitmap, approval, quorumBoot, answers, shares] = expectList(packed, 5)
    if (typeof bitmap !== 'number') throw new Refusal('MALFORMED', 'approval')
    return {
      bitmap,
      approval: expectBytes(approval, 64),
      quorumBoot: expectBytes(quorumBoot, 16),
      answers: expectList(answers, BATCH_INTENTS_MAX),
      shares: expectBytes(shares),
    }
  },
}

export const SIGNING = {
  approve: {
    callClass: 'signing',
    admits: 'served-with-space',
    parameters: CO_SIGNED_BATCH,
    result: BATCH_APPROVAL,
  },
} as const satisfies Methods
