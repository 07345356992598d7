import { z } from 'zod'
import { createdPolicy, patchedPolicy, shownPolicy } from './key-policy.js'
import {
  label,
  listCursor,
  listLimit,
  nameSearch,
  nextCursor,
  remark,
  timestamp,
} from './primitives.js'

const keyStatus = z.enum(['active', 'rotated_out', 'revoked'])

const base64Url = (charsMax: number) =>
  z
    .string()
    .max(charsMax)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
const authorizationId = z.string().max(64).describe('from AUTHORIZATION_REQUIRED')
const authorizerId = z.string().regex(/^aut_[0-9a-f]{32}$/, 'must be aut_ and 32 hex digits')

/**
 * Answers AUTHORIZATION_REQUIRED. Bytes are base64url; a P-256 signature is r ‖ s, 64 bytes; an
 * assertion is as the browser returns it. Without a proof, it was left with the identity provider.
 */
export const authorization = z
  .union([
    z.strictObject({ authorization_id: authorizationId }),
    z.strictObject({
      authorization_id: authorizationId,
      authorizer_id: authorizerId,
      signature: base64Url(86).length(86),
    }),
    z.strictObject({
      authorization_id: authorizationId,
      authorizer_id: authorizerId,
      client_data_json: base64Url(4_096),
      authenticator_data: base64Url(2_048),
      signature: base64Url(2_048),
    }),
  ])
  .describe('the proof requested by AUTHORIZATION_REQUIRED; repeat the same request with it')
export type Authorization = z.infer<typeof authorization>

export const authorizedBy = z
  .enum(['software', 'passkey', 'p256'])
  .describe('what confirmed it; software: a development instance')

export const listInput = z.strictObject({
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
})

export const listWalletsInput = listInput.extend({ search: nameSearch.optional() })

export const listKeysInput = listWalletsInput.extend({
  key_id: z.string().max(64).optional().describe('only this key, whatever its name'),
})

const frozenBy = z.enum(['user', 'breaker', 'operator'])
export const frozen = z
  .looseObject({ since: timestamp, reason: z.string().nullable(), by: frozenBy })
  .nullable()
  .describe('null: not frozen; its wallet and user may be frozen separately')

const freezeScope = z.enum(['user', 'wallet', 'key'])
const frozenId = z
  .string()
  .max(255)
  .optional()
  .describe('id of the sub-wallet or key; a key is frozen with its whole lineage')
const custodyStatus = z
  .enum(['current', 'pending'])
  .describe(
    'whether the identity provider has acknowledged it; pending: it is notified until it does',
  )
export const freezeInput = z.strictObject({
  scope: freezeScope,
  id: frozenId,
  reason: remark(200).optional(),
})
export const frozenAnswer = z.looseObject({
  frozen: z.literal(true),
  since: timestamp.describe('the first time, if it was frozen before'),
  custody: custodyStatus,
})
export const unfreezeInput = z.strictObject({
  scope: freezeScope,
  id: frozenId,
  authorization: authorization.optional(),
})
export const unfrozenAnswer = z.looseObject({
  frozen: z.literal(false),
  authorized_by: authorizedBy,
})

export const createWalletInput = z.strictObject({ name: label })
export const subWallet = z.looseObject({
  sub_wallet_id: z.string(),
  name: z.string(),
  addresses: z.looseObject({ evm: z.string() }),
  created_at: timestamp,
  frozen,
})
export const walletList = z.looseObject({
  wallets: z.array(subWallet),
  next_cursor: nextCursor,
})

export const createKeyInput = z.strictObject({
  name: label,
  sub_wallet_id: z.string().max(64),
  ...createdPolicy,
  authorization: authorization.optional(),
})

export const apiKey = z.looseObject({
  key_id: z.string(),
  name: z.string(),
  ...shownPolicy,
  policy_version: z.int().describe('counts the changes of `policy`; 0 if there never was one'),
  sub_wallet_id: z.string(),
  environment: z.enum(['live', 'test']),
  status: keyStatus,
  secret_prefix: z.string(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  rotated_from: z.string().nullable(),
  parent_key_id: z
    .string()
    .nullable()
    .describe('first key of the lineage that made this one; null: made by its owner'),
  frozen,
  custody: z
    .enum(['current', 'pending'])
    .describe(
      'whether the identity provider has acknowledged its grant; pending: it is notified until it does, and this service already refuses what was taken away',
    ),
})
const secret = z.string().describe('shown once')
export const issuedKey = apiKey.extend({
  secret: secret.nullable().describe('shown once; null in a repeated answer'),
  authorized_by: authorizedBy.nullable().describe('null in a repeated answer'),
})
export const changedKey = apiKey.extend({ authorized_by: authorizedBy.optional() })
export const rotatedKey = apiKey.extend({
  secret,
  previous: z.looseObject({ key_id: z.string(), expires_at: timestamp }),
})
export const keyList = z.looseObject({ keys: z.array(apiKey), next_cursor: nextCursor })
export const keyIdInput = z.strictObject({ key_id: z.string().max(64) })
export const patchKeyInput = z.strictObject({
  key_id: z.string().max(64),
  name: label.optional(),
  ...patchedPolicy,
  authorization: authorization.optional(),
})

export const authorizerList = z.looseObject({
  authorizers: z.array(
    z.looseObject({
      authorizer_id: z.string(),
      kind: z.enum(['passkey', 'p256']),
      label: z.string(),
      created_at: timestamp,
      credential_id: z.string().nullable(),
    }),
  ),
  manage_url: z.string().nullable().describe('page of the identity provider'),
})

export const deleted = z.looseObject({ deleted: z.literal(true) })
