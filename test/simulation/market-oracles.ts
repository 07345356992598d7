import type { Transaction } from '../../src/domain/transaction.js'
import type { Wanted } from './callers.js'
import { type Markets, RECIPIENTS } from './markets.js'
import type { Clocks } from './parted.js'

/** Calls are worth what they were at some moment while they were decided on, and pay nobody listed. */
export function asTheWorldSaid(
  wanted: readonly Pick<Wanted, 'txIds'>[],
  all: readonly Transaction[],
  markets: Markets,
  { apartMs, latestMs }: Clocks,
): string[] {
  const asked = new Map(wanted.flatMap(({ txIds }) => [...txIds]))
  return all.flatMap((tx) => {
    const askedAtMs = asked.get(tx.txId)
    if (askedAtMs === undefined || tx.kind !== 'send') return []
    const { txId, valuation, createdAtMs, call, attempts, updatedAtMs, approval } = tx
    const wrong: string[] = []
    const untilMs = latestMs(updatedAtMs)
    if (!markets.wasPrice(call.chainId, valuation.nativePrice, askedAtMs, untilMs)) {
      wrong.push(`${txId} is valued by ${valuation.nativePrice}, which was no price meanwhile`)
    }
    const decidedAtMs = approval === undefined ? createdAtMs - apartMs : askedAtMs
    const isListed = markets.listedAtMs !== null && decidedAtMs > markets.listedAtMs
    if (isListed && call.to === RECIPIENTS[1] && attempts.length > 0) {
      wrong.push(`${txId} pays who was on a list when it was asked for`)
    }
    return wrong
  })
}
