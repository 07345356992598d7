/**
 * Why a domain refused a request. The numbers travel on the wire and never get a second meaning.
 */
export const REFUSAL_CODES = {
  /** The bytes do not follow this version of the protocol. */
  MALFORMED: 1,
  /** A signature or seal does not verify, or its key is not in the registry. */
  UNAUTHENTIC: 2,
  /** Outside its validity: intents live 30 s, Router intents 10 minutes. */
  EXPIRED: 3,
  /** The sequence or id was seen before. */
  REPLAYED: 4,
  UNKNOWN_WALLET: 5,
  WRONG_EPOCH: 6,
  UNKNOWN_KEY: 7,
  STALE_GRANT: 8,
  /** The grant does not cover it: permission, chain, wallet, revoked or expired. */
  NOT_GRANTED: 9,
  KEY_PROOF_MISSING: 10,
  /** Well-formed, but a quorum wallet may not sign it. */
  PAYLOAD_NOT_ALLOWED: 11,
  /** Another payload was approved at this nonce. */
  NONCE_TAKEN: 12,
  /** There is no session with this boot of the quorum signer. */
  NO_SESSION: 13,
  /** According to the bitmap, the identity provider did not approve it. */
  NOT_APPROVED: 14,
  /** No authorizer confirmed the enlargement. */
  NOT_CONFIRMED: 15,
  /** It contradicts what is stored. */
  CONFLICT: 16,
  INTERNAL: 17,
  /** Console work beyond its bounds; nothing was done. */
  OVERLOADED: 18,
  /** A later start of the service has taken over from this one. */
  FENCED: 19,
  /** Too little disk space is free to record the decision. */
  NO_SPACE: 20,
  /** The policy in the grant does not allow it; `policy-denial.ts` says which part of it. */
  POLICY_DENIED: 21,
  /** The user, the wallet, the key's lineage or the whole domain is frozen. */
  FROZEN: 22,
  /** The identity provider has no such approval. */
  APPROVAL_UNKNOWN: 23,
  /** Fewer people than the policy requires approved it and are still authorizers. */
  APPROVAL_MISSING: 24,
  /** The approval covers another call, another wallet or key, or less gas. */
  APPROVAL_MISMATCH: 25,
  /** The time for a decision is over. */
  APPROVAL_EXPIRED: 26,
  /** It was used at another nonce, or for another Router intent. */
  APPROVAL_USED: 27,
  /** A person declined it, or it was withdrawn. */
  APPROVAL_DECLINED: 28,
  /** Its delay is not over by the identity provider's clock. */
  APPROVAL_EARLY: 29,
  /** It is the call that holds the nonce, with fees not above the approved ones. */
  UNDERPRICED: 30,
} as const

export type RefusalCode = keyof typeof REFUSAL_CODES

const CODE_BY_NUMBER = new Map<number, RefusalCode>(
  Object.entries(REFUSAL_CODES).map(([code, number]) => [number, code as RefusalCode]),
)

/** Returns INTERNAL for numbers that this version does not know. */
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

/** Returns the code of any exception; unknown errors are INTERNAL. */
export function codeOf(error: unknown): RefusalCode {
  return error instanceof Refusal ? error.code : 'INTERNAL'
}
