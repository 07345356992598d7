import type { Address } from '../../domain/ids.js'

/** The port to another party's assessment of an address: an HTTP service, or a mirror of one. */
export interface RiskProvider {
  /** Shown as the list of a hit. */
  readonly name: string
  /** `sanctions` is final; a user's allow entry overrides `risk`. */
  readonly kind: 'sanctions' | 'risk'
  /** The effect of a missing answer: `stop` writes, or `skip` this provider. */
  readonly whenUnavailable: 'stop' | 'skip'
  /** Answers without a promise from its cache. Never rejects. */
  check(address: Address): RiskAnswer | Promise<RiskAnswer>
}

export type RiskAnswer =
  | { readonly outcome: 'clean' }
  /** `version` names the basis of the answer, for example the time at which it was given. */
  | { readonly outcome: 'flagged'; readonly category: string; readonly version: string }
  | { readonly outcome: 'unavailable'; readonly reason: string }
