import { chainFacts } from '../../domain/chains.js'
import { ID_PREFIX, ulidOfBytes } from '../../domain/ids.js'
import { formatUsd, type UsdMicros } from '../../domain/money.js'
import type { GrantStatement } from './grant-statement.js'

/** A grant in words, read from what is signed: name and value of each line. */
export function describeGrant(grant: GrantStatement): [name: string, value: string][] {
  const { dailyLimitMicros, monthlyLimitMicros, expiresAtMs } = grant
  return [
    ['API key', `${idOf(ID_PREFIX.key, grant.keyId)}${grant.version === 1 ? ' (new)' : ''}`],
    ['Wallet', idOf(ID_PREFIX.subWallet, grant.walletId)],
    ['May', grant.permission === 'trade' ? 'read, and send transactions' : 'read'],
    ['A day', capText(dailyLimitMicros)],
    ['A month', capText(monthlyLimitMicros)],
    ['Chains', grant.chains.map(chainText).join(', ')],
    ['Assets without a price', grant.unpricedAssets === 'allow' ? 'allowed, uncapped' : 'refused'],
    ['Expires', expiresAtMs === null ? 'never' : new Date(expiresAtMs).toISOString()],
  ]
}

function chainText(chainId: number): string {
  return chainFacts(chainId)?.name ?? `chain ${chainId}`
}

function capText(micros: bigint | null): string {
  return micros === null ? 'without limit' : `up to ${formatUsd(micros as UsdMicros)} USD`
}

function idOf(prefix: string, bytes: Uint8Array): string {
  return `${prefix}${ulidOfBytes(bytes)}`
}
