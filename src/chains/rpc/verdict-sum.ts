import type { BroadcastOutcome } from './broadcast-outcome.js'

/**
 * Combines the answers of several endpoints about the same signed bytes. It prefers doubt: giving
 * up a nonce that a node may still mine is the one mistake that pays twice. So a refusal never ends
 * the search, whatever its text, and one missing answer outweighs all refusals.
 */
export interface VerdictSum {
  /** @returns the outcome when no other endpoint's answer could change it, else null */
  add(verdict: BroadcastOutcome): BroadcastOutcome | null
  /** The outcome when no further endpoint can be tried. */
  result(): BroadcastOutcome
}

type Unsettled = 'indeterminate' | 'underpriced' | 'retry' | 'rejected'

/**
 * The first in this list outweighs the others. A pool that requires a higher fee would accept one;
 * what was certainly not accepted now may be accepted later; and only refusals together make a
 * refusal.
 */
const BY_WEIGHT: readonly Unsettled[] = ['indeterminate', 'underpriced', 'retry', 'rejected']

export function createVerdictSum(): VerdictSum {
  const heard = new Map<BroadcastOutcome['kind'], BroadcastOutcome>()
  return {
    add(verdict) {
      switch (verdict.kind) {
        case 'accepted':
        case 'known':
        case 'nonce-too-low':
          return verdict
        default:
          if (!heard.has(verdict.kind)) heard.set(verdict.kind, verdict)
          return null
      }
    },
    result() {
      const heaviest = BY_WEIGHT.find((kind) => heard.has(kind))
      const verdict = heaviest === undefined ? undefined : heard.get(heaviest)
      return verdict ?? { kind: 'retry', text: 'no endpoint of the chain was available' }
    },
  }
}
