import { describe, expect, test } from 'vitest'
import { judgePath } from '../../src/identity-provider/vault/judge-policy.js'
import type { Policy } from '../../src/policy/policy.js'
import { NO_POLICY_LEDGER } from '../../src/policy/policy-ledger.js'
import { decodePayload, encodePayload } from '../../src/quorum-protocol/payload.js'
import { PAYEES, policyOf, transferData, USDC } from './random-policies.js'

const NOW_MS = Date.UTC(2026, 0, 5, 12)
const [ALICE = USDC] = PAYEES
const { type, bytes } = encodePayload({
  ...{ type: 'transaction', chainId: 8453, nonce: 0, to: USDC, value: 0n, gasLimit: 65_000n },
  ...{ data: transferData(ALICE, 5n), maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
})
const payload = decodePayload(type, bytes)

/** Who must approve each call, and how long it must wait. */
function asking(needed: number, delaySeconds: number): Policy {
  const approvals = { needed, expires_seconds: 3_600 }
  const when = { chains: [8453] }
  const rule = { name: 'ask', effect: 'require_approval', when, approvals }
  return policyOf({ default: 'allow', rules: [{ ...rule, delay_seconds: delaySeconds }] })
}

/** @returns the code of its refusal; null where the user side lets it be signed */
function judged(path: readonly Policy[], people: number, waitedSeconds: number): string | null {
  const bound = path.map((policy) => ({ policies: [policy], usage: NO_POLICY_LEDGER }))
  try {
    judgePath(bound, payload, NOW_MS, { people, waitedMs: waitedSeconds * 1_000 })
    return null
  } catch (error) {
    return (error as { readonly code: string }).code
  }
}

const COUNTS = [1, 2, 3] as const
const PATHS = COUNTS.flatMap((own) => COUNTS.map((above) => [own, above] as const))

/** Whatever the service was told when people were asked: it may have changed, or lie. */
describe.each(PATHS)('a key that needs %i, made by one that needs %i', (own, above) => {
  const needed = Math.max(own, above)

  test.each([0, 1, 2, 3])(
    'signs by what the policies ask for now, where %i approved it',
    (people) => {
      const path = [asking(own, 0), asking(above, 0)]
      expect(judged(path, people, 0)).toBe(people >= needed ? null : 'APPROVAL_MISSING')
    },
  )

  test.each([0, 59, 60, 120, 180])('signs by the longest delay, after %i seconds', (waited) => {
    const path = [asking(1, 60 * own), asking(1, 60 * above)]
    expect(judged(path, 1, waited)).toBe(waited >= 60 * needed ? null : 'APPROVAL_EARLY')
  })
})
