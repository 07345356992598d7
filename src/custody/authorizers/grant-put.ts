import { GRANTED_FIELDS } from '../../domain/grant-terms.js'
import type { GrantedName } from '../../domain/key-policy.js'

/**
 * What `grant-put` tells the user side, each part at its place in the list. Micros are decimal
 * text; what later forms of the grant have besides follows in the order of their rows.
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

/** Of a key that a key made: the grant it is under, and once, when it is made, by which key. */
const MAKERS = ['parentId', 'madeBy', 'makerProof'] as const

export type GrantPutPart = (typeof PARTS)[number] | GrantedName | (typeof MAKERS)[number]

export const GRANT_PUT_PARTS: readonly GrantPutPart[] = [
  ...new Set<GrantPutPart>([...PARTS, ...GRANTED_FIELDS.map(({ name }) => name), ...MAKERS]),
]
