import type { PolicyJson } from '../src/policy/policy-json.js'

interface TenRules {
  readonly [name: string]: PolicyJson
}

/**
 * A policy of ten rules, in its wire form, such as a thorough owner might write. Only the last rule
 * allows plain sends.
 */
export function tenRules(chainId: number, token: string): TenRules {
  return { default: 'deny', rules: [denied(1), ...nineRules(chainId, token)] }
}

/**
 * The same, with one rule over a sliding window and two ceilings; each call counts in all of them.
 */
export function tenRulesThatCount(chainId: number, token: string): TenRules {
  const when = { count: { per_seconds: 3_600, gt: 1_000_000 } }
  const often = { name: 'not too often', effect: 'deny', when }
  const ceilings = [token, 'native'].map((of) => ({
    ...{ chain_id: chainId, token: of, per: 'day', amount: '1000000000000000000000000' },
  }))
  return { default: 'deny', rules: [often, ...nineRules(chainId, token)], ceilings }
}

function nineRules(chainId: number, token: string): PolicyJson[] {
  return [
    ...[3, 5, 7].map(denied),
    { name: 'no approvals', effect: 'deny', when: { functions: ['approve(address,uint256)'] } },
    { name: 'no large sends', effect: 'deny', when: { value_native_gt: '1000000000000000000' } },
    { name: 'other chains', effect: 'deny', when: { not: { chains: [chainId] } } },
    { name: 'swaps', effect: 'allow', when: { operations: ['swap'], to: [address(9)] } },
    { name: 'tokens', effect: 'allow', when: { amounts: [{ token, lte: '1000000000' }] } },
    { name: 'sends', effect: 'allow', when: { operations: ['send'] } },
  ]
}

function denied(n: number): PolicyJson {
  const when = { beneficiaries: [address(n), address(n + 1)] }
  return { name: `not to ${n}`, effect: 'deny', when }
}

function address(n: number): string {
  return `0x${n.toString(16).padStart(40, '0')}`
}
