import { type ClusterLoad, type ClusterTurn, driveCluster, summaryOf } from './cluster-load.js'
import { type ClusterGround, layGround } from './cluster-nodes.js'
import { count, type Latencies, median, ms, table } from './figures.js'
import { followLag } from './follower-lag.js'
import { say } from './say.js'
import type { SinkStack } from './sink-stack.js'

export interface ClusterPlan {
  readonly callers: readonly number[]
  readonly rounds: number
  readonly seconds: number
  readonly warm: number
  readonly wallets: number
}

/** The nodes that are called; `alone` is measured before there are others. */
const ASKED = ['alone', 'owner asked', 'all asked'] as const
type Asked = (typeof ASKED)[number]

interface FollowedTurn extends ClusterTurn {
  readonly lag: Latencies | null
}

const WARM_UP_CALLERS = 128
const PARTITIONS = [0]

/**
 * Measures the cost of a send for a leader with standbys on the same machine, and how far they lag:
 * first the service without standbys, then with them, with callers at the leader and spread over
 * all nodes, alternating.
 */
export async function measureFollowers(followers: number, plan: ClusterPlan) {
  const ground = await layGround(1 + followers)
  try {
    return compared(await turnsOf(ground, followers, plan), plan)
  } finally {
    await ground.stop()
  }
}

type Turns = ReadonlyMap<Asked, ReadonlyMap<number, FollowedTurn[]>>

async function turnsOf(
  ground: ClusterGround,
  followers: number,
  { callers, rounds, seconds, warm, wallets }: ClusterPlan,
): Promise<Turns> {
  const turns = new Map(
    ASKED.map((asked) => [
      asked,
      new Map(callers.map((each): [number, FollowedTurn[]] => [each, []])),
    ]),
  )
  say('starts: the owner alone')
  const stack = await ground.startFirst({ wallets, env: ground.environmentOf(0) })
  const alone = loadOf(ground, stack)
  await driveCluster(alone, { callers: WARM_UP_CALLERS, runMs: warm * 1_000 })
  for (let round = 0; round < rounds; round++) {
    say(`alone: round ${round + 1} of ${rounds}`)
    for (const each of callers) {
      const turn = await driveCluster(alone, { callers: each, runMs: seconds * 1_000 })
      turns
        .get('alone')
        ?.get(each)
        ?.push({ ...turn, lag: null })
    }
  }
  say(`starts: ${followers} that follow`)
  const nodes = []
  for (let number = 1; number <= followers; number++) {
    const env = ground.environmentOf(number)
    nodes.push(await ground.startNode({ stack, env, role: 'standby' }))
  }
  const places = nodes.map(({ port }) => ({ ...stack, port }))
  const pids = { standbys: nodes.flatMap(({ pids: { service, quorum } }) => [service, quorum]) }
  const loads = {
    'owner asked': { ...alone, pids: { ...alone.pids, ...pids } },
    // A single caller uses a standby.
    'all asked': {
      ...alone,
      places: [...places, ...alone.places],
      pids: { ...alone.pids, ...pids },
    },
  } as const
  const homes = nodes.map(({ home }) => home)
  for (const load of Object.values(loads)) {
    await driveCluster(load, { callers: WARM_UP_CALLERS, runMs: (warm * 1_000) / 2 })
  }
  for (let round = 0; round < rounds; round++) {
    say(`followed: round ${round + 1} of ${rounds}`)
    for (const each of callers) {
      const both = ['owner asked', 'all asked'] as const
      for (const asked of round % 2 === 0 ? both : both.toReversed()) {
        const lag = followLag(stack.home, homes)
        const turn = await driveCluster(loads[asked], { callers: each, runMs: seconds * 1_000 })
        turns
          .get(asked)
          ?.get(each)
          ?.push({ ...turn, lag: await lag() })
      }
    }
  }
  return turns
}

function loadOf(ground: ClusterGround, stack: SinkStack): ClusterLoad {
  const { service, identity, quorum } = stack.pids
  return {
    ...{ places: [stack], ground, partitions: PARTITIONS },
    pids: { service: [service], identity: [identity], quorum: [quorum], standbys: [] },
  }
}

interface Row extends ReturnType<typeof summaryOf> {
  readonly asked: Asked
  readonly callers: number
  readonly vsAlone: number
  /** How far the standbys lagged; null without any. */
  readonly lagP50Ms: number | null
  readonly lagP95Ms: number | null
}

function compared(turns: Turns, { callers }: ClusterPlan) {
  const rows = ASKED.flatMap((asked) =>
    callers.map((each): Row => {
      const own = turns.get(asked)?.get(each) ?? []
      const summary = summaryOf(own)
      const base = summaryOf(turns.get('alone')?.get(each) ?? []).perSecond
      const lagOf = (value: (lag: Latencies) => number) =>
        asked === 'alone'
          ? null
          : median(own.flatMap(({ lag }) => (lag === null ? [] : value(lag))))
      return {
        ...{ asked, callers: each, ...summary, vsAlone: summary.perSecond / base },
        lagP50Ms: lagOf(({ p50Ms }) => p50Ms),
        lagP95Ms: lagOf(({ p95Ms }) => p95Ms),
      }
    }),
  )
  const ratios = Object.fromEntries(
    rows
      .filter(({ asked }) => asked !== 'alone')
      .map(({ asked, callers: by, vsAlone }) => [
        `writes_followed_${asked.replaceAll(' ', '_')}_${by}_callers_vs_alone`,
        vsAlone,
      ]),
  )
  return { ratios, rows, text: table(HEAD, rows.map(cellsOf)) }
}

const HEAD = [
  ...['nodes', 'callers', '/s', '÷ alone', 'p50 ms', 'p99 ms', 'service µs', 'standbys µs'],
  ...['identity µs', 'quorum µs', 'journal µs', 'bytes/send', 'lag p50 ms', 'lag p95 ms'],
]

function cellsOf(row: Row): string[] {
  const { asked, callers, perSecond, vsAlone, p50Ms, p99Ms, micros, lagP50Ms, lagP95Ms } = row
  const kinds = ['service', 'standbys', 'identity', 'quorum', 'journal']
  const lag = (value: number | null) => (value === null ? '–' : ms(value))
  return [
    ...[asked, String(callers), count(perSecond), vsAlone.toFixed(2), ms(p50Ms), ms(p99Ms)],
    ...kinds.map((kind) => count(micros[kind] ?? 0)),
    ...[count(row.bytesASend), lag(lagP50Ms), lag(lagP95Ms)],
  ]
}
