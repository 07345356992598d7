import {
  APPROVALS_NEEDED_MAX,
  DELAY_SECONDS_MAX,
  RULE_NAME_CHARS_MAX,
} from '../../policy/bounds.js'
import { expectBytes } from '../bytes.js'
import { PAYLOAD_BYTES_MAX, PROOF_BYTES_MAX } from '../limits.js'
import { fromHex, toHex } from '../transaction.js'
import {
  bytes,
  bytesUpTo,
  type Codec,
  choice,
  integer,
  integerUpTo,
  line,
  list,
  nothing,
  orNull,
  orNullLater,
  positional,
  text,
} from './codec.js'
import type { Methods, ParametersOf } from './method.js'
import { TOKEN_CHARS_MAX, USER_ID_CHARS_MAX } from './person-fields.js'

const APPROVAL_ENDS = ['declined', 'withdrawn', 'expired', 'dropped'] as const
export type ApprovalEnd = (typeof APPROVAL_ENDS)[number]

/** How many the identity provider sends at once: with proofs of 4 KiB they fit one frame. */
export const DECISIONS_PER_ANSWER = 64

const USD_CHARS_MAX = 64
const LABEL_CHARS_MAX = 128
const REASON_CHARS_MAX = 32
const NAME_CHARS_MAX = 128
const SYMBOL_CHARS_MAX = 32
const DECIMALS_MAX = 255
/** A call gives one token and gets another, each with its wrapped form. */
const TOKENS_MAX = 4

const ID = bytes(16)
const TEXT = 'approval request: text'
const NUMBER = 'approval request: number'
const BYTES = 'approval request: bytes'

/** In hex, lower case once read. */
const ADDRESS: Codec<string> = {
  encode: (address) => fromHex(address as `0x${string}`),
  decode: (packed) => toHex(expectBytes(packed, 20)),
}

/** The service's names of the parties, for people. */
const NAMES = positional(
  {
    agent: orNull(line(NAME_CHARS_MAX, TEXT)),
    wallet: orNull(line(NAME_CHARS_MAX, TEXT)),
    tokens: list(
      positional(
        {
          address: ADDRESS,
          symbol: line(SYMBOL_CHARS_MAX, TEXT),
          decimals: integerUpTo(DECIMALS_MAX, NUMBER),
        },
        3,
      ),
      TOKENS_MAX,
    ),
  },
  3,
)

/** A decision at the identity provider's page. */
const DECISION = positional(
  {
    number: integer,
    approvalId: ID,
    walletId: ID,
    userId: text(Number.POSITIVE_INFINITY, 'decision'),
    decision: choice<'approve' | 'decline'>(['approve', 'decline'], 'decision'),
    /** Empty when a sign-in was enough. */
    authorizerId: bytes(),
    atMs: integer,
    comment: orNull(text(Number.POSITIVE_INFINITY, 'decision')),
    /** Empty when the person declined. */
    proof: bytes(),
  },
  9,
)

/** Calls that wait for people. */
export const APPROVALS = {
  'approval-ask': {
    callClass: 'console',
    admits: 'served-with-space',
    parameters: positional({
      /** The canonical bytes of the term. */
      term: bytes(),
      userId: line(USER_ID_CHARS_MAX, TEXT),
      /** The calldata, or the encoded Router intent. */
      call: bytesUpTo(PAYLOAD_BYTES_MAX, BYTES),
      needed: integerUpTo(APPROVALS_NEEDED_MAX, NUMBER),
      delaySeconds: integerUpTo(DELAY_SECONDS_MAX, NUMBER),
      rule: line(RULE_NAME_CHARS_MAX, TEXT),
      spendUsd: line(USD_CHARS_MAX, TEXT),
      /** See `approvalKeyProof`. */
      keyProof: bytes(32),
      payeeLabel: orNull(line(LABEL_CHARS_MAX, TEXT)),
      /** Why people are asked again, in the service's words; null the first time. */
      askedAgain: orNullLater(line(REASON_CHARS_MAX, TEXT)),
      names: orNullLater(NAMES),
    }),
    result: nothing,
  },
  'approval-give': {
    callClass: 'console',
    admits: 'served-with-space',
    parameters: positional({
      approvalId: ID,
      /** Null lets dev's software authorizer confirm for the token's holder. */
      proof: orNull(bytesUpTo(PROOF_BYTES_MAX, BYTES)),
      /** Empty without one. */
      consoleToken: line(TOKEN_CHARS_MAX, TEXT),
    }),
    /** The authorizer's id is empty for dev's software authorizer. */
    result: positional({ authorizerId: bytes(), proof: bytes() }, 2),
  },
  // Ending an approval only takes away, so it is accepted with less space.
  'approval-end': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({
      approvalId: ID,
      as: choice(APPROVAL_ENDS, 'approval request: end'),
    }),
    result: nothing,
  },
  'approval-decisions': {
    callClass: 'console',
    admits: 'served',
    /** `after`: the number of the last known decision; 0 before the first. */
    parameters: positional({ after: integer }),
    result: list(DECISION, DECISIONS_PER_ANSWER),
  },
} as const satisfies Methods

/** A waiting call, as the service reports it. */
export type ApprovalRequest = ParametersOf<(typeof APPROVALS)['approval-ask']>
