import { expectBytes, expectInteger, expectList } from '../bytes.js'
import { BATCH_INTENTS_MAX } from '../limits.js'
import { Refusal } from '../refusal.js'
import { bytes, integer, type ListCodec, nothing, positional } from './codec.js'
import type { Methods } from './method.js'

/** A batch with both approvals, and both shares of all approved intents. */
export interface ApprovedBatch {
  readonly header: Uint8Array
  readonly intents: readonly Uint8Array[]
  /** 64 bytes each. */
  readonly coSignature: Uint8Array
  readonly approval: Uint8Array
  readonly bitmap: number
  readonly userShares: Uint8Array
  readonly serviceShares: Uint8Array
}

const BITMAP_MAX = 0xffffffff

/** Written out, because every signature passes it. */
const APPROVED_BATCH: ListCodec<ApprovedBatch> = {
  encode: (batch) => [
    batch.header,
    batch.intents,
    batch.coSignature,
    batch.bitmap,
    batch.approval,
    batch.userShares,
    batch.serviceShares,
  ],
  decode(packed) {
    const given = expectList(packed, Number.MAX_SAFE_INTEGER)
    const bitmap = expectInteger(given[3])
    if (bitmap > BITMAP_MAX) throw new Refusal('MALFORMED', 'bitmap')
    return {
      header: expectBytes(given[0]),
      intents: expectList(given[1], BATCH_INTENTS_MAX).map((intent) => expectBytes(intent)),
      coSignature: expectBytes(given[2], 64),
      bitmap,
      approval: expectBytes(given[4], 64),
      userShares: expectBytes(given[5]),
      serviceShares: expectBytes(given[6]),
    }
  },
}

/** Per intent 65 bytes r ‖ s ‖ yParity, or a refusal's number. */
const SIGNATURES: ListCodec<readonly unknown[]> = {
  encode: (answers) => answers,
  decode: (packed) => expectList(packed, BATCH_INTENTS_MAX),
}

/** The methods of the quorum signer. */
export const QUORUM_SIGNER = {
  ping: {
    callClass: 'lookup',
    admits: 'anyone',
    parameters: positional({}),
    result: nothing,
  },
  registry: {
    callClass: 'signing',
    admits: 'anyone',
    parameters: positional({ body: bytes(), signature: bytes(64) }),
    /** The version in force. */
    result: integer,
  },
  boot: {
    callClass: 'signing',
    admits: 'anyone',
    parameters: positional({}),
    /** An encoded `QuorumBoot`. */
    result: bytes(),
  },
  session: {
    callClass: 'signing',
    admits: 'anyone',
    parameters: positional({ offer: bytes() }),
    result: nothing,
  },
  'self-test': {
    callClass: 'console',
    admits: 'anyone',
    parameters: positional({
      certificate: bytes(),
      serviceSignature: bytes(64),
      userSignature: bytes(64),
      userShare: bytes(),
      serviceShare: bytes(),
    }),
    /** r ‖ s ‖ yParity. */
    result: bytes(65),
  },
  sign: {
    callClass: 'signing',
    admits: 'anyone',
    parameters: APPROVED_BATCH,
    result: SIGNATURES,
  },
} as const satisfies Methods
