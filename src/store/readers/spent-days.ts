import type { LineageId, SubWalletId } from '../../domain/ids.js'
import type { SpentDay } from '../../domain/spent-days.js'
import { decodeSpentDays } from '../encodings/spent-days.js'
import type { Environment } from '../environment.js'
import { LAST } from '../pages.js'

export interface SpentDaysReader {
  /** Days before that of the lineage's counters, oldest first. */
  of(wallet: SubWalletId, lineage: LineageId): readonly SpentDay[]
  ofWallet(wallet: SubWalletId): Generator<readonly [LineageId, readonly SpentDay[]]>
}

export function createSpentDaysReader({ spaces }: Pick<Environment, 'spaces'>): SpentDaysReader {
  return {
    of(wallet, lineage) {
      const stored = spaces.spentDays.get([wallet, lineage])
      return stored === undefined ? [] : decodeSpentDays(stored)
    },
    *ofWallet(wallet) {
      const range = spaces.spentDays.getRange({ start: [wallet, ''], end: [wallet, LAST] })
      for (const { key, value } of range) {
        const [, lineageId] = key as unknown as [SubWalletId, LineageId]
        yield [lineageId, decodeSpentDays(value)]
      }
    },
  }
}
