import { GRANTED_FIELDS } from '../../domain/grant-terms.js'
import { ID_PREFIX, ulidOfBytes } from '../../domain/ids.js'
import type { GrantStatement } from './grant-statement.js'

/** Describes a grant from the bytes that are signed: name and value of each line. */
export function describeGrant(grant: GrantStatement): [name: string, value: string][] {
  const { expiresAtMs } = grant
  return [
    ['API key', `${idOf(ID_PREFIX.key, grant.keyId)}${grant.version === 1 ? ' (new)' : ''}`],
    ['Wallet', idOf(ID_PREFIX.subWallet, grant.walletId)],
    ...madeBy(grant),
    ...GRANTED_FIELDS.map(({ name, title, form }): [string, string] => [
      title,
      form.describe(grant[name]),
    ]),
    ['Expires', expiresAtMs === null ? 'never' : new Date(expiresAtMs).toISOString()],
    ...secretOf(grant),
  ]
}

/** A new key always has a secret; other changes omit it or replace it. */
function secretOf({ version, proofKeyDigest }: GrantStatement): [name: string, value: string][] {
  return version === 1 || proofKeyDigest === null ? [] : [['Secret', 'another one']]
}

function madeBy({ parentId }: GrantStatement): [name: string, value: string][] {
  return parentId === null ? [] : [['Made by', `${idOf(ID_PREFIX.key, parentId)}, and within it`]]
}

function idOf(prefix: string, bytes: Uint8Array): string {
  return `${prefix}${ulidOfBytes(bytes)}`
}
