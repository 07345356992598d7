import type { Address } from '../../domain/ids.js'

/** Port to somebody else's judgement of an address: an HTTP service, or a mirror of one. */
export interface RiskProvider {
  /** Shown as the list of a hit. */
  readonly name: string
  /** `sanctions` is final; a user's allow entry overrides `risk`. */
  readonly kind: 'sanctions' | 'risk'
  /** What no answer means: `stop` writes, or `skip` this provider. */
  readonly whenUnavailable: 'stop' | 'skip'
  /** Answers without a promise from its cache. Never rejects. */
  check(address: Address): RiskAnswer | Promise<RiskAnswer>
}

export type RiskAnswer =
  | { readonly outcome: 'clean' }
  /** `version` says what the answer rests on, such as the time it was given. */
  | { readonly outcome: 'flagged'; readonly category: string; readonly version: string }
  | { readonly outcome: 'unavailable'; readonly reason: string }
