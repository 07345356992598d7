import { parsePolicy } from '../../src/policy/parse-policy.js'
import type { Policy } from '../../src/policy/policy.js'
import { weiOf } from './coins.js'
import type { Features } from './features.js'
import type { Draw } from './random.js'
import { chainIdsOf } from './setting.js'

/** Longer than any run. */
const PATIENT_TIMES = 3_600

/** What owners wrote for their keys: rules that count, and rules that ask people. */
export function policyOf(features: Features, draw: Draw): Policy | null {
  const { hasApprovals, hasPolicies } = features
  const rules = [
    ...(hasPolicies ? counting(draw) : []),
    ...(hasApprovals ? asking(features, draw) : []),
  ]
  if (rules.length === 0) return null
  const chainId = draw.pick(chainIdsOf(features))
  const amount = String(weiOf(chainId, draw.pick([2_000_000n, 8_000_000n])))
  const ceilings =
    hasPolicies && draw.chance(0.5)
      ? [{ chain_id: chainId, token: 'native', per: draw.pick(['day', 'month']), amount }]
      : []
  const parsed = parsePolicy({ rules, ceilings, default: 'allow' })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults))
  return parsed.policy
}

function counting(draw: Draw): object[] {
  const count = { per_seconds: draw.pick([10, 60, 300]), gt: draw.between(2, 8) }
  const sum = { per_seconds: draw.pick([30, 120]), gt: draw.pick(['1', '3']) }
  return [
    { name: 'too often', effect: 'deny', when: { count } },
    ...(draw.chance(0.5) ? [{ name: 'too much', effect: 'deny', when: { sum_usd: sum } }] : []),
  ]
}

function asking({ hasPatience }: Features, draw: Draw): object[] {
  const seconds = () => draw.pick([30, 120]) * (hasPatience ? PATIENT_TIMES : 1)
  const asks = () => ({
    effect: 'require_approval',
    approvals: { needed: draw.between(1, 2), expires_seconds: seconds() },
  })
  const more = { value_native_gt: String(draw.pick([1n, 3n]) * 10n ** 14n) }
  const swaps = { operations: ['swap'] }
  return [
    { name: 'much', when: more, ...asks() },
    ...(draw.chance(0.5) ? [{ name: 'swaps', when: swaps, ...asks() }] : []),
    ...(draw.chance(0.3)
      ? [{ name: 'later', effect: 'allow', when: swaps, delay_seconds: draw.pick([5, 40]) }]
      : []),
  ]
}
