import type { AllowanceEntry, AllowanceLedgerMark } from '../../domain/allowance.js'
import type { Address } from '../../domain/ids.js'
import type { Environment } from '../environment.js'
import { LAST } from '../pages.js'

export interface AllowanceReader {
  /** The allowances that a wallet ever gave, on one chain or on all; not in order of age. */
  ofWallet(owner: Address, chainId?: number): Generator<AllowanceEntry>
  ledger(owner: Address): AllowanceLedgerMark | undefined
}

export function createAllowanceReader({ spaces }: Pick<Environment, 'spaces'>): AllowanceReader {
  return {
    *ofWallet(owner, chainId) {
      const wallet = owner.toLowerCase()
      const prefix = chainId === undefined ? '' : `${chainId}:`
      const range = { start: [wallet, prefix], end: [wallet, `${prefix}${LAST}`] }
      for (const { value } of spaces.allowances.getRange(range)) yield value as AllowanceEntry
    },
    ledger: (owner) =>
      spaces.allowanceLedgers.get(owner.toLowerCase()) as AllowanceLedgerMark | undefined,
  }
}
