/**
 * Screens past calls against the present lists: an address may be listed after it was paid, and
 * operators must then know what they sent.
 */
import type { ScreenedCall, Screener, Verdict } from './screener.js'

export interface StoredCall extends ScreenedCall {
  /** The caller's name for the call, for example a transaction id. */
  readonly id: string
}

interface ReplayedCall {
  readonly id: string
  readonly verdict: Verdict
}

/**
 * Yields every call that would not pass today, in the order given. Takes one call at a time, so the
 * source may be a cursor over any number of them.
 */
export async function* replayCalls(
  screener: Screener,
  calls: AsyncIterable<StoredCall> | Iterable<StoredCall>,
): AsyncGenerator<ReplayedCall> {
  for await (const call of calls) {
    const verdict = await screener.screen(call)
    if (verdict.outcome !== 'clean') yield { id: call.id, verdict }
  }
}
