import {
  encodeGrantStatement,
  type GrantStatement,
  grantMessage,
  readGrantStatement,
} from '../../src/custody/authorizers/grant-statement.js'
import { subKeyProof } from '../../src/custody/authorizers/sub-key-proof.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { canonicalText } from '../../src/policy/canonical-policy.js'
import { parseCanonical, parsePolicy } from '../../src/policy/parse-policy.js'
import type { Policy } from '../../src/policy/policy.js'

import {
  AT_MS,
  bytesFrom,
  messageOf,
  OTHER,
  OWNER_HASH,
  PAYEE,
  PROOF_KEY,
  type SignedForm,
  USDC,
} from './signed-form.js'

/** With every field that a policy had when it was recorded. */
const POLICY = policyOf({
  per_transaction_usd: '250.5',
  rules: [
    {
      ...{ name: 'small payments', effect: 'allow' },
      when: {
        ...{ operations: ['send', 'swap'], chains: [8453, 1], to: [USDC] },
        functions: ['transfer(address,uint256)'],
        arguments: [
          { index: 0, op: 'in', value: [OTHER, PAYEE] },
          { index: 1, op: 'lte', value: '5000000' },
        ],
        ...{ beneficiaries: [OTHER, PAYEE], value_native_lte: '0' },
        amounts: [{ token: USDC, lte: '5000000', gt: '1' }],
        ...{ spend_usd_lte: '5.00', new_beneficiary: false },
        utc_hours: [{ days: ['mon', 'fri'], from: '08:00', to: '18:30' }],
      },
    },
    {
      ...{ name: 'large ones', effect: 'require_approval', delay_seconds: 60 },
      when: { spend_usd_gt: '100.00', not: { to: [PAYEE], value_native_gt: '7' } },
      approvals: { needed: 2, expires_seconds: 7_200 },
    },
    {
      ...{ name: 'too many', effect: 'deny' },
      when: {
        count: { per_seconds: 3_600, gt: 20 },
        sum_usd: { per_seconds: 86_400, gt: '1000' },
      },
    },
  ],
  default: 'deny',
  ceilings: [
    { chain_id: 8453, token: USDC, per: 'day', amount: '1000000000' },
    { chain_id: 1, token: 'native', per: 'month', amount: '5000000000000000000' },
  ],
  breakers: [
    { kind: 'refusals', count: 5, per_seconds: 600 },
    { kind: 'spend_factor', factor: 3, per_seconds: 86_400 },
  ],
})
const LEAST_POLICY = policyOf({ default: 'allow' })

function policyOf(json: unknown): Policy {
  const parsed = parsePolicy(json)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults))
  return parsed.policy
}

function policyForm(name: string, policy: Policy): SignedForm {
  const bytes = Buffer.from(canonicalText(policy))
  const again = (text: Uint8Array) => {
    const read = parseCanonical(Buffer.from(text).toString('utf8'))
    if (read === null) throw new Error('the text is not canonical')
    return Buffer.from(canonicalText(read))
  }
  return { name, bytes, message: bytes, again }
}

const GRANT: GrantStatement = {
  ...INITIAL_POLICY,
  ...{ permission: 'trade', allowedChains: [1, 10, 56, 137, 8453, 42161] },
  ...{ dailyLimitMicros: 500_000_000n, monthlyLimitMicros: null },
  ...{ keyId: bytesFrom(1, 16), grantId: bytesFrom(1, 16), walletId: bytesFrom(0x21, 16) },
  ...{ version: 1, ownerHash: OWNER_HASH, expiresAtMs: null, revoked: false },
  ...{ rotatedFrom: null, parentId: null, proofKeyDigest: bytesFrom(0x60, 32) },
  confirmBeforeMs: AT_MS + 600_000,
}

function grantForm(name: string, grant: GrantStatement): SignedForm {
  const bytes = encodeGrantStatement(grant)
  return {
    ...{ name, bytes, message: grantMessage(bytes) },
    again: (encoded) => encodeGrantStatement(readGrantStatement(encoded).statement),
  }
}

/** What a key may do, as people sign it. */
export const SIGNED_GRANTS: readonly SignedForm[] = [
  policyForm('policy with every condition', POLICY),
  policyForm('policy that says the least', LEAST_POLICY),
  grantForm('grant of the first form', GRANT),
  grantForm('grant with a policy', { ...GRANT, policy: POLICY, version: 2, expiresAtMs: AT_MS }),
  grantForm('grant of a successor, revoked', {
    ...{ ...GRANT, keyId: bytesFrom(0x91, 16), rotatedFrom: bytesFrom(1, 16), version: 3 },
    ...{ revoked: true, unpricedAssets: 'allow', monthlyLimitMicros: 2n ** 70n },
    proofKeyDigest: null,
  }),
  grantForm('grant of a key that a key made', {
    ...{ ...GRANT, policy: LEAST_POLICY, parentId: bytesFrom(0x92, 16), mayDelegate: true },
  }),
  messageOf('proof of a key that a key made', subKeyProof(PROOF_KEY, encodeGrantStatement(GRANT))),
]
