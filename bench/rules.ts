import type { CpuSpent } from './cpu.js'
import { median, table, verdicts } from './figures.js'
import { makeKeys } from './keys.js'
import { number } from './option-kinds.js'
import { readOptions } from './options.js'
import { publish } from './results-file.js'
import { say } from './say.js'
import { SINK_CHAIN } from './sink-chains.js'
import { type SinkStack, startSinkStack } from './sink-stack.js'
import { tenRules, tenRulesThatCount } from './ten-rules.js'
import { WALLETS } from './usage-parts.js'
import { measureWritePath, type WritePathFigures } from './write-path.js'

/**
 * `npm run bench -- rules`: the cost of a policy on every key for a send. Keys without one, with ten
 * rules and with ten rules that count, of one service, alternate, each round in the opposite order.
 * Other keys without one are the control, which shows the machine's noise.
 */
const run = readOptions({
  name: 'rules',
  takes: 'about a minute, and four times --seconds a round: 4 minutes',
  disk: 'about 6 kB a send: 2 GB',
  results: 'rules.json',
  runsOn: 'linux',
  options: {
    callers: number('callers at once', { steps: 'whole', min: 1, max: 1_024, byDefault: 128 }),
    rounds: number('rounds of all four', { steps: 'whole', min: 2, max: 1_000, byDefault: 20 }),
    seconds: number('how long each', { steps: 'any', min: 0.5, max: 3_600, byDefault: 2 }),
    wallets: { ...WALLETS, byDefault: 64 },
  },
})
const { callers, rounds, seconds, wallets } = run.values
const TOKEN = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const WARM_UP_MS = 10_000
/** Sends per second with ten rules, as a share of those without. */
const BOUND = 0.97
/** Microseconds of the identity provider's CPU that they may add to a signature. */
const BOUND_US = 8

const KINDS = {
  none: undefined,
  control: undefined,
  rules: tenRules(SINK_CHAIN, TOKEN),
  counts: tenRulesThatCount(SINK_CHAIN, TOKEN),
} as const
type Kind = keyof typeof KINDS

async function targetOf(stack: SinkStack, kind: Kind) {
  if (kind === 'none') return { kind, target: stack, turns: [] as WritePathFigures[] }
  const keys = await makeKeys(stack.baseUrl, stack.consoleToken, wallets, KINDS[kind])
  const { port, chainId, pids } = stack
  const secrets = keys.map(({ secret }) => secret)
  return {
    ...{ kind, target: { label: kind, port, chainId, pids, secrets } },
    turns: [] as WritePathFigures[],
  }
}

/** CPU per send over all turns of a kind, in microseconds by process. */
function cpuOf(turns: readonly WritePathFigures[]) {
  const sends = turns.reduce((sum, { done }) => sum + done, 0)
  const spent = (name: string, part: keyof CpuSpent) => {
    const micros = turns.map(({ cpuMicros, done }) => (cpuMicros[name]?.[part] ?? 0) * done)
    return micros.reduce((sum, of) => sum + of, 0) / sends
  }
  return {
    service: spent('service', 'total'),
    main: spent('service', 'main'),
    worker: spent('service', 'busiest'),
    identity: spent('identity', 'total'),
    quorum: spent('quorum', 'total'),
  }
}

const stack = await startSinkStack({ wallets })
try {
  const none = await targetOf(stack, 'none')
  const control = await targetOf(stack, 'control')
  const ruled = [await targetOf(stack, 'rules'), await targetOf(stack, 'counts')]
  const each = [none, ...ruled, control]
  for (const { target } of each) await measureWritePath(target, { callers, runMs: WARM_UP_MS })
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    const order = round % 2 === 0 ? each : each.toReversed()
    for (const { target, turns } of order) {
      turns.push(await measureWritePath(target, { callers, runMs: seconds * 1_000 }))
    }
  }
  const rate = (turns: readonly WritePathFigures[], round: number) => turns[round]?.perSecond ?? 0
  const without = cpuOf([...none.turns, ...control.turns])
  const compared = [control, ...ruled].map(({ kind, turns }) => {
    const cpu = cpuOf(turns)
    // Compared within a round, because the machine is faster in one minute than in the next.
    const byRound = turns.map(({ perSecond }, round) => {
      const others = kind === 'control' ? [none] : [none, control]
      return perSecond / mean(others.map((other) => rate(other.turns, round)))
    })
    return { kind, cpu, byRound, vsNone: median(byRound), added: cpu.identity - without.identity }
  })
  const bars = Object.fromEntries(
    compared
      .filter(({ kind }) => kind !== 'control')
      .flatMap(({ kind, vsNone, added }) => [
        [`sends_with_${kind}_at_least_${BOUND}`, vsNone >= BOUND],
        [`identity_with_${kind}_at_most_${BOUND_US}_us_more`, added <= BOUND_US],
      ]),
  )
  const rows = [{ kind: 'none', cpu: cpuOf(none.turns), vsNone: 1, added: 0 }, ...compared].map(
    ({ kind, cpu, vsNone, added }) => [
      ...[kind, vsNone.toFixed(3)],
      ...[cpu.service, cpu.main, cpu.worker, cpu.identity, cpu.quorum].map((micros) =>
        micros.toFixed(1),
      ),
      ...[(total(cpu) / total(without)).toFixed(3), added.toFixed(1)],
    ],
  )
  const head = ['policy', '/s ÷ none', 'service µs', '(main', 'worker)', 'identity µs', 'quorum µs']
  const ratios = Object.fromEntries(
    compared.map(({ kind, vsNone }) => [`writes_with_${kind}_vs_none`, vsNone]),
  )
  publish(
    run,
    { ratios, bars, none: cpuOf(none.turns), compared },
    [table([...head, 'CPU ÷ none', 'identity +µs'], rows), '', ...verdicts(bars)].join('\n'),
  )
  const refused = each.flatMap(({ turns }) => turns.flatMap((turn) => Object.keys(turn.refused)))
  if (refused.length > 0) throw new Error(`some sends were refused: ${refused.join(', ')}`)
} finally {
  await stack.stop()
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function total({ service, identity, quorum }: ReturnType<typeof cpuOf>): number {
  return service + identity + quorum
}
