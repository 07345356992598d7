import type { BroadcastOutcome } from './broadcast-outcome.js'
import type { NodeVerdict } from './classify.js'

/**
 * Sums up what several endpoints said of the same signed bytes. Errs towards doubt: giving up a
 * nonce that some node may still mine is the one mistake that pays twice.
 */
export interface VerdictSum {
  /** @returns the outcome when nothing another endpoint says could change it, else null */
  add(verdict: NodeVerdict): BroadcastOutcome | null
  /** What is known when no further endpoint can be asked. */
  result(): BroadcastOutcome
}

/** So many endpoints must agree before a rejection that depends on a node's state is believed. */
const REJECTIONS_TO_BELIEVE = 2

export function createVerdictSum(): VerdictSum {
  let indeterminate: BroadcastOutcome | null = null
  let retry: BroadcastOutcome | null = null
  let underpriced: BroadcastOutcome | null = null
  let rejected: BroadcastOutcome | null = null
  let rejections = 0
  return {
    add({ outcome, certainty }) {
      switch (outcome.kind) {
        case 'accepted':
        case 'known':
        case 'nonce-too-low':
          return outcome
        case 'rejected':
          if (certainty === 'bytes') return outcome
          rejected ??= outcome
          rejections++
          return rejections >= REJECTIONS_TO_BELIEVE && indeterminate === null && retry === null
            ? rejected
            : null
        case 'underpriced':
          underpriced ??= outcome
          return null
        case 'retry':
          retry ??= outcome
          return null
        case 'indeterminate':
          indeterminate ??= outcome
          return null
        default:
          return null
      }
    },
    result() {
      return (
        indeterminate ??
        // A pool that holds the nonce or wants more is a pool that would take a higher fee.
        underpriced ??
        retry ??
        rejected ?? { kind: 'retry', text: 'no endpoint of the chain could be asked' }
      )
    },
  }
}
