import { GRANTED_FIELDS } from '../../domain/grant-terms.js'
import type { GrantedName } from '../../domain/key-policy.js'

/**
 * The positions of the parameters of `grant-put`. Micros are decimal text; fields of later forms of
 * the grant follow in the order of their rows.
 */
const PARTS = [
  'keyId',
  'walletId',
  'rotatedFrom',
  'userId',
  'permission',
  'allowedChains',
  'proofKey',
  'expiresAtMs',
  'revoked',
  'consoleToken',
  'confirmation',
  'dailyLimitMicros',
  'monthlyLimitMicros',
  'unpricedAssets',
  'confirmBeforeMs',
  'basedOn',
] as const

/**
 * Set for a key made by a key: its grant's parent, and once, when it is made, the maker and its
 * proof.
 */
const MAKERS = ['parentId', 'madeBy', 'makerProof'] as const

export type GrantPutPart = (typeof PARTS)[number] | GrantedName | (typeof MAKERS)[number]

export const GRANT_PUT_PARTS: readonly GrantPutPart[] = [
  ...new Set<GrantPutPart>([...PARTS, ...GRANTED_FIELDS.map(({ name }) => name), ...MAKERS]),
]
