import { bytes, integer, list, orNull, positional } from './codec.js'
import type { Methods } from './method.js'

/** How many entries the identity provider sends at once; even large ones fit one frame. */
export const ENTRIES_PER_ANSWER = 16

export const AUTHORIZERS = {
  'authorizers-get': {
    callClass: 'console',
    admits: 'served',
    /** `ownerHash`: SHA-256 of the person's id; `after`: the last known sequence. */
    parameters: positional({ ownerHash: bytes(32), after: integer }),
    /** Encoded entries, in their order. */
    result: list(bytes(), ENTRIES_PER_ANSWER),
  },
  'proof-get': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({ challenge: bytes(32) }),
    /** The encoded proof that a person left; null without one. */
    result: orNull(bytes()),
  },
} as const satisfies Methods
