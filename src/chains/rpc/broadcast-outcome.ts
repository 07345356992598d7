/**
 * What is known after handing signed bytes to a chain. Whoever sends a transaction sees only
 * these outcomes; `classify.ts` is the one place where a node's words become one.
 *
 * | kind | what is known | what the sender does |
 * |---|---|---|
 * | accepted, known | a node holds these bytes | watch for the receipt |
 * | rejected | no node will ever take these bytes in this state | release nonce and reservation |
 * | retry | surely not taken now, may be taken later | keep both, send the same bytes again |
 * | underpriced | the nonce needs a higher fee | keep both, replace with bumped fees |
 * | nonce-too-low | the nonce is used on chain | look for our own hashes first |
 * | indeterminate | no answer, or words nobody knows: a node may hold them | keep both, send the same bytes again |
 */
export type BroadcastOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'known' }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly text: string }
  | { readonly kind: 'retry'; readonly text: string }
  | {
      readonly kind: 'underpriced'
      /** `replacement`: another transaction of ours or not holds the nonce; `floor`: below what the pool takes. */
      readonly against: 'replacement' | 'floor'
      readonly text: string
    }
  | { readonly kind: 'nonce-too-low'; readonly text: string }
  | { readonly kind: 'indeterminate'; readonly text: string }

export type RejectReason =
  | 'insufficient-funds'
  | 'intrinsic-gas'
  | 'gas-limit'
  | 'oversized'
  | 'sender-has-code'
  | 'authorization'
  | 'reverted'
  /** By the rules of the node's version. */
  | 'unsupported'
  /** By rules that every node shares. */
  | 'invalid'

/**
 * `bytes`: the verdict follows from the signed bytes alone, so every honest node agrees.
 * `state`: it follows from the state or the version of the node that gave it; a node that lags
 * can be wrong, so the client asks a second one before it believes a rejection.
 */
export type Certainty = 'bytes' | 'state'
