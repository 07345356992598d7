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
const OWNER_MS = 5_000
const ENGINE_MS = 6_000
const FROZEN_MS = 12_000
/** Long enough for a standby to go on in the owner's place. */
const CUT_MS = 10_000
const ENGINE_GONE_MS = 5_000
const FULL_MS = 6_000

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

function cut(name: string, wires: (owner: Node, world: World) => readonly Wires[]): Fault {
  return {
    name: `owner cut off from ${name}`,
    wantedMs: null,
    async aim(world) {
      const all = wires(await world.owner(), world).flat()
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
  const owner = await world.owner()
  return owner === world.nodes[0] ? world.nodes[1] : world.nodes[0]
}

const handler: Part = ({ engine }) => engine.handlerAtWork()

export const FAULTS: readonly Fault[] = [
  ...hurts('owner', async (world) => (await world.owner()).service, OWNER_MS),
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
  ...hurts('identity provider', async (world) => (await world.identity()).process, null),
  ...hurts('quorum signer', async (world) => (await world.owner()).quorum, null),
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
    name: 'disk of a view full',
    isDiskSmall: true,
    wantedMs: null,
    aim: async (world) => () => fullFor(world),
  },
  {
    name: 'disk of the owner full',
    isDiskSmall: true,
    wantedMs: null,
    async aim(world) {
      const owner = await world.owner()
      if (owner === world.nodes[0]) {
        await owner.service.restart()
        await world.whole()
      }
      return () => fullFor(world)
    },
  },
  {
    name: 'rolling restart',
    wantedMs: null,
    aim: async (world) => () => rolling(world),
  },
]

async function fullFor({ disk }: World): Promise<void> {
  if (disk === null) throw new Error('its disk is not small')
  disk.fillTo(0)
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
  const owner = await world.owner()
  await restarted(waiting.quorum)
  await restarted(waiting.service)
  await restarted(owner.service)
  await restarted(owner.quorum)
  const serving = await world.identity()
  for (const { process } of identities.filter((it) => it !== serving)) await restarted(process)
  await restarted(serving.process)
  if (nodes.some(({ service }) => service.pid === 0)) throw new Error('a node is away')
}
