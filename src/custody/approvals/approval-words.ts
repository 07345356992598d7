import { ID_PREFIX, ulidOfBytes } from '../../domain/ids.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import type { ApprovalTerm } from './approval-term.js'

/** Describes a term for people, from the bytes that are signed: name and value of each line. */
export function describeApproval(term: ApprovalTerm): [name: string, value: string][] {
  const { kind, chainId, to, value, hash, maxNativeWei, expiresAtMs } = term
  const what = kind === 'transaction' ? 'calldata' : "the Router intent's terms"
  return [
    ['Approve', idOf(ID_PREFIX.approval, term.approvalId)],
    ['API key', idOf(ID_PREFIX.key, term.keyId)],
    ['Wallet', idOf(ID_PREFIX.subWallet, term.walletId)],
    ['Chain', String(chainId)],
    [kind === 'transaction' ? 'To' : 'Venue', hex(to)],
    ...(kind === 'transaction' ? lineOf('Value', `${value} wei`) : []),
    [`Keccak-256 of ${what}`, hex(hash)],
    ...(kind === 'transaction' ? lineOf('Gas at the most', `${maxNativeWei} wei`) : []),
    ['Expires', new Date(expiresAtMs).toISOString()],
  ]
}

function lineOf(name: string, value: string): [name: string, value: string][] {
  return [[name, value]]
}

function idOf(prefix: string, bytes: Uint8Array): string {
  return `${prefix}${ulidOfBytes(bytes)}`
}

function hex(bytes: Uint8Array): string {
  return `0x${viewOf(bytes).toString('hex')}`
}
