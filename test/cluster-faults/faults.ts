import { setTimeout as delay } from 'node:timers/promises'
import { countersignOk } from '../custody/command.js'
import type { Random } from '../faults/service-agents.js'
import type { EngineName } from './engines.js'
import type { KeptProcess } from './kept-process.js'
import type { Node, World } from './world.js'

/** What goes wrong in a world, under load. */
export interface Fault {
  readonly name: string
  /** Absent: whatever the journal is in. */
  readonly engine?: EngineName
  /** The second node's home is on a disk that can be filled. */
  readonly isDiskSmall?: true
  /** The engine lacks a server ever after, so that it can come once in a world. */
  readonly isFinal?: true
  /** Longest time from the fault to the first answer after it that is wanted; null: none is said. */
  readonly wantedMs: number | null
  /** Looks for what is to be hurt. @returns what hurts it, and resolves once that is over */
  readonly aim: (world: World, random: Random) => Promise<() => Promise<unknown>>
}

const SHORT_MS = 1_000
const LONG_MS = 12_000
const LEADER_MS = 5_000
const ENGINE_MS = 6_000
const FROZEN_MS = 12_000
/** Long enough for a standby to go on in the owner's place. */
const CUT_MS = 10_000
const ENGINE_GONE_MS = 5_000
const FULL_MS = 6_000
const CLOCK_AHEAD_MS = 300_000
const CLOCK_WRONG_MS = 8_000
/** From a leader that refuses writes, beside a node that is ready to take them. */
const REFUSED_MS = 5_000

const killed = (it: KeptProcess) => () => it.kill()
const frozen = (it: KeptProcess, forMs: number) => async () => {
  it.freeze()
  await delay(forMs)
  it.thaw()
}

type Part = (world: World) => Promise<KeptProcess>

/** One kill, and one short and one long freeze. */
function hurts(name: string, part: Part, killedMs: number | null): Fault[] {
  return [
    { name: `${name} killed`, wantedMs: killedMs, aim: async (world) => killed(await part(world)) },
    ...[SHORT_MS, LONG_MS].map((forMs) => ({
      name: `${name} frozen for ${forMs / 1_000} s`,
      wantedMs: FROZEN_MS,
      aim: async (world: World) => frozen(await part(world), forMs),
    })),
  ]
}

function cut(name: string, wires: (leader: Node, world: World) => readonly Wires[]): Fault {
  return {
    name: `owner cut off from ${name}`,
    wantedMs: null,
    async aim(world) {
      const all = wires(await world.leader(), world).flat()
      return async () => {
        for (const wire of all) wire.cut()
        await delay(CUT_MS)
        for (const wire of all) wire.mend()
      }
    },
  }
}
type Wires = Node['toEngine']

async function other(world: World): Promise<Node> {
  const leader = await world.leader()
  return leader === world.nodes[0] ? world.nodes[1] : world.nodes[0]
}

const handler: Part = ({ engine }) => engine.handlerAtWork()

export const FAULTS: readonly Fault[] = [
  ...hurts('owner', async (world) => (await world.leader()).service, LEADER_MS),
  {
    name: 'engine killed',
    isFinal: true,
    wantedMs: ENGINE_MS,
    async aim({ engine }) {
      const server = await engine.aimAtServer()
      return () => server.lose()
    },
  },
  ...[SHORT_MS, LONG_MS].map((forMs) => ({
    name: `engine frozen for ${forMs / 1_000} s`,
    ...(forMs === LONG_MS ? ({ isFinal: true } as const) : {}),
    wantedMs: FROZEN_MS,
    async aim({ engine }: World) {
      const server = await engine.aimAtServer()
      return () => server.freeze(forMs)
    },
  })),
  ...hurts('handler', handler, null).map((it) => ({ ...it, engine: 'restate' as const })),
  ...hurts('identity provider', async (world) => (await world.identity()).process, LEADER_MS),
  ...hurts('quorum signer', async (world) => (await world.leader()).quorum, null),
  cut('engine', ({ toEngine }) => [toEngine]),
  cut('identity provider', ({ toIdentity }) => [toIdentity]),
  cut('peers', (_owner, { nodes }) => [nodes.map(({ fromPeer }) => fromPeer)]),
  {
    name: 'two engine nodes gone',
    wantedMs: null,
    aim:
      async ({ engine }, random) =>
      () =>
        engine.loseMost(ENGINE_GONE_MS, random),
  },
  {
    name: 'double take',
    wantedMs: null,
    async aim({ nodes }) {
      for (const { home, journalFile } of nodes) {
        const env = { COUNTERSIGN_JOURNAL_FILE: journalFile }
        await countersignOk(home, ['cluster', 'take', '--yes'], env)
      }
      // Both come back as ones that may take the journal at once, whoever owns it.
      return () => Promise.all(nodes.map(({ service }) => service.kill()))
    },
  },
  {
    name: 'standby of the engine frozen for 12 s',
    engine: 'postgres',
    wantedMs: REFUSED_MS,
    aim:
      async ({ engine }) =>
      () =>
        engine.freezeStandby(LONG_MS),
  },
  {
    name: 'standby of the engine killed for 12 s',
    engine: 'postgres',
    wantedMs: REFUSED_MS,
    aim:
      async ({ engine }) =>
      () =>
        engine.loseStandby(LONG_MS),
  },
  {
    name: 'machine of the owner lost',
    wantedMs: LEADER_MS,
    async aim(world) {
      const { service, quorum } = await world.leader()
      return () => Promise.all([service.kill(), quorum.kill()])
    },
  },
  {
    name: 'clock of the owner five minutes ahead',
    wantedMs: REFUSED_MS,
    async aim(world) {
      const leader = await world.leader()
      return async () => {
        leader.shiftClock(CLOCK_AHEAD_MS)
        await delay(CLOCK_WRONG_MS)
        leader.shiftClock(0)
      }
    },
  },
  {
    name: 'disk of a view full',
    isDiskSmall: true,
    wantedMs: null,
    aim: async (world) => () => fullFor(world, 0),
  },
  diskOfLeader('full', () => 0),
  diskOfLeader('below the floor', (floorMib) => Math.floor(floorMib / 2)),
  {
    name: 'rolling restart',
    wantedMs: null,
    aim: async (world) => () => rolling(world),
  },
]

/** @param left of its disk, in MiB, where so much is to be kept free */
function diskOfLeader(state: string, left: (floorMib: number) => number): Fault {
  return {
    name: `disk of the owner ${state}`,
    isDiskSmall: true,
    wantedMs: REFUSED_MS,
    async aim(world) {
      const leader = await world.leader()
      if (leader === world.nodes[0]) {
        await leader.service.restart()
        await world.whole()
      }
      return () => fullFor(world, left(world.disk?.floorMib ?? 0))
    },
  }
}

async function fullFor({ disk }: World, leftMib: number): Promise<void> {
  if (disk === null) throw new Error('its disk is not small')
  disk.fillTo(leftMib)
  await delay(FULL_MS)
  disk.empty()
}

/** As an operator replaces a build: whoever waits first, and the next once all is whole. */
async function rolling(world: World): Promise<void> {
  const { nodes, identities } = world
  const restarted = async (one: KeptProcess) => {
    await one.restart()
    await world.whole()
  }
  const waiting = await other(world)
  const leader = await world.leader()
  await restarted(waiting.quorum)
  await restarted(waiting.service)
  await restarted(leader.service)
  await restarted(leader.quorum)
  const serving = await world.identity()
  for (const { process } of identities.filter((it) => it !== serving)) await restarted(process)
  await restarted(serving.process)
  if (nodes.some(({ service }) => service.pid === 0)) throw new Error('a node is away')
}
