/**
 * Why a domain would not do what it was asked. The number travels on the wire and is never given
 * a second meaning.
 */
export const REFUSAL_CODES = {
  /** Not the bytes this version of the protocol defines. */
  MALFORMED: 1,
  /** A signature or seal does not verify, or its key is not in the registry. */
  UNAUTHENTIC: 2,
  /** Outside its time: intents live 30 s, Router intents 10 minutes. */
  EXPIRED: 3,
  /** Sequence or id seen before. */
  REPLAYED: 4,
  UNKNOWN_WALLET: 5,
  WRONG_EPOCH: 6,
  UNKNOWN_KEY: 7,
  STALE_GRANT: 8,
  /** The grant does not cover it: permission, chain, wallet, revoked or expired. */
  NOT_GRANTED: 9,
  KEY_PROOF_MISSING: 10,
  /** Well-formed, but nothing that a quorum wallet may sign. */
  PAYLOAD_NOT_ALLOWED: 11,
  /** Another payload was approved at this nonce. */
  NONCE_TAKEN: 12,
  /** No session with this boot of the quorum signer. */
  NO_SESSION: 13,
  /** The bitmap says that the user side did not approve it. */
  NOT_APPROVED: 14,
  /** An enlargement that no authorizer confirmed. */
  NOT_CONFIRMED: 15,
  /** Contradicts what is already stored. */
  CONFLICT: 16,
  INTERNAL: 17,
  /** Console work beyond its bounds; nothing was done. */
  OVERLOADED: 18,
  /** A start of the service that a later one has taken over from. */
  FENCED: 19,
  /** Too little of its disk is free to write down what it would decide. */
  NO_SPACE: 20,
  /** The policy in the grant does not allow it; `policy-denial.ts` says which part of it. */
  POLICY_DENIED: 21,
  /** The user, the wallet, the key's lineage or the whole domain is frozen. */
  FROZEN: 22,
  /** An approval that the user side was never told of. */
  APPROVAL_UNKNOWN: 23,
  /** Fewer people than the policy asks for have approved it, or are authorizers still. */
  APPROVAL_MISSING: 24,
  /** Approved was another call, of another wallet or key, or for less gas. */
  APPROVAL_MISMATCH: 25,
  /** Nobody may act on it any more. */
  APPROVAL_EXPIRED: 26,
  /** It was used at another nonce, or for another Router intent. */
  APPROVAL_USED: 27,
  /** A person declined it, or it was withdrawn. */
  APPROVAL_DECLINED: 28,
  /** Its delay is not over by the user side's clock. */
  APPROVAL_EARLY: 29,
  /** The call that holds the nonce, with fees that are not above those approved there. */
  UNDERPRICED: 30,
} as const

export type RefusalCode = keyof typeof REFUSAL_CODES

const CODE_BY_NUMBER = new Map<number, RefusalCode>(
  Object.entries(REFUSAL_CODES).map(([code, number]) => [number, code as RefusalCode]),
)

/** INTERNAL for numbers this version does not know. */
export function refusalCode(number: unknown): RefusalCode {
  return (typeof number === 'number' ? CODE_BY_NUMBER.get(number) : undefined) ?? 'INTERNAL'
}

/** A refusal with a detail for the log; the detail never holds key material. */
export class Refusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, detail: string) {
    super(`${code}: ${detail}`)
    this.name = 'Refusal'
    this.code = code
  }
}

/** The code of whatever was thrown; unknown errors are INTERNAL. */
export function codeOf(error: unknown): RefusalCode {
  return error instanceof Refusal ? error.code : 'INTERNAL'
}
