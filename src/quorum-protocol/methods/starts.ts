import { bytes, integer, list, nothing, positional } from './codec.js'
import type { Methods } from './method.js'

/** A start of the service announces itself, then agrees on a session with the quorum signer. */
export const STARTS = {
  ping: {
    callClass: 'lookup',
    admits: 'leader',
    parameters: positional({}),
    result: nothing,
  },
  hello: {
    callClass: 'signing',
    admits: 'leader',
    parameters: positional({
      registryBody: bytes(),
      registrySignature: bytes(64),
      /** The highest batch sequence that the service knows to be approved. */
      lastApproved: integer,
      /** The result of `announceStart`. */
      statement: list(bytes(), 3),
    }),
    /** `remembered`: the highest sequence that this domain knows in the lane of `lastApproved`. */
    result: positional({ lane: integer, remembered: integer }, 2),
  },
  session: {
    callClass: 'signing',
    admits: 'served',
    parameters: positional({ quorumBoot: bytes() }),
    /** This domain's offer for the quorum signer. */
    result: bytes(),
  },
} as const satisfies Methods
