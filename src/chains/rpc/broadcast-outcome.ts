/**
 * The known outcome of sending signed bytes to a chain. Senders see only these outcomes;
 * `classify.ts` is the one place that derives an outcome from a node's text.
 *
 * | kind | what is known | what the sender does |
 * |---|---|---|
 * | accepted, known | a node holds these bytes | watch for the receipt |
 * | rejected | every endpoint that received them refused them, and no answer is missing | keep both until the chain shows how the nonce was used |
 * | retry | certainly not accepted now, may be accepted later | keep both, send the same bytes again |
 * | underpriced | the nonce needs a higher fee | keep both, replace with bumped fees |
 * | nonce-too-low | the nonce is used on chain | look for our own hashes first |
 * | indeterminate | no answer, or an unknown text: a node may hold them | keep both, send the same bytes again |
 */
export type BroadcastOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'known' }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly text: string }
  | { readonly kind: 'retry'; readonly text: string }
  | {
      readonly kind: 'underpriced'
      /**
       * `replacement`: another transaction, ours or not, holds the nonce; `floor`: below what the
       * pool accepts.
       */
      readonly against: 'replacement' | 'floor'
      readonly text: string
    }
  | { readonly kind: 'nonce-too-low'; readonly text: string }
  | { readonly kind: 'indeterminate'; readonly text: string }

export type RejectReason =
  /** The bytes were sent to no node: they are not the hex of a transaction. */
  | 'unsendable'
  | 'insufficient-funds'
  | 'intrinsic-gas'
  | 'gas-limit'
  | 'oversized'
  | 'sender-has-code'
  | 'authorization'
  | 'reverted'
  /** Refused by the rules of the node's version. */
  | 'unsupported'
  /** Refused by rules that every node shares. */
  | 'invalid'
