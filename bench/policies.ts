import { randomBytes } from 'node:crypto'
import { Bench } from 'tinybench'
import type { Address, Hex } from '../src/domain/ids.js'
import { judgePolicies } from '../src/identity-provider/vault/judge-policy.js'
import { storedUsage } from '../src/identity-provider/vault/usage-record.js'
import { parsePolicy } from '../src/policy/parse-policy.js'
import type { Policy } from '../src/policy/policy.js'
import { NO_POLICY_LEDGER, type PolicyLedger } from '../src/policy/policy-ledger.js'
import { decodePayload, encodePayload } from '../src/quorum-protocol/payload.js'
import type { SignPayload } from '../src/quorum-protocol/sign-payload.js'
import { table } from './figures.js'
import { readOptions } from './options.js'
import { backtestPast } from './past-sends.js'
import { publish } from './results-file.js'
import { tenRules, tenRulesThatCount } from './ten-rules.js'

/**
 * `npm run bench -- policies`: the cost of a policy for a signature at the identity provider. Lineages
 * alternate and have counted for an hour, so their windows are full.
 */
const run = readOptions({
  name: 'policies',
  takes: 'about 20 s',
  disk: 'some 200 MB',
  results: 'policies.json',
  runsOn: 'any',
  options: {},
})

const CHAIN = 8453
const TOKEN = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const PAYEE = '0x00000000000000000000000000000000000000aa'
const LINEAGES = 256
const HOUR_MS = 3_600_000
const TASK_MS = 500
/** How much of the past one answer may cover, and how long it may take. */
const PAST_SENDS = 100_000
const PAST_BOUND_MS = 5_000
/** Microseconds that a policy with counts and ceilings may add to a signature. */
const BOUND_US = 8

const policyOf = (json: object): Policy => {
  const parsed = parsePolicy(json)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults))
  return parsed.policy
}
const ruled = policyOf(tenRules(CHAIN, TOKEN))
const counting = policyOf(tenRulesThatCount(CHAIN, TOKEN))

const payloadOf = (to: string, value: bigint, data: Hex) => {
  const payload: SignPayload = {
    ...{ type: 'transaction', chainId: CHAIN, nonce: 7, gasLimit: 21_000n },
    ...{ maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n },
    ...{ to: to as Address, value, data },
  }
  const { type, bytes } = encodePayload(payload)
  return decodePayload(type, bytes)
}
const word = (digits: string) => digits.padStart(64, '0')
const send = payloadOf(PAYEE, 1n, '0x')
const transfer = payloadOf(TOKEN, 0n, `0xa9059cbb${word(PAYEE.slice(2))}${word('5')}`)

let nowMs = Date.UTC(2026, 0, 15)
/** Every lineage has had a call a minute for an hour. */
function usages(policy: Policy): PolicyLedger[] {
  return Array.from({ length: LINEAGES }, () => {
    let usage = NO_POLICY_LEDGER
    for (let atMs = nowMs - HOUR_MS; atMs < nowMs; atMs += HOUR_MS / 64) {
      usage = judgePolicies([policy], send, usage, atMs, null) ?? usage
    }
    return usage
  })
}

/** Judges the next call of the next lineage. */
function judging(policy: Policy, payload: typeof send): () => PolicyLedger | null {
  const ledgers = usages(policy)
  const ids = ledgers.map(() => randomBytes(16).toString('latin1'))
  const policies = [policy]
  let turn = 0
  return () => {
    nowMs++
    const place = turn++ % ids.length
    const after = judgePolicies(policies, payload, ledgers[place] ?? NO_POLICY_LEDGER, nowMs, null)
    if (after !== null) ledgers[place] = after
    return after
  }
}

const [full = NO_POLICY_LEDGER] = usages(counting)
const bench = new Bench({ time: TASK_MS, warmupTime: 200 })
bench
  .add('send, ten rules', judging(ruled, send))
  .add('transfer, ten rules', judging(ruled, transfer))
  .add('send, with count and ceilings', judging(counting, send))
  .add('transfer, with count and ceilings', judging(counting, transfer))
  .add('a row of what is counted', () => storedUsage(full))
await bench.run()

const parts = bench.tasks.map(({ name, result }) => {
  if (result.state !== 'completed') throw new Error(`${name}: ${result.state}`)
  return { name, p50Micros: result.latency.p50 * 1_000, meanMicros: result.latency.mean * 1_000 }
})
const rows = parts.map(({ name, p50Micros, meanMicros }) => [
  ...[name, p50Micros.toFixed(2), meanMicros.toFixed(2)],
  `${p50Micros <= BOUND_US ? '≤' : 'over'} ${BOUND_US}`,
])

const past = await backtestPast(PAST_SENDS, tenRulesThatCount(CHAIN, TOKEN))
const pastRow = [
  ...[`${past.sends} past sends`, past.wallMs.toFixed(0), past.cpuMs.toFixed(0)],
  ...[past.heldMs.toFixed(1), `${past.wallMs <= PAST_BOUND_MS ? '≤' : 'over'} ${PAST_BOUND_MS}`],
]
publish(
  run,
  { ratios: {}, parts, past },
  `${table(['policies', 'p50 µs', 'mean µs', 'bound'], rows)}
${table(['backtest', 'wall ms', 'CPU ms', 'loop held ms', 'bound'], [pastRow])}`,
)
